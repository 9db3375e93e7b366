"""`aespec trial`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from aespec.cli.console import FORMAT, Status, clear_progress, fail, outside_world, progress
from aespec.cli.machinery import IMAGE_MAP, SANDBOX, Compiling, RefusedError, one_bundle, open_named


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--agent",
    required=True,
    help="oracle, nop, accept:NAME, reject:NAME, partial:NAME, or a script (sh, or Python by its name).",
)
@click.option("--instance", type=click.IntRange(min=0), help="The instance's seed, where PATH is a spec.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Keep the trial in this folder.")
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
    """Run one agent on one bundle and judge the end state.

    Exit status 0 when the reward is full, 1 when it is less, 2 when there is no verdict.
    """
    from aespec.report import render_trial
    from aespec.trial import AgentError, find_agent, result_to_json, run_trial, write_trial

    with outside_world():
        opened = open_named(sandbox, image_pairs)
        try:
            with one_bundle(path, instance, Compiling(opened, pairs=image_pairs)) as bundle:
                result = run_trial(bundle, find_agent(bundle, agent), opened, progress=progress())
        except RefusedError:
            sys.exit(Status.FINDINGS)
        except AgentError as error:
            fail(str(error))
        clear_progress()
        kept = write_trial(result, output) if output else None
    if output_format == "json":
        click.echo(json.dumps(result_to_json(result), indent=2, sort_keys=True))
    else:
        click.echo(render_trial(result))
        if kept:
            click.echo(f"kept in {kept}; `aespec why {kept}` tells more")
    if result.outcome == "error":
        sys.exit(Status.INFRASTRUCTURE)
    sys.exit(Status.HOLDS if result.outcome == "pass" else Status.FINDINGS)
