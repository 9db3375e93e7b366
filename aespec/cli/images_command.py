"""`aespec images`."""

from __future__ import annotations

from pathlib import Path

import click

from aespec.cli.console import fail, outside_world


@click.group()
def command() -> None:
    """Bring base images into the embedded sandbox's store."""


@command.command("import")
@click.argument("name")
@click.argument("tar", type=click.Path(path_type=Path))
def import_image(name: str, tar: Path) -> None:
    """Take the root file system in TAR (plain or compressed) as the base image NAME.

    Such a tar comes from `docker export`, `mmdebstrap SUITE FILE`, or another maker of root file systems.
    """
    from aespec.sandbox.fork.backend import ForkSandbox

    with outside_world():
        sandbox = ForkSandbox()
        abilities = sandbox.abilities()
        if not abilities.is_usable:
            fail("the embedded sandbox doesn't work here", "; ".join(abilities.missing.values()))
        digest = sandbox.import_image(name, tar)
    click.echo(f"{name}  {digest}")
