"""`aespec fmt`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from aespec.cli.console import Status, outside_world, worst
from aespec.cli.specs import find_specs, report


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
        return Status.FINDINGS
    if text == source.text:
        return Status.HOLDS
    if check:
        click.echo(f"would format {path}")
        return Status.FINDINGS
    replace_text(path, text)
    click.echo(f"formatted {path}")
    return Status.HOLDS


def replace_text(path: Path, text: str) -> None:
    """Replace a file's text atomically, keeping its permission bits; of a link, the target is replaced."""
    replace_bytes(path, text.encode())


def replace_bytes(path: Path, data: bytes) -> None:
    """The same for bytes; a file that isn't there yet is made."""
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o7777)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
