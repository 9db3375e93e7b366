"""`aespec lock`."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aespec.cli.console import Status, clear_progress, outside_world, progress, warn, worst
from aespec.cli.machinery import IMAGE_MAP, SANDBOX, RefusedError, load_spec, open_named
from aespec.cli.specs import find_specs
from aespec.runtime.wording import counted

if TYPE_CHECKING:
    from aespec.sandbox.api import Sandbox


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@IMAGE_MAP
@SANDBOX
def command(paths: tuple[Path, ...], image_pairs: tuple[str, ...], sandbox: str) -> None:
    """Pin images and packages as they are to be had today, in NAME.aes.lock beside each spec.

    Commit the lock: a certificate binds to it, and a bundle compiled from it installs the same versions.
    """
    statuses = []
    with outside_world():
        opened = open_named(sandbox, image_pairs)
        for path in find_specs(paths):
            try:
                lock_spec(path, opened)
                statuses.append(Status.HOLDS)
            except RefusedError as refusal:
                statuses.append(refusal.status)
    sys.exit(worst(statuses))


def lock_spec(path: Path, sandbox: Sandbox) -> None:
    """Make and write the lock of one spec. Raises RefusedError, SandboxError, OSError."""
    from aespec.bundle.lock import lock_path, write_lock
    from aespec.cli.files import replace_bytes
    from aespec.evaluate.locking import make_lock

    today = dt.datetime.now(tz=dt.UTC).date()
    lock = make_lock(load_spec(path), sandbox, today=today, progress=progress(str(path)))
    clear_progress()
    place = lock_path(path)
    replace_bytes(place, write_lock(lock))
    counts = (
        counted(len(lock.images), "image"),
        counted(len(lock.apt), "Debian package"),
        counted(len(lock.pip), "Python package"),
    )
    click.echo(f"wrote {place}: {', '.join(counts)}")
    local = [name for name, image in lock.images.items() if image.source != "registry"]
    if local:
        warn(f"no registry digest is known for {', '.join(local)}: pinned by what it is made of here only")
