"""How an image is made, as data: rendered as a Dockerfile, or carried out step by step in a sandbox."""

from __future__ import annotations

from typing import TypeAlias

from aespec.records import dataclass


@dataclass(frozen=True, slots=True)
class Packages:
    """Install packages; only this and a `Shell` that asks for it have network. Pins are `name=version`."""

    manager: str  # "apt" or "pip"
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddUser:
    """An account with a home folder and the shell `/bin/sh`."""

    name: str
    uid: int
    home: str


@dataclass(frozen=True, slots=True)
class Copy:
    """Put the context's file `source` (relative to the context) at `path`; parents are made 0755 root.

    `owner` is an account's name; "" is root. `mode` are permission bits.
    """

    source: str
    path: str
    mode: int = 0o644
    owner: str = ""


@dataclass(frozen=True, slots=True)
class MakeFolder:
    """Make a folder (and its parents) with an owner and mode."""

    path: str
    mode: int = 0o755
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Shell:
    """Run the context's file `source` by `/bin/sh -eu` as `user`, in `workdir`."""

    source: str
    user: str = "root"
    workdir: str = "/"
    has_network: bool = False


@dataclass(frozen=True, slots=True)
class Raw:
    """Dockerfile lines as the author wrote them: only an engine can build them."""

    lines: str


RecipeStep: TypeAlias = Packages | AddUser | Copy | MakeFolder | Shell | Raw


@dataclass(frozen=True, slots=True)
class Recipe:
    """An image: `base` by its public name (perhaps `name@sha256:…`), steps in order, then how programs start.

    `context` is the bundle's folder that `Copy` and `Shell` sources are relative to (`environment`, `tests`).
    """

    base: str
    steps: tuple[RecipeStep, ...]
    context: str
    env: tuple[tuple[str, str], ...] = ()
    workdir: str = "/"
    user: str = "root"
