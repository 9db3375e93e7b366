"""`aespec fmt`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from aespec.cli.console import Status, outside_world, worst
from aespec.cli.files import replace_text
from aespec.cli.specs import find_specs, is_unreadable, report


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 if a file would change.")
def command(paths: tuple[Path, ...], check: bool) -> None:
    """Format specs in place. Comments and heredoc bodies stay; a file that doesn't parse is left alone."""
    with outside_world():
        sys.exit(worst([format_file(path, check=check) for path in find_specs(paths)]))


def format_file(path: Path, *, check: bool) -> Status:
    """Format one file; a file with syntax errors or, under `check`, an unformatted one is a finding."""
    from aespec.syntax import format_source, read_source

    source, diagnostics = read_source(path)
    text = None
    if source is not None:
        text, more = format_source(source)
        diagnostics = (*diagnostics, *more)
    if source is None or text is None:
        report(diagnostics)
        return Status.INFRASTRUCTURE if is_unreadable(diagnostics) else Status.FINDINGS
    if text == source.text:
        return Status.HOLDS
    if check:
        click.echo(f"would format {path}")
        return Status.FINDINGS
    replace_text(path, text)
    click.echo(f"formatted {path}")
    return Status.HOLDS
