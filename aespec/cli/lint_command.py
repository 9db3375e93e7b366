"""`aespec lint`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from aespec.cli.console import Status, outside_world
from aespec.cli.specs import find_specs, is_colored, is_unreadable
from aespec.diagnostics import Diagnostic
from aespec.runtime.wording import counted


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    help="Text for people, JSON lines for a program, SARIF for code review.",
)
@click.option("--fix", is_flag=True, help="Apply the fixes that never change what a right spec means.")
def command(paths: tuple[Path, ...], output_format: str, fix: bool) -> None:
    """Say what is wrong with specs, without running any of their code.

    Exit status 1 if there is an error in a spec, 2 if a file can't be read.
    """
    with outside_world():
        specs = find_specs(paths)
        found: list[Diagnostic] = []
        for path in specs:
            if fix:
                apply_safe_fixes(path)
            found += lint_file(path)
    show(found, output_format, len(specs))
    if any(item.is_error and not is_unreadable([item]) for item in found):
        sys.exit(Status.FINDINGS)
    sys.exit(Status.INFRASTRUCTURE if is_unreadable(found) else Status.HOLDS)


def lint_file(path: Path) -> tuple[Diagnostic, ...]:
    """Everything said about one file."""
    from aespec.compiler import load

    return load(path)[1]


def apply_safe_fixes(path: Path) -> None:
    """Write the safe fixes into the file, until none is left or five rounds have passed."""
    from aespec.cli.files import replace_text
    from aespec.diagnostics import apply_fixes
    from aespec.syntax import read_source

    for _ in range(5):  # a fix may uncover another; a pair that undo each other must end
        source, _diagnostics = read_source(path)
        if source is None:
            return
        fixed = apply_fixes(source, [item for item in lint_file(path) if item.fix and item.fix.is_safe])
        if fixed == source.text:
            return
        replace_text(path, fixed)


def show(found: list[Diagnostic], output_format: str, count: int) -> None:
    """Print the result in the form asked for."""
    from aespec.diagnostics import render_jsonl, render_sarif, render_text

    if output_format == "json":
        click.echo(render_jsonl(found), nl=False)
    elif output_format == "sarif":
        from aespec import __version__
        from aespec.cli.explanations import all_explanations

        click.echo(
            render_sarif(found, version=__version__, explanations=all_explanations().values()), nl=False
        )
    else:
        if found:
            click.echo(render_text(found, color=is_colored(sys.stdout)))
        errors = sum(item.is_error for item in found)
        rest = len(found) - errors
        click.echo(
            f"{counted(count, 'file')}: {counted(errors, 'error')}, {counted(rest, 'warning')} or advice"
        )
