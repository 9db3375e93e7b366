"""Measure what aespec costs on this machine and print a Markdown table; nothing here is asserted in tests.

usage: python benchmarks/measure.py [SPEC] [--rounds N]

CPU milliseconds are user + system time of this process and the children that it waited for, wall milliseconds
a clock's. Each row is the median of its rounds, with the least beside it: other work on the machine only ever
adds. What the Docker engine does happens in its daemon, so only wall time says something there.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
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
    """Parse, lint and the commands' start."""
    from aespec.compiler import load
    from aespec.syntax import parse, read_source

    source, _ = read_source(spec)
    assert source is not None
    command = [sys.executable, "-m", "aespec"]
    lines = source.text.count("\n")
    return [
        measure(f"parse ({lines} lines)", rounds, lambda: parse(source), batch=5),
        measure("read, parse, resolve and lint", rounds, lambda: load(spec), batch=5),
        measure("`aespec --version`", rounds, lambda: run([*command, "--version"])),
        measure("`aespec lint SPEC`", rounds, lambda: run([*command, "lint", str(spec)])),
    ]


def run(argv: list[str]) -> None:
    """Run a command for its cost."""
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, cwd=ROOT)


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
        written = measure("write a bundle", rounds, lambda: write(plan, Path(folder) / "bundle"), batch=5)
    return [cold, warm, planned, written]


def measure_trials(spec: Path, rounds: int) -> list[Row]:
    """A whole oracle trial and a verification of its frozen state, in each sandbox that works here."""
    from aespec.bundle import write
    from aespec.compiler import compile_instance, load
    from aespec.evaluate import ProgramRunner, evaluate
    from aespec.sandbox import default_sandbox, open_sandbox
    from aespec.trial import ORACLE, collect, run_trial, verify

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
            trial = partial(run_trial, bundle, ORACLE, sandbox)
            rows.append(measure(f"trial of the oracle, {name}", rounds, trial))
            verification = partial(verify, bundle, state, sandbox)
            rows.append(measure(f"verify a frozen state, {name}", rounds, verification))
    return rows


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
    rows = measure_language(options.spec, options.rounds)
    rows += measure_compiler(options.spec, options.rounds)
    rows += measure_trials(options.spec, max(5, options.rounds // 3))
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Linux {platform.release().split('-')[0]}"
    today = dt.datetime.now(tz=dt.UTC).date()
    print(f"{today}, {machine}, Python {platform.python_version()}, load average {load:.1f} at the start,")
    print(
        f"`python benchmarks/measure.py --rounds {options.rounds}` on {options.spec.name}:\n\n{table(rows)}"
    )


if __name__ == "__main__":
    main()
