"""Somebody else's Dockerfile carried out in the sandbox: each RUN, and what is copied between, is a layer."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from aespec.sandbox.api import TOO_LONG_REMEDY, Build, SandboxError
from aespec.sandbox.contexts import Context
from aespec.sandbox.dockerfiles import (
    Dockerfile,
    DockerfileError,
    Instruction,
    UnsupportedError,
    parse_dockerfile,
    parse_trigger,
    read_heredoc,
)
from aespec.sandbox.fork.build import BUILD_LIMITS, Base, Workshop
from aespec.sandbox.fork.placing import DocumentTree, StageTree, Wish, make_folder, place
from aespec.sandbox.fork.running import Command, read_command, run_command
from aespec.sandbox.fork.slot import ForkSlot
from aespec.sandbox.layers import chain_digest, full_disk, layer_id
from aespec.sandbox.stages import (
    Settings,
    StageState,
    base_of,
    earlier_stage,
    global_arguments,
    platform_of,
)

_SUPPORTED_SYNTAX = ("", "docker/dockerfile", "docker.io/docker/dockerfile")


@dataclass(frozen=True, slots=True)
class Built:
    """A root on its way: its layers, nearest first, and what is set beside the files."""

    lowers: tuple[str, ...]
    trees: tuple[tuple[str, str], ...]
    digest: str
    settings: Settings


@dataclass(frozen=True, slots=True)
class _Step:
    """What changes files: described for the digest, then done in a slot."""

    line: int
    described: Mapping[str, Any]
    do: Callable[[ForkSlot], None] = field(repr=False)


def prebuilt(base: Base, workshop: Workshop) -> Built:
    """A base as it is, with its working folder, which an engine makes where it is missing."""
    built = _unchanged(base)
    path = built.settings.workdir
    if path in ("", "/"):
        return built
    step = _Step(0, {"step": "WORKDIR", "path": path, "owner": ""}, lambda slot: make_folder(slot, path, ""))
    return _layer(built, [step], workshop)


def _unchanged(base: Base) -> Built:
    settings = Settings.read(base.config)
    settings = replace(settings, env={**base.env, **settings.env})
    return Built((base.layer,), base.trees, base.digest, settings)


class ImageBuilder:
    """One build. Stages that the last one doesn't need are left out."""

    def __init__(
        self,
        build: Build,
        workshop: Workshop,
        find_base: Callable[[str], Base],
        say: Callable[[str], None],
    ) -> None:
        """`find_base` has the layers of a base by its public name. Raises DockerfileError."""
        self._dockerfile: Dockerfile = parse_dockerfile(build.dockerfile or "")
        self._build = build
        self._workshop = workshop
        self._find_base = find_base
        self._say = say
        self._deadline = time.monotonic() + build.timeout_s
        self._known = global_arguments(self._dockerfile, build.arguments)
        self._stages: dict[int, tuple[Built, StageState]] = {}
        self._bases: dict[str, Built] = {}
        self._context: Context | None = None
        _refuse_unknown(self._dockerfile)

    def image(self) -> Built:
        """The last stage. Raises SandboxError, with boundary `image` for what the Dockerfile does wrong."""
        return self._stage(len(self._dockerfile.stages) - 1)[0]

    # --- stages ------------------------------------------------------------------------------------------

    def _stage(self, at: int) -> tuple[Built, StageState]:
        if at not in self._stages:
            self._stages[at] = self._carried_out(at)
        return self._stages[at]

    def _carried_out(self, at: int) -> tuple[Built, StageState]:
        stage = self._dockerfile.stages[at]
        if asked := platform_of(self._dockerfile, stage, self._known):
            raise UnsupportedError(f"the platform {asked} isn't that of this machine", stage.line)
        name = base_of(self._dockerfile, stage, self._known)
        earlier = None if name.isdigit() else earlier_stage(self._dockerfile, name, at)
        if earlier is None:
            built, above = self._base(name), None
        else:
            built, above = self._stage(earlier)
        state = StageState(built.settings, self._dockerfile.escape, self._known, self._build.arguments)
        if above is not None:
            state.follow(above)
        triggers = [
            replace(parse_trigger(text, self._dockerfile.escape), line=stage.line)
            for text in built.settings.triggers
        ]
        pending: list[_Step] = []
        for instruction in (*triggers, *stage.instructions):
            if state.apply(instruction):
                continue
            step = self._step(instruction, state, at)
            if instruction.name == "RUN":
                built = self._laid(built, pending)
                built, pending = self._laid(built, [step]), []
            else:
                pending.append(step)
        built = self._laid(built, pending)
        return replace(built, settings=state.settings), state

    def _base(self, name: str) -> Built:
        if name not in self._bases:
            self._bases[name] = _unchanged(self._find_base(name))
        return self._bases[name]

    def _laid(self, built: Built, steps: Sequence[_Step]) -> Built:
        return _layer(built, steps, self._workshop)

    # --- steps -------------------------------------------------------------------------------------------

    def _step(self, instruction: Instruction, state: StageState, at: int) -> _Step:
        if instruction.name == "WORKDIR":
            path, owner = state.workdir, state.settings.user
            described = {"step": "WORKDIR", "path": path, "owner": owner}
            return _Step(instruction.line, described, lambda slot: make_folder(slot, path, owner))
        if instruction.name == "RUN":
            return self._run_step(instruction, state, at)
        return self._copy_step(instruction, state, at)

    def _run_step(self, instruction: Instruction, state: StageState, at: int) -> _Step:
        command = read_command(instruction, state)
        bound = {
            mount.target: self._source(mount.source_stage, at, instruction.line)
            for mount in command.mounts
            if mount.kind == "bind"
        }
        sources = {
            mount.target: bound[mount.target].digest([mount.source])
            for mount in command.mounts
            if mount.kind == "bind"
        }

        def do(slot: ForkSlot) -> None:
            self._say(f"line {instruction.line}: {instruction.original[:200]}")
            with contextlib.ExitStack() as stack:
                trees = {target: stack.enter_context(source.opened()) for target, source in bound.items()}
                run_command(slot, command, trees, self._left_s())

        return _Step(instruction.line, {**_described(command), "bound": sources}, do)

    def _left_s(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise SandboxError(
                f"the build took longer than its {self._build.timeout_s:.0f} s",
                remedy=TOO_LONG_REMEDY,
                boundary="image",
            )
        return left

    def _copy_step(self, instruction: Instruction, state: StageState, at: int) -> _Step:
        line = instruction.line
        words = [state.expand(word, line) for word in instruction.args]
        documents = {
            found.name: state.expand_content(found.text, line) if found.expands else found.text
            for found in instruction.heredocs
        }
        plain = [
            word
            for word, raw in zip(words[:-1], instruction.args[:-1], strict=True)
            if instruction.is_json or read_heredoc(raw) is None
        ]
        if any(word.startswith(("http://", "https://", "git@", "git://", "ssh://")) for word in plain):
            raise UnsupportedError(f"{instruction.name} takes a file from the network", line)
        wish = Wish(
            state.place(words[-1]),
            state.expand(instruction.flag("chown"), line),
            _mode(state.expand(instruction.flag("chmod"), line), line),
            unpacks=instruction.name == "ADD" and instruction.flag("unpack") != "false",
        )
        source = self._source(instruction.flag("from"), at, line)
        described = {
            "step": "COPY",
            "wish": [wish.destination, wish.owner, wish.mode, wish.unpacks],
            "sources": source.digest(plain) if plain else "",
            "documents": documents,
        }

        def do(slot: ForkSlot) -> None:
            self._left_s()
            self._say(f"line {line}: {instruction.original[:200]}")
            if plain:
                with source.opened() as tree:
                    place(slot, tree, plain, wish)
            if documents:
                place(slot, DocumentTree(documents), list(documents), replace(wish, unpacks=False))

        return _Step(line, described, do)

    def _source(self, wanted: str, at: int, line: int) -> _Source:
        if not wanted:
            if self._context is None:
                self._context = Context(self._build.context)
            return _ContextSource(self._context)
        earlier = earlier_stage(self._dockerfile, wanted, at)
        if wanted.isdigit() and earlier is None:
            raise DockerfileError(f"there is no stage {wanted} before this one", line)
        built = self._base(wanted) if earlier is None else self._stage(earlier)[0]
        return _StageSource(built, self._workshop)


def _layer(built: Built, steps: Sequence[_Step], workshop: Workshop) -> Built:
    """The root with the steps' changes laid over it."""
    if not steps:
        return built
    digest = built.digest
    for step in steps:
        digest = chain_digest(digest, step.described)

    def make(name: str) -> dict[str, Any]:
        with workshop.open_root(built.lowers, built.trees, {}, BUILD_LIMITS, name, is_build=True) as slot:
            for step in steps:
                with _told_where(step.line, slot, workshop):
                    step.do(slot)
        return {}

    if workshop.store.find(digest) is None:
        workshop.store.make(digest, make)
    return replace(built, lowers=(layer_id(digest), *built.lowers), digest=digest)


def _mode(text: str, line: int) -> int | None:
    if not text:
        return None
    try:
        mode = int(text, 8)
    except ValueError:
        raise UnsupportedError(f"--chmod={text} is no octal number", line) from None
    if not 0 <= mode <= 0o7777:
        raise DockerfileError(f"--chmod={text} is no mode", line)
    return mode


def _described(command: Command) -> dict[str, Any]:
    return {
        "step": "RUN",
        "argv": command.argv,
        "env": dict(command.env),
        "user": command.user,
        "workdir": command.workdir,
        "network": command.has_network,
        "script": command.script,
        "mounts": [[mount.kind, mount.source, mount.target] for mount in command.mounts],
    }


@contextlib.contextmanager
def _told_where(line: int, slot: ForkSlot, workshop: Workshop) -> Iterator[None]:
    """Name the line in what goes wrong; it is the image's fault, unless the disk is full."""
    try:
        yield
    except DockerfileError:
        raise
    except SandboxError as error:
        if slot.was_stopped_by_disk or "is full" in str(error):
            raise full_disk(workshop.store.folder) from None
        if error.boundary == "sandbox":
            raise
        raise DockerfileError(str(error), line, remedy=error.remedy) from None


class _Source(Protocol):
    """Where COPY and mounts take from."""

    def digest(self, sources: Sequence[str]) -> str: ...

    def opened(self) -> contextlib.AbstractContextManager[Any]: ...


class _ContextSource:
    def __init__(self, context: Context) -> None:
        self._context = context

    def digest(self, sources: Sequence[str]) -> str:
        names = [name for source in sources for name in self._context.find(source)]
        found = hashlib.sha256()
        for name in names:
            found.update(f"{name}\0{self._context.digest(name)}\0".encode("utf-8", "surrogateescape"))
        return found.hexdigest()

    @contextlib.contextmanager
    def opened(self) -> Iterator[Context]:
        yield self._context


class _StageSource:
    def __init__(self, built: Built, workshop: Workshop) -> None:
        self._built = built
        self._workshop = workshop

    def digest(self, sources: Sequence[str]) -> str:
        return chain_digest(self._built.digest, {"sources": list(sources)})

    @contextlib.contextmanager
    def opened(self) -> Iterator[StageTree]:
        with (
            self._workshop.store.workspace("stage") as name,
            self._workshop.open_root(
                self._built.lowers, self._built.trees, {}, BUILD_LIMITS, name, is_build=True
            ) as slot,
        ):
            yield StageTree(slot)


def _refuse_unknown(dockerfile: Dockerfile) -> None:
    """What is refused before anything has run."""
    if dockerfile.syntax.partition(":")[0] not in _SUPPORTED_SYNTAX:
        raise UnsupportedError(f"the syntax {dockerfile.syntax} is another builder's")
    for stage in dockerfile.stages:
        for instruction in stage.instructions:
            for flag in ("parents", "exclude", "checksum", "device"):
                if instruction.flag(flag) not in ("", "false"):
                    raise UnsupportedError(f"{instruction.name} has --{flag}", instruction.line)
            if instruction.flag("security") not in ("", "sandbox"):
                raise UnsupportedError("RUN wants more rights than a sandbox gives", instruction.line)
