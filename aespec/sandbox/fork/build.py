"""A recipe carried out in the sandbox: each step, or run of small ones, becomes a layer."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from aespec.bundle.dockerfile import SETUP_FOLDER
from aespec.bundle.recipe import AddUser, Copy, MakeFolder, Packages, Raw, Recipe, RecipeStep, Shell
from aespec.sandbox.api import TOO_LONG_REMEDY, Program, SandboxError, SandboxLimits
from aespec.sandbox.fork.accounts import find_account
from aespec.sandbox.fork.identity import Identity, range_remedy
from aespec.sandbox.fork.slot import ForkSlot
from aespec.sandbox.layers import (
    Store,
    chain_digest,
    describe_step,
    full_disk,
    layer_id,
    read_source,
    recipe_digest,
)
from aespec.sandbox.tars import Entry, pack

BUILD_LIMITS = SandboxLimits(memory_bytes=8 << 30, disk_bytes=16 << 30, processes=4096, cpu=64.0)
"""What a build step gets: wide, since its author isn't a solver, but an end there is."""
STEP_TIMEOUT_S = 1800.0
"""The longest that one step of a build may take."""
KEPT_OUTPUT_BYTES = 1 << 20
"""What is kept of a step's output; the rest is read and dropped."""
_SHOWN_LINES = 12
_ACCOUNT_FILES = ("/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow")

_APT = r"""
export DEBIAN_FRONTEND=noninteractive DEBCONF_NONINTERACTIVE_SEEN=true LC_ALL=C
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then printf '#!/bin/sh\nexit 101\n' >"$policy"; chmod 755 "$policy"; made=1; fi
settings="-o APT::Sandbox::User=root -o Acquire::Retries=3 -o Dpkg::Use-Pty=0"
if [ -s "${SSL_CERT_FILE:-/nothing}" ]; then settings="$settings -o Acquire::https::CaInfo=$SSL_CERT_FILE"; fi
apt-get -q $settings update
apt-get -q $settings install -y --no-install-recommends -- "$@"
if [ -n "${made:-}" ]; then rm -f "$policy"; fi
apt-get clean
rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/cache/ldconfig/aux-cache \
  /var/log/apt /var/log/dpkg.log /var/log/alternatives.log
mkdir -p /var/lib/apt/lists/partial
"""
_PIP = """
export PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
exec python3 -m pip install --no-cache-dir --no-input -- "$@"
"""
_SCRIPTS = {"apt": _APT, "pip": _PIP}


class OpenRoot(Protocol):
    """How the backend opens a root for building: see `ForkSandbox`."""

    def __call__(
        self,
        lowers: tuple[str, ...],
        trees: tuple[tuple[str, str], ...],
        env: Mapping[str, str],
        limits: SandboxLimits,
        upper: str,
        *,
        is_build: bool = False,
    ) -> AbstractContextManager[ForkSlot]:
        """A slot over these layers that writes into the folder `upper`."""
        ...


@dataclass(frozen=True, slots=True)
class Workshop:
    """What building takes."""

    store: Store
    identity: Identity
    open_root: OpenRoot


@dataclass(frozen=True, slots=True)
class Base:
    """A base image: its digest, its one layer's folder, and the host's folders shown over it.

    `config` is what an engine's image sets, as the engine tells it.
    """

    digest: str
    layer: str
    env: Mapping[str, str]
    trees: tuple[tuple[str, str], ...] = field(default=())
    config: Mapping[str, Any] = field(default_factory=dict, repr=False)


