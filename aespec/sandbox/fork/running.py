"""RUN of a Dockerfile: how its command starts, and what stands in for its mounts."""

from __future__ import annotations

import contextlib
import csv
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from aespec.bundle.dockerfile import SETUP_FOLDER
from aespec.sandbox.api import Program, SandboxError, UncarriableError
from aespec.sandbox.dockerfiles import DockerfileError, Instruction, UnsupportedError, read_heredoc
from aespec.sandbox.fork.build import KEPT_OUTPUT_BYTES, STEP_TIMEOUT_S, must_succeed
from aespec.sandbox.fork.placing import Tree, Wish, make_folder, place
from aespec.sandbox.fork.slot import ForkSlot
from aespec.sandbox.stages import StageState
from aespec.sandbox.tars import Entry, pack

_KINDS = ("bind", "cache", "tmpfs", "secret", "ssh")
_HIDDEN_BYTES = 256 << 20
_SHOWN_LETTERS = 200


@dataclass(frozen=True, slots=True)
class Mount:
    """A mount of RUN. What stood at `target` is hidden meanwhile and stands there again afterwards."""

    kind: str
    target: str
    source: str = ""
    source_stage: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """A RUN as it is to be carried out; `script` is a file that the command runs, "" where there is none."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    user: str
    workdir: str
    has_network: bool
    mounts: tuple[Mount, ...]
    script: str = field(default="", repr=False)
    told: str = ""


def read_command(instruction: Instruction, state: StageState) -> Command:
    """What a RUN means at its place. Raises DockerfileError; UnsupportedError for what takes an engine."""
    argv, script = _argv(instruction, state)
    network = instruction.flag("network") or "default"
    if network not in ("default", "none", "host"):
        raise DockerfileError(f"--network={network} is no network of RUN", instruction.line)
    mounts = [_read_mount(text, instruction.line, state) for text in instruction.all_flags("mount")]
    return Command(
        argv,
        dict(state.env),
        state.user,
        state.workdir,
        network != "none",
        tuple(mount for mount in mounts if mount is not None),
        script,
        instruction.original[:_SHOWN_LETTERS],
    )


def _argv(instruction: Instruction, state: StageState) -> tuple[tuple[str, ...], str]:
    """The command, and the content of a script that it starts."""
    documents = instruction.heredocs
    if instruction.is_json or not documents:
        return (instruction.args if instruction.is_json else state.shelled(instruction.args)), ""
    if read_heredoc(instruction.args[0]) is None:  # the shell's own heredocs, put together again
        parts = [instruction.args[0], *(f"\n{found.content}{found.name}" for found in documents)]
        return state.shelled(["".join(parts)]), ""
    text = documents[0].text
    if text.startswith("#!"):
        return (f"{SETUP_FOLDER}/{documents[0].name}",), text
    return state.shelled([text]), ""


def _read_mount(text: str, line: int, state: StageState) -> Mount | None:
    """A mount; None for one that gives nothing here, as an engine gives nothing either."""
    fields: dict[str, str] = {}
    for part in next(csv.reader([text]), []):
        name, _, value = part.partition("=")
        fields[name.strip().lower()] = state.expand(value, line)
    kind = fields.get("type", "bind")
    target = fields.get("target") or fields.get("dst") or fields.get("destination") or ""
    if kind not in _KINDS:
        raise DockerfileError(f"RUN has no mount of type {kind}", line)
    if kind in ("secret", "ssh"):
        if fields.get("required", "false") in ("", "true", "1"):
            raise UnsupportedError(f"RUN needs a {kind} that nobody has given", line)
        return None
    if not target or posixpath.normpath(state.place(target)) == "/":
        raise DockerfileError(f"the mount {text!r} has no target", line)
    source = fields.get("source") or fields.get("src") or ""
    stage = fields.get("from", "")
    if kind == "cache" and (stage or source):
        raise UnsupportedError("RUN fills a cache from a stage", line)
    return Mount(kind, state.place(target).rstrip("/"), source or "/", stage)


def run_command(slot: ForkSlot, command: Command, trees: Mapping[str, Tree], left_s: float) -> None:
    """Carry it out; `trees` are the bound mounts' sources by target, `left_s` the time there is."""
    make_folder(slot, command.workdir, "")
    argv = command.argv
    if command.script:
        slot.put(pack([Entry(argv[0], command.script.encode("utf-8", "surrogateescape"), 0o755)]))
    program = Program(
        (_found(slot, argv[0], command), *argv[1:]),
        env=command.env,
        cwd=command.workdir,
        user=command.user,
        timeout_s=min(STEP_TIMEOUT_S, left_s),
        has_network=command.has_network,
        output_limit_bytes=KEPT_OUTPUT_BYTES,
    )
    with contextlib.ExitStack() as stack:
        for mount in command.mounts:
            stack.enter_context(_mounted(slot, mount, trees.get(mount.target)))
        must_succeed(slot, program, command.told, "")
    if command.script:
        slot.put(b"", clean=[SETUP_FOLDER])


def _found(slot: ForkSlot, name: str, command: Command) -> str:
    """A program's absolute path: by the working folder, or by PATH as an engine looks it up."""
    if name.startswith("/"):
        return name
    if "/" in name:
        return posixpath.normpath(posixpath.join(command.workdir, name))
    folders = [folder for folder in command.env.get("PATH", "").split(":") if folder.startswith("/")]
    places = [posixpath.join(folder, name) for folder in folders]
    for place_, found in zip(places, slot.look(places), strict=True):
        if found.kind == "file":
            return place_
    raise SandboxError(f"the image has no program {name!r} in its PATH", boundary="image")


@contextlib.contextmanager
def _mounted(slot: ForkSlot, mount: Mount, tree: Tree | None) -> Iterator[None]:
    """Put what a mount would show in its place, and afterwards what was there before.

    A cache is empty each time: a build may not depend on what a cache holds.
    """
    found = slot.look([mount.target], lists=True)[0]
    hidden = b""
    if found.kind:
        try:
            hidden = slot.get([found.real], limit_bytes=_HIDDEN_BYTES)
        except UncarriableError:
            raise UnsupportedError(
                f"what lies at {mount.target} is too large to be hidden by a mount"
            ) from None
        slot.put(b"", clean=[found.real])
    if tree is not None:
        place(slot, tree, [mount.source], Wish(found.real))
    else:
        make_folder(slot, found.real, "")
    yield
    slot.put(hidden, clean=[found.real])
