"""What all commands share of the terminal: exit statuses, progress, failures with a way out."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from aespec.cli.ending import describe, end_at_once

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
    tell(f"aespec: {message}" + (f"\n  way out: {remedy}" if remedy else ""))
    drop_unwritten_output()
    sys.exit(Status.INFRASTRUCTURE)


def stop(interrupt: KeyboardInterrupt) -> NoReturn:
    """End as an interrupt asks for, with what it says and the shell's status for it.

    What couldn't be stopped in time (an engine that builds) isn't awaited: it ends with the process.
    """
    end_at_once()
    said, status = describe(interrupt)
    tell(f"aespec: {said}")
    drop_unwritten_output()
    leave(status)


def leave(status: int) -> NoReturn:
    """End after an interrupt was answered: what couldn't be stopped in time isn't awaited."""
    if threading.active_count() > 1:
        end_at_once()
        sys.stdout.flush()
        os._exit(status)
    sys.exit(status)


def tell(text: str) -> None:
    """Write to standard error; where that is full or gone too, the exit status has to do."""
    with contextlib.suppress(OSError):
        clear_progress()
        click.echo(text, err=True)


def complete_streams() -> None:
    """Give a process that was started without one of its three streams (`>&-`) an empty one.

    Otherwise the next file that is opened would take its number, and be written to as if it were the stream.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  it stays open


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
    tell(f"aespec: {message}")


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
        yield
    except BrokenPipeError:  # nobody reads the result any more
        raise
    except OSError as error:
        fail(describe_fault(error, "the system"), remedy_for(error))
    except _told_errors() as error:
        fail(str(error), error.remedy)


def _told_errors() -> tuple[type[SandboxError], type[BundleError]]:
    """The errors that carry their way out; looked up when something was raised, as that is rare."""
    from aespec.bundle import BundleError
    from aespec.sandbox.api import SandboxError

    return SandboxError, BundleError


def describe_fault(error: OSError, elsewhere: str) -> str:
    """What went wrong where; `elsewhere` is the place of an error that names no file."""
    place = error.filename if error.filename is not None else elsewhere
    return f"{os.fsdecode(place) if isinstance(place, bytes) else place}: {error.strerror or error}"


def remedy_for(error: OSError) -> str:
    """What to do about the commonest errors of a file system."""
    import errno

    from aespec.scratch import ScratchError

    if isinstance(error, ScratchError):
        return error.remedy
    return {
        errno.ENOSPC: "free some disk, or point AESPEC_CACHE, TMPDIR and -o to a larger one",
        errno.EROFS: "choose another folder with -o, or set AESPEC_CACHE",
        errno.EACCES: _access_remedy(error.filename),
        errno.EPERM: _access_remedy(error.filename),
        errno.ENOTDIR: "name a folder, not a file",
        errno.EEXIST: "name a folder, not a file",
        errno.ENOENT: "check the path",
        errno.ELOOP: "name another path: this one is a link that leads back to itself",
        errno.ENAMETOOLONG: "name a shorter path",
        errno.EDQUOT: "free some disk, or point AESPEC_CACHE, TMPDIR and -o to a larger one",
        errno.EMFILE: "raise the number of open files (`ulimit -n`)",
        errno.ENFILE: "end other programs: the machine's table of open files is full",
        errno.EFBIG: "raise the size of files (`ulimit -f`)",
        errno.EAGAIN: "raise the number of processes (`ulimit -u`), or end others",
        errno.ENOMEM: "free some memory, or raise its limit (`ulimit -v`)",
    }.get(error.errno or 0, "`aespec doctor` tells what this machine can run")


def _access_remedy(path: object) -> str:
    """What to do about a refusal: it depends on whether it was of reading or of writing."""
    if isinstance(path, str | bytes | os.PathLike) and os.path.lexists(path) and not os.access(path, os.R_OK):
        return "see that the file may be read by the user who runs this"
    return "choose another folder with -o, or set AESPEC_CACHE"