def build_steps(
    base: Base, recipe: Recipe, context: Path, workshop: Workshop, say: Callable[[str], None]
) -> tuple[tuple[str, ...], str]:
    """The folders of the layers, nearest first, and the image's digest."""
    lowers: tuple[str, ...] = (base.layer,)
    digest = base.digest
    for group in _grouped(recipe.steps):
        if base.trees and isinstance(group[0], Packages):
            continue  # the host has them, or its root would not have been taken
        for step in group:
            digest = chain_digest(digest, describe_step(step, context))
        below = lowers

        def make(
            name: str, group: tuple[RecipeStep, ...] = group, below: tuple[str, ...] = below
        ) -> dict[str, Any]:
            env = {**base.env, **(dict(recipe.env) if isinstance(group[0], Shell) else {})}
            with workshop.open_root(below, base.trees, env, BUILD_LIMITS, name, is_build=True) as slot:
                _do_steps(slot, group, context, workshop, say)
            return {}

        if workshop.store.find(digest) is None:
            workshop.store.make(digest, make)
        lowers = (layer_id(digest), *lowers)
    if recipe.workdir != "/" or any(isinstance(step, Shell) for step in recipe.steps):
        digest = chain_digest(digest, {"step": "finish", "workdir": recipe.workdir})

        def finish(name: str, below: tuple[str, ...] = lowers) -> dict[str, Any]:
            with workshop.open_root(below, base.trees, base.env, BUILD_LIMITS, name, is_build=True) as slot:
                _make_folder(slot, recipe.workdir)
                slot.put(b"", clean=[SETUP_FOLDER])
            return {}

        if workshop.store.find(digest) is None:
            workshop.store.make(digest, finish)
        lowers = (layer_id(digest), *lowers)
    return lowers, recipe_digest(base.digest, recipe, context)


def _make_folder(slot: ForkSlot, path: str) -> None:
    """As an engine makes a missing working folder: what exists stays as it is."""
    program = Program(("/bin/sh", "-c", 'mkdir -p -- "$1"', "sh", path), timeout_s=60.0)
    must_succeed(slot, program, f"making the folder {path}", "")


def _grouped(steps: tuple[RecipeStep, ...]) -> list[tuple[RecipeStep, ...]]:
    """Packages and scripts each by themselves, what only places files together: an overlay has few places."""
    groups: list[tuple[RecipeStep, ...]] = []
    for step in steps:
        if isinstance(step, Raw):
            raise SandboxError(
                "lines of a Dockerfile need an engine to build them",
                remedy="use the sandbox `docker`",
                boundary="spec",
            )
        is_small = isinstance(step, Copy | MakeFolder | AddUser)
        if is_small and groups and isinstance(groups[-1][0], Copy | MakeFolder | AddUser):
            groups[-1] = (*groups[-1], step)
        else:
            groups.append((step,))
    return groups


def _do_steps(
    slot: ForkSlot,
    steps: tuple[RecipeStep, ...],
    context: Path,
    workshop: Workshop,
    say: Callable[[str], None],
) -> None:
    for step in steps:
        try:
            _do_step(slot, step, context, workshop, say)
        except SandboxError as error:
            if slot.was_stopped_by_disk or "is full" in str(error):
                raise full_disk(workshop.store.folder) from None
            raise


def _do_step(
    slot: ForkSlot, step: RecipeStep, context: Path, workshop: Workshop, say: Callable[[str], None]
) -> None:
    match step:
        case Packages():
            _install(slot, step, workshop, say)
        case AddUser():
            _add_user(slot, step)
        case Copy():
            uid, gid = _owner(slot, step.owner)
            content = read_source(context, step.source)
            slot.put(pack([Entry(step.path, content, step.mode, uid, gid)]))
        case MakeFolder():
            uid, gid = _owner(slot, step.owner)
            slot.put(pack([Entry(step.path, None, step.mode, uid, gid)]))
        case Shell():
            _run_script(slot, step, context, say)
        case Raw():
            raise AssertionError("refused before")


def account_files(slot: ForkSlot) -> dict[str, tuple[tarfile.TarInfo, str]]:
    """The files that name accounts, as far as there are any: their entry in a tar, and their text."""
    found = {}
    with tarfile.open(fileobj=io.BytesIO(slot.get(_ACCOUNT_FILES))) as archive:
        for entry in archive:
            file = archive.extractfile(entry) if entry.isreg() else None
            if file is not None:
                found[f"/{entry.name}"] = (entry, file.read().decode("utf-8", "surrogateescape"))
    return found


def _owner(slot: ForkSlot, name: str) -> tuple[int, int]:
    if name in ("", "root"):
        return 0, 0
    files = account_files(slot)
    found = find_account(name, *(files[path][1] if path in files else "" for path in _ACCOUNT_FILES[:2]))
    if found is None:
        raise SandboxError(f"a step names the owner {name!r}, which the image has not", boundary="image")
    return found.uid, found.gid


