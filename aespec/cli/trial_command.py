"""`aespec trial`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from aespec.cli.console import (
    FORMAT,
    Status,
    clear_progress,
    fail,
    outside_world,
    progress,
    warn,
    warn_of_stand_in,
)
from aespec.cli.files import require_writable
from aespec.cli.machinery import IMAGE_MAP, SANDBOX, Compiling, RefusedError, one_bundle, open_named
from aespec.cli.specs import has_manifest, image_map

if TYPE_CHECKING:
    from aespec.sandbox.api import Builder, Sandbox
    from aespec.trial import TrialResult


def check_agent(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Refuse what can't be an agent before anything runs."""
    kind, _, name = value.partition(":")
    if not value.strip():
        raise click.BadParameter("no agent is named; write oracle, nop, reject:NAME or the path of a script")
    if kind in ("accept", "reject", "partial") and not name and not Path(value).is_file():
        raise click.BadParameter(f"which {kind} is meant? write {kind}:NAME")
    return value


def warn_of_surprise(agent: str, outcome: str) -> None:
    """Say so where an example of the spec isn't judged as the spec says it should be."""
    kind, _, name = agent.partition(":")
    if kind == "accept" and outcome == "fail":
        warn(f"the accept '{name}' should pass, and it fails: the verifier refuses a right solution")
    elif kind in ("reject", "partial") and outcome == "pass":
        should = "fail" if kind == "reject" else "not get the full reward"
        warn(f"the {kind} '{name}' should {should}, and it passes: the verifier takes a wrong solution")


def is_foreign(path: Path) -> bool:
    """Whether a folder is a Harbor task that aespec did not write."""
    return not has_manifest(path) and any((path / name).is_file() for name in ("task.toml", "task.yaml"))


def try_foreign(
    path: Path, agent: str, instance: int | None, sandbox: Sandbox, mapped: Mapping[str, str]
) -> TrialResult:
    """A trial of somebody else's task; what is wrong with its folder is printed. Raises RefusedError."""
    from aespec.bundle.foreign import read_foreign
    from aespec.trial.foreign import find_probe, open_harness, try_probe

    if instance is not None:
        raise click.UsageError(f"{path} has one instance, and --instance is for specs")
    task, faults = read_foreign(path)
    for fault in faults:
        warn(f"{path}: {fault.message}" + (f" ({fault.help})" if fault.help else ""))
    if task is None:
        raise RefusedError(path)
    named = find_probe(task, agent)
    if named.digest and named.digest != task.digest:
        warn(f"{agent} was found on another state of this task, and may not fit it")
    harness = open_harness(task, cast("Builder", sandbox), progress=progress(str(path)), image_map=mapped)
    for extra in task.extras:
        warn(f"{path}: not done here: {extra}")
    return try_probe(task, harness, named)


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--agent",
    required=True,
    callback=check_agent,
    help="oracle, nop, accept:NAME, reject:NAME, partial:NAME, a script (sh, or Python by its name), "
    "or a probe's JSON.",
)
@click.option("--instance", type=click.IntRange(min=0), help="The instance's seed, where PATH is a spec.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="Keep the trial in this folder."
)
@IMAGE_MAP
@SANDBOX
@FORMAT
def command(
    path: Path,
    agent: str,
    instance: int | None,
    output: Path | None,
    image_pairs: tuple[str, ...],
    sandbox: str,
    output_format: str,
) -> None:
    """Run one agent on one bundle, or on a Harbor task of somebody else, and judge the end state.

    On a task of somebody else the agent is oracle, nop, a script, or a probe that `aespec fuzz` wrote down.

    Exit status 0 when the reward is full, 1 when it is less or when PATH is a spec with errors, 2 when there
    is no verdict or a file can't be read.
    """
    from aespec.report import render_trial
    from aespec.trial import AgentError, find_agent, result_to_json, run_trial, write_trial

    with outside_world():
        opened = open_named(sandbox, image_pairs)
        if output is not None and path.exists():
            require_writable(output.parent)
        try:
            if is_foreign(path):
                result = try_foreign(path, agent, instance, opened, image_map(image_pairs))
            else:
                with one_bundle(path, instance, Compiling(opened, pairs=image_pairs)) as bundle:
                    result = run_trial(
                        bundle, find_agent(bundle, agent), opened, progress=progress(str(path))
                    )
        except RefusedError as refusal:
            sys.exit(refusal.status)
        except AgentError as error:
            fail(str(error))
        clear_progress()
        try:
            kept = write_trial(result, output) if output else None
        finally:  # also where it can't be kept
            if output_format == "json":
                click.echo(json.dumps(result_to_json(result), indent=2, sort_keys=True))
            else:
                click.echo(render_trial(result))
        if kept and output_format == "text":
            click.echo(f"kept in {kept}; `aespec why {kept}` tells more")
    if not result.is_reproducible:
        warn_of_stand_in("this trial ran")
    warn_of_surprise(agent, result.outcome)
    if result.outcome == "error":
        sys.exit(Status.INFRASTRUCTURE)
    sys.exit(Status.HOLDS if result.outcome == "pass" else Status.FINDINGS)
