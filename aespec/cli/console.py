"""What all commands share of the terminal: exit statuses, progress, failures with a way out."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, NoReturn

import click

from aespec.cli.ending import describe, ending_in_order

if TYPE_CHECKING:
    from aespec.bundle import BundleError
    from aespec.sandbox.api import SandboxError

FORMAT = click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Form of the result.",
)


class Status(IntEnum):
    """Exit statuses; the worst of several inputs is the command's (see `worst`)."""

    HOLDS = 0
    FINDINGS = 1
    INFRASTRUCTURE = 2
    NOT_MEASURED = 3


def worst(statuses: list[Status]) -> Status:
    """Findings outrank trouble of the machine, that outranks what was not measured."""
    order = (Status.FINDINGS, Status.INFRASTRUCTURE, Status.NOT_MEASURED)
    return next((status for status in order if status in statuses), Status.HOLDS)


def fail(message: str, remedy: str = "") -> NoReturn:
    """End with status 2 and a message with its way out."""
    with contextlib.suppress(OSError):  # where standard error is full too, the status has to do
        click.echo(f"aespec: {message}", err=True)
        if remedy:
            click.echo(f"  way out: {remedy}", err=True)
    drop_unwritten_output()
    sys.exit(Status.INFRASTRUCTURE)


def drop_unwritten_output() -> None:
    """Let what standard output didn't take go: the interpreter would try again at its end, and complain."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.close(nowhere)


def warn(message: str) -> None:
    """One line to standard error that isn't the result and doesn't change the status."""
    clear_progress()
    click.echo(f"aespec: {message}", err=True)


def warn_of_stand_in(what: str) -> None:
    """Say that the host's own /usr was the base image of `what` (a trial, a certificate, …)."""
    warn(
        f"{what} on this machine's own /usr in place of the debian base image: not reproducible elsewhere "
        "(`aespec doctor` tells how to have the image)"
    )


def progress(subject: str = "") -> Callable[[str], None]:
    """A sink for progress lines, led by what they are about.

    The latest stands on one terminal line after two seconds; where there is no terminal, nothing is shown.
    """
    started = time.monotonic()
    lead = f"{subject}: " if subject else ""
    if not sys.stderr.isatty():
        return lambda text: None

    def show(text: str) -> None:
        if time.monotonic() - started < 2:
            return
        line = "".join(char if char.isprintable() else " " for char in lead + text)[:100]
        sys.stderr.write(f"\r\x1b[2K{line}")
        sys.stderr.flush()

    return show


def clear_progress() -> None:
    """Take the progress line away before a result is printed."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[2K")
        sys.stderr.flush()


@contextmanager
def outside_world() -> Iterator[None]:
    """Turn what the outside world does to a command into a message with a way out and status 2."""
    try:
        with ending_in_order():
            yield
    except OSError as error:
        clear_progress()
        fail(f"{error.filename or 'the system'}: {error.strerror or error}", remedy_for(error))
    except KeyboardInterrupt as interrupt:
        clear_progress()
        said, status = describe(interrupt)
        click.echo(f"aespec: {said}", err=True)
        sys.exit(status)
    except _told_errors() as error:
        clear_progress()
        fail(str(error), error.remedy)


def _told_errors() -> tuple[type[SandboxError], type[BundleError]]:
    """The errors that carry their way out; looked up when something was raised, as that is rare."""
    from aespec.bundle import BundleError
    from aespec.sandbox.api import SandboxError

    return SandboxError, BundleError


def remedy_for(error: OSError) -> str:
    """What to do about the commonest errors of a file system."""
    import errno

    return {
        errno.ENOSPC: "free some disk, or point AESPEC_CACHE and -o to a larger one",
        errno.EROFS: "choose another folder with -o, or set AESPEC_CACHE",
        errno.EACCES: _access_remedy(error.filename),
        errno.EPERM: _access_remedy(error.filename),
        errno.ENOTDIR: "name a folder, not a file",
        errno.EEXIST: "name a folder, not a file",
        errno.ENOENT: "check the path",
    }.get(error.errno or 0, "")


def _access_remedy(path: object) -> str:
    """What to do about a refusal: it depends on whether it was of reading or of writing."""
    if isinstance(path, str | bytes | os.PathLike) and os.path.lexists(path) and not os.access(path, os.R_OK):
        return "see that the file may be read by the user who runs this"
    return "choose another folder with -o, or set AESPEC_CACHE"