def _add_user(slot: ForkSlot, step: AddUser) -> None:
    """The account by hand: not every image has useradd, and every image has the files."""
    files = account_files(slot)
    lines = {
        "/etc/passwd": f"{step.name}:x:{step.uid}:{step.uid}::{step.home}:/bin/sh",
        "/etc/group": f"{step.name}:x:{step.uid}:",
        "/etc/shadow": f"{step.name}:!:19723:0:99999:7:::",
        "/etc/gshadow": f"{step.name}:!::",
    }
    if "/etc/passwd" not in files:
        raise SandboxError("the image has no /etc/passwd to add an account to", boundary="image")
    if find_account(step.name, files["/etc/passwd"][1], ""):
        return  # the base's own, which the Dockerfile keeps too
    for path, line in lines.items():
        if path not in files:
            continue
        entry, text = files[path]
        if step.name in {row.split(":")[0] for row in text.splitlines()}:
            continue
        content = f"{text.rstrip()}\n{line}\n".encode("utf-8", "surrogateescape")
        slot.put(pack([Entry(path, content, entry.mode, entry.uid, entry.gid)]))
    slot.put(pack([Entry(step.home, None, 0o755, step.uid, step.uid)]))


def _install(slot: ForkSlot, step: Packages, workshop: Workshop, say: Callable[[str], None]) -> None:
    if step.manager not in _SCRIPTS:
        raise SandboxError(f"there is no package manager {step.manager!r}", boundary="spec")
    if not step.names:
        return
    say(f"installing {', '.join(step.names)} with {step.manager}")
    argv = ("/bin/sh", "-eu", "-c", _SCRIPTS[step.manager], "install", *step.names)
    remedy = (
        ""
        if workshop.identity.switches_user
        else (
            "this sandbox has one user id and can't give files to others, which some packages need; "
            f"{range_remedy()}; or take the base with its packages by `import`, or use the sandbox `docker`"
        )
    )
    program = Program(
        argv,
        timeout_s=STEP_TIMEOUT_S,
        has_network=True,
        output_limit_bytes=KEPT_OUTPUT_BYTES,
    )
    must_succeed(slot, program, f"installing {', '.join(step.names)} with {step.manager}", remedy)


def _run_script(slot: ForkSlot, step: Shell, context: Path, say: Callable[[str], None]) -> None:
    say(f"running {step.source}")
    content = read_source(context, step.source)
    script = f"{SETUP_FOLDER}/{Path(step.source).name}"
    slot.put(pack([Entry(script, content)]))
    _make_folder(slot, step.workdir)
    program = Program(
        ("/bin/sh", "-eu", script),
        cwd=step.workdir,
        user=step.user,
        timeout_s=STEP_TIMEOUT_S,
        has_network=step.has_network,
        output_limit_bytes=KEPT_OUTPUT_BYTES,
    )
    must_succeed(slot, program, f"the step {step.source}", "")


def must_succeed(slot: ForkSlot, program: Program, what: str, remedy: str) -> None:
    """Run a program of a build; raises SandboxError that tells how `what` failed, with its last lines."""
    outcome = slot.run(program)
    if outcome.status == 0 and not outcome.is_timed_out:
        return
    if slot.was_stopped_by_disk:
        raise SandboxError("the disk is full")
    how = f"ended with status {outcome.status}"
    if outcome.is_timed_out:
        how, remedy = f"took longer than {program.timeout_s:.0f} s", remedy or TOO_LONG_REMEDY
    elif outcome.status is None:
        how = f"was ended by signal {outcome.signal}"
    tail = "\n".join(_telling_lines((outcome.stdout + outcome.stderr).decode("utf-8", "replace")))
    raise SandboxError(f"{what} {how}\n{tail}".rstrip(), remedy=remedy, boundary="image")


def _telling_lines(text: str) -> list[str]:
    """What apt and pip mark as errors, where something is so marked; else the end of what was printed."""
    lines = text.splitlines()
    marked = [line for line in lines if line.startswith(("E: ", "ERROR: "))]
    return list(dict.fromkeys(marked or lines))[-_SHOWN_LINES:]
