"""What all commands share of the terminal: exit statuses, progress, failures with a way out."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import NoReturn

import click

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
    click.echo(f"aespec: {message}", err=True)
    if remedy:
        click.echo(f"  way out: {remedy}", err=True)
    sys.exit(Status.INFRASTRUCTURE)


def progress() -> Callable[[str], None]:
    """A sink for progress lines: the latest on one terminal line after two seconds, silent elsewhere."""
    started = time.monotonic()
    if not sys.stderr.isatty():
        return lambda text: None

    def show(text: str) -> None:
        if time.monotonic() - started < 2:
            return
        line = "".join(char if char.isprintable() else " " for char in text)[:100]
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
    from aespec.bundle import BundleError
    from aespec.sandbox.api import SandboxError

    try:
        yield
    except (SandboxError, BundleError) as error:
        clear_progress()
        fail(str(error), error.remedy)
    except OSError as error:
        clear_progress()
        fail(f"{error.filename or 'the system'}: {error.strerror or error}", remedy_for(error))
    except KeyboardInterrupt:
        clear_progress()
        click.echo("aespec: stopped; what was finished is kept", err=True)
        sys.exit(130)


def remedy_for(error: OSError) -> str:
    """What to do about the commonest errors of a file system."""
    import errno

    return {
        errno.ENOSPC: "free some disk, or point AESPEC_CACHE and -o to a larger one",
        errno.EROFS: "choose another folder with -o, or set AESPEC_CACHE",
        errno.EACCES: "choose another folder with -o, or set AESPEC_CACHE",
        errno.ENOENT: "check the path",
    }.get(error.errno or 0, "")
