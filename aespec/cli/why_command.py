"""`aespec why`."""

from __future__ import annotations

from pathlib import Path

import click

from aespec.cli.console import fail, outside_world


@click.command()
@click.argument("trial", type=click.Path(path_type=Path))
def command(trial: Path) -> None:
    """Tell why a trial (a folder that `aespec trial -o` kept) ended as it did: per check, rule and claim."""
    from aespec.trial import explain, load_trial

    with outside_world():
        try:
            result = load_trial(trial)
        except ValueError as error:
            fail(f"{trial} is no trial: {error}", "name a folder that `aespec trial -o FOLDER` wrote")
    click.echo(explain(result, is_full=True))
