"""What every sandbox offers. Code of a spec or of a solver runs behind this interface and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from aespec.bundle.recipe import Recipe


class SandboxError(Exception):
    """The sandbox can't do what was asked; `remedy` tells the user the way out."""

    def __init__(self, message: str, remedy: str = "", boundary: str = "sandbox") -> None:
        """`boundary` says whose fault it is: `sandbox`, `image` (a build step failed) or `spec`."""
        super().__init__(message)
        self.remedy = remedy
        self.boundary = boundary


class UncarriableError(SandboxError):
    """What stands in a slot can't be carried out of it, by its writer's doing: too large, too deep."""


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Limits of a slot: all programs in it together as far as the backend can, else each program."""

    memory_bytes: int = 2 * 1024**3
    disk_bytes: int = 2 * 1024**3
    processes: int = 512
    cpu: float = 1.0


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run in a slot. `user` is an account's name of the image; `argv[0]` is an absolute path.

    `umask`, `cores` and `env` are what the perturbed environments of certification shift.
    `output_limit_bytes` holds for each of the two streams: the rest is read and dropped.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "/"
    user: str = "root"
    stdin: bytes = b""
    timeout_s: float = 60.0
    output_limit_bytes: int = 1024 * 1024
    has_network: bool = False
    umask: int = 0o022
    cores: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ended: `status` is None where a signal, the limit of time or of memory ended it.

    `signal` is that signal's number where it is known. A program that can't be found has status 127, one that
    can't be started 126, as in a shell. `seconds` are wall seconds by stage (`start`, `run`, `stop`).
    """

    status: int | None
    stdout: bytes
    stderr: bytes
    is_timed_out: bool = False
    is_truncated: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict)
    signal: int | None = None


@dataclass(frozen=True, slots=True)
class Image:
    """A prepared root file system: `digest` names its recipe, `reference` is the backend's own handle.

    `is_reproducible` is False where the root is the host's own /usr. `entrypoint` is what an image of a
    foreign Dockerfile puts before each command when a container starts; no `run` does so by itself.
    """

    digest: str
    reference: object
    env: Mapping[str, str]
    workdir: str
    user: str
    is_reproducible: bool = True
    entrypoint: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Build:
    """An image to be made of somebody else's Dockerfile: its text, the context's folder, its arguments.

    `dockerfile` None takes the prebuilt `image` as it is. All steps together may take `timeout_s` seconds.
    """

    context: Path
    dockerfile: str | None = field(default=None, repr=False)
    image: str | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 1800.0


TOO_LONG_REMEDY = (
    "see that its steps end, or raise its limit: build_timeout_sec in [environment] of task.toml"
)
"""What to do about a build that runs into its `timeout_s`."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What a slot's state has that its image has not: a tar (names relative to `/`), and what is gone.

    `deleted` are absolute paths, sorted. What can't be carried (devices, sockets, FIFOs) is left out.
    """

    archive: bytes = field(repr=False)
    deleted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a backend can do here. `missing` maps a missing ability to its exact remedy.

    `tier` is `full`, `single-uid` (ownership and cross-uid claims not measured), or `none`.
    """

    name: str
    tier: str
    missing: Mapping[str, str]
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_usable(self) -> bool:
        """Whether anything can run."""
        return self.tier != "none"


@runtime_checkable
class Slot(Protocol):
    """A writable instance of an image. State lives from one program to the next, until it is closed.

    No process outlives the `run` that started it.
    """

    def put(self, archive: bytes, *, clean: Sequence[str] = ()) -> None:
        """Unpack a tar (names relative to `/`, numeric owners kept where the tier can) as root.

        Paths in `clean` are removed first. Links in the state are never followed out of it.
        """
        ...

    def run(self, program: Program) -> Outcome:
        """Run a program to its end or its limit, then end everything that it started."""
        ...

    def get(self, paths: Sequence[str], *, limit_bytes: int = 1024**3) -> bytes:
        """A tar of the paths that exist and what is below them, names relative to `/`, sorted.

        Raises `UncarriableError` above the limit. Devices and sockets are left out, FIFOs too.
        """
        ...

    def difference(self, *, limit_bytes: int = 1024**3) -> Difference:
        """What was changed in this slot since it was opened; raises `UncarriableError` above the limit."""
        ...


class Sandbox(Protocol):
    """A backend."""

    name: str

    def abilities(self) -> Abilities:
        """What it can do here, found out by doing; cheap after the first call."""
        ...

    def prepare(
        self, recipe: Recipe, context: Path, *, progress: Callable[[str], None] | None = None
    ) -> Image:
        """Build (or find) the image of a recipe; `context` is the folder its sources lie in.

        Layers are content-addressed and shared. Raises `SandboxError`, with boundary `image` for a failing
        step (its output in the message).
        """
        ...

    def open(self, image: Image, limits: SandboxLimits) -> AbstractContextManager[Slot]:
        """A fresh slot."""
        ...


@runtime_checkable
class Stoppable(Protocol):
    """A sandbox whose runs can be cut short from another thread."""

    def stop(self) -> None:
        """End what runs in all open slots: who waits for it gets a SandboxError. New ones may be opened."""
        ...


class Builder(Sandbox, Protocol):
    """A backend that can take tasks of others: it builds their images and freezes states as layers."""

    def build(self, build: Build, *, progress: Callable[[str], None] | None = None) -> Image:
        """Build (or find) the image; steps have network. Raises `SandboxError`, with boundary `image`."""
        ...

    def freeze(self, image: Image, difference: Difference) -> Image:
        """An image with the difference laid over it; content-addressed, so a known one costs nothing."""
        ...
