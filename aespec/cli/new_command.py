"""`aespec new`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from aespec.cli.console import fail, outside_world

PLACEHOLDER = "NEW-TASK-NAME"


def find_templates() -> dict[str, Path]:
    """The templates by domain."""
    from aespec.resources import folder

    return {path.stem: path for path in (folder("templates") / "new").glob("*.aes")}


@click.command()
@click.argument("name")
@click.option(
    "--domain",
    default="terminal",
    help=f"Subject area: {', '.join(sorted(find_templates()))}.",
    show_default=True,
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Where to write; by default NAME.aes in this folder.",
)
def command(name: str, domain: str, output: Path | None) -> None:
    """Write a spec that certifies as it stands, to edit. NAME is lower-case letters, digits and hyphens."""
    from aespec.resolve.kinds import TASK_NAME
    from aespec.resolve.reading import LONGEST_NAME

    with outside_world():
        templates = find_templates()
        if domain not in templates:
            fail(
                f"there is no template for the domain '{domain}'",
                f"choose one of: {', '.join(sorted(templates))}",
            )
        if not TASK_NAME.fullmatch(name) or len(name) > LONGEST_NAME:
            fail(
                f"'{name}' can't be a task's name",
                f"use lower-case letters, digits and single hyphens, {LONGEST_NAME} in all: ledger-totals",
            )
        path = output or Path(f"{name}.aes")
        text = templates[domain].read_text(encoding="utf-8").replace(PLACEHOLDER, name)
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError:
            fail(f"{path} exists already", "choose another name, or another place with -o")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode())
        except OSError:  # a full disk: half a spec would stand in the way of the next try
            path.unlink()
            raise
    click.echo(f"wrote {path}\nnext: edit it, then  aespec lint {path}  and  aespec certify {path}")
