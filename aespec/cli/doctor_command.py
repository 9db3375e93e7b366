"""`aespec doctor`."""

from __future__ import annotations

import json
import sys

import click

from aespec.cli.console import FORMAT, Status


@click.command()
@FORMAT
def command(output_format: str) -> None:
    """Try what this machine can run, say which tier that is, and what to do about the rest.

    Exit status 0 when some sandbox works, 2 when none does.
    """
    from aespec.sandbox.doctor import diagnose

    report = diagnose()
    if output_format == "json":
        click.echo(json.dumps(report.as_json(), indent=2, sort_keys=True))
    else:
        click.echo(report.text())
    sys.exit(Status.HOLDS if report.is_usable else Status.INFRASTRUCTURE)
