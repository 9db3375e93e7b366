"""Measure what aespec costs on this machine and print a Markdown table; nothing here is asserted in tests.

usage: python benchmarks/measure.py [SPEC] [--rounds N]

Commands run from a copy of this checkout: once with the bytecode that pip compiles when it installs, and
once without any, as where PYTHONDONTWRITEBYTECODE is set. CPU milliseconds are user + system time of this
process and the children that it waited for, wall milliseconds a clock's. Each row is the median of its
rounds, with the least beside it: other work on the machine only ever adds. What the Docker engine does
happens in its daemon, so only wall time says something there.
"""

from __future__ import annotations

import argparse
import datetime as dt
import itertools
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aespec.sandbox.tars import Entry

ROOT = Path(__file__).parents[1]
PLAN_AND_WRITE = "plan and write instances"
DEFAULT_SPEC = ROOT / "domains" / "professional" / "examples" / "ledger-reconcile.aes"


@dataclass(frozen=True)
class Row:
    """One measured thing: medians and least values, in milliseconds, over `rounds` rounds."""

    name: str
    cpu_ms: float
    cpu_ms_min: float
    wall_ms: float
    wall_ms_min: float
    rounds: int


def cpu_s() -> float:
    """CPU seconds of this process and its waited-for children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(item.ru_utime + item.ru_stime for item in used)


def measure(name: str, rounds: int, act: Callable[[], object], *, batch: int = 1) -> Row:
    """Run `act` once to warm up, then `rounds` times `batch` calls; figures are per call."""
    act()
    cpu, wall = [], []
    for _ in range(rounds):
        started, used = time.perf_counter(), cpu_s()
        for _ in range(batch):
            act()
        wall.append((time.perf_counter() - started) * 1000 / batch)
        cpu.append((cpu_s() - used) * 1000 / batch)
    row = Row(name, statistics.median(cpu), min(cpu), statistics.median(wall), min(wall), rounds)
    print(f"  {name}: {row.cpu_ms:.2f} ms CPU, {row.wall_ms:.2f} ms", file=sys.stderr)
    return row


def measure_language(spec: Path, rounds: int) -> list[Row]:
    """Parse and lint within one process."""
    from aespec.compiler import load
    from aespec.syntax import parse, read_source

    source, _ = read_source(spec)
    assert source is not None
    lines = source.text.count("\n")
    return [
        measure(f"parse ({lines} lines)", rounds, lambda: parse(source), batch=5),
        measure("read, parse, resolve and lint", rounds, lambda: load(spec), batch=5),
    ]


def measure_commands(spec: Path, rounds: int) -> list[Row]:
    """Whole commands, from Python's start to its end."""
    python, rows = [sys.executable], []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("aespec", "grammar", "templates", "domains"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        lint = partial(run, [*python, "-m", "aespec", "lint", str(spec)], copy)
        rows.append(measure("`python -c pass`", rounds, partial(run, [*python, "-c", "pass"], copy)))
        rows.append(measure("`aespec lint SPEC`, no bytecode kept", rounds, lint))
        run([*python, "-m", "compileall", "-q", "aespec"], copy)
        rows.append(measure("`aespec lint SPEC`", rounds, lint))
        version = partial(run, [*python, "-m", "aespec", "--version"], copy)
        rows.append(measure("`aespec --version`", rounds, version))
    return rows


def run(argv: list[str], folder: Path) -> None:
    """Run a command in a folder for its cost; it keeps no bytecode of its own."""
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    quiet = subprocess.DEVNULL
    subprocess.run(argv, stdout=quiet, stderr=quiet, check=True, cwd=folder, env=env)


def measure_compiler(spec: Path, rounds: int) -> list[Row]:
    """Evaluate (cold and from the cache), plan, write."""
    from aespec.bundle import write
    from aespec.compiler import compile_instance, load
    from aespec.evaluate import ProgramRunner, evaluate
    from aespec.evaluate.cache import ContentCache
    from aespec.sandbox import default_sandbox

    task, _ = load(spec)
    assert task is not None
    sandbox = default_sandbox()
    with tempfile.TemporaryDirectory() as folder:
        seeds = iter(range(1, 10_000))
        runner = ProgramRunner(sandbox, cache=ContentCache(Path(folder) / "cache"))
        cold = measure("evaluate an instance", rounds, lambda: evaluate(task, next(seeds), runner))
        warm = measure("evaluate it again, from the cache", rounds, lambda: evaluate(task, 1, runner))
        instance, _ = evaluate(task, 1, runner)
        assert instance is not None
        planned = measure("plan a bundle", rounds, lambda: compile_instance(task, instance), batch=5)
        plan, _ = compile_instance(task, instance)
        assert plan is not None
        places = (Path(folder) / f"bundle-{number}" for number in itertools.count())
        new = measure("write a bundle", rounds, lambda: write(plan, next(places)), batch=5)
        over = partial(write, plan, Path(folder) / "bundle")
        replaced = measure("write a bundle in an older one's place", rounds, over, batch=5)
        instances = itertools.cycle(evaluate(task, seed, runner)[0] for seed in range(1, 6))

        def both() -> None:
            plan, _ = compile_instance(task, next(instances))
            write(plan, next(places))

        whole = measure(PLAN_AND_WRITE, rounds, both, batch=5)
    return [cold, warm, planned, new, replaced, whole]


def measure_trials(spec: Path, most: int) -> list[Row]:
    """A whole oracle trial and a verification of its frozen state, in each sandbox that works here.

    An engine is slow and gets a third of the rounds.
    """
    from aespec.bundle import write
    from aespec.compiler import compile_instance, load
    from aespec.evaluate import ProgramRunner, evaluate
    from aespec.sandbox import default_sandbox, open_sandbox
    from aespec.trial import ORACLE, Perturbation, collect, run_trial, verify

    task, _ = load(spec)
    assert task is not None
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        instance, _ = evaluate(task, 1, ProgramRunner(default_sandbox()))
        assert instance is not None
        plan, _ = compile_instance(task, instance)
        assert plan is not None
        bundle = write(plan, Path(folder) / "bundle")
        for name in ("fork", "docker"):
            sandbox = open_sandbox(name)
            if not sandbox.abilities().is_usable:
                print(f"  {name}: not measured, it doesn't work here", file=sys.stderr)
                continue
            state = collect(bundle, ORACLE, sandbox)
            rounds = most if name == "fork" else max(5, most // 3)
            trial = partial(run_trial, bundle, ORACLE, sandbox)
            rows.append(measure(f"trial of the oracle, {name}", rounds, trial))
            verification = partial(verify, bundle, state, sandbox)
            rows.append(measure(f"verify a frozen state, {name}", rounds, verification))
            anew = Perturbation("anew", entries=changed_sources(bundle.path / "tests" / "lib"))
            slow = partial(verify, bundle, state, sandbox, anew)
            rows.append(measure(f"verify it with a checker compiled by each run, {name}", rounds, slow))
    return rows


def changed_sources(library: Path) -> tuple[Entry, ...]:
    """The checker's modules with an empty line more, so that what was compiled at the build doesn't count."""
    from aespec.sandbox.tars import Entry

    return tuple(
        Entry(f"/tests/lib/{path.relative_to(library)}", path.read_bytes() + b"\n")
        for path in sorted(library.rglob("*.py"))
    )


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table, and how `fork` compares with `docker` in this run."""
    lines = ["| what | CPU ms (least) | wall ms (least) | rounds |", "|---|---|---|---|"]
    for row in rows:
        cpu = (
            "not measured: in the daemon"
            if "docker" in row.name
            else f"{row.cpu_ms:.1f} ({row.cpu_ms_min:.1f})"
        )
        lines.append(f"| {row.name} | {cpu} | {row.wall_ms:.1f} ({row.wall_ms_min:.1f}) | {row.rounds} |")
    named = {row.name: row for row in rows}
    if whole := named.get(PLAN_AND_WRITE):
        lines.append(f"\n{PLAN_AND_WRITE}: {1000 / whole.cpu_ms:.0f} instances a second and core (median).")
    for what in ("trial of the oracle", "verify a frozen state"):
        slow, fast = named.get(f"{what}, docker"), named.get(f"{what}, fork")
        if slow and fast:
            ratio = slow.wall_ms / fast.wall_ms
            lines.append(f"\n{what}: docker takes {ratio:.1f} times as long as fork (medians of wall time).")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("spec", nargs="?", type=Path, default=DEFAULT_SPEC)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    spec = options.spec.resolve()
    rows = measure_language(spec, options.rounds)
    rows += measure_commands(spec, options.rounds)
    rows += measure_compiler(spec, options.rounds)
    rows += measure_trials(spec, options.rounds)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Linux {platform.release().split('-')[0]}"
    today = dt.datetime.now(tz=dt.UTC).date()
    print(f"{today}, {machine}, Python {platform.python_version()}, load average {load:.1f} at the start,")
    print(
        f"`python benchmarks/measure.py --rounds {options.rounds}` on {options.spec.name}:\n\n{table(rows)}"
    )


if __name__ == "__main__":
    main()
