"""A task and a seed become an instance: draws, expressions, programs, fixtures, in dependency order."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from aespec.diagnostics.diagnostic import Diagnostic
from aespec.evaluate.draws import GeneratorError, draw_value
from aespec.evaluate.failures import error, explain_failure
from aespec.evaluate.graph import Key, Node, list_nodes
from aespec.evaluate.programs import Failure, Job, Made, ProgramRunner
from aespec.evaluate.start_state import (
    FileMaker,
    Place,
    assemble,
    encode_text,
    owner_of,
    path_text,
    start_files,
)
from aespec.model.expressions import CheckSlot, Json, Kind, Program, Ref, iterate_refs
from aespec.model.instance import FixtureFile, Instance
from aespec.model.paths import is_below
from aespec.model.rendering import MissingValueError, look_up, render, value_of
from aespec.model.task import (
    AssetStep,
    CheckedTask,
    Computed,
    FileStep,
    GenerateStep,
    Param,
    PlantStep,
    RepoStep,
    Secret,
    Task,
)
from aespec.resolve.paths import path_fault, relative_fault, reserved_root
from aespec.source import Source, Span

MOST_WRITTEN_BYTES = 128 * 1024**2
"""What values come to wherever they are named, written out: one that names another one twice, and so on a
few dozen times, would outgrow any memory."""


MOST_DRAWN_BYTES = 2 * 1024**2
"""What parameters and secrets come to together: each small draw in them takes some 30 microseconds."""


class _StopError(Exception):
    """Evaluation can't go on; the diagnostic says why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.headline)
        self.diagnostic = diagnostic


def draw_params(task: Task, seed: int) -> Mapping[str, Json]:
    """The parameters of an instance; raises `GeneratorError`. What refers to computed values is left out."""
    values = _draw(task, seed)
    return {name: value for (kind, name), value in values.items() if kind is Kind.PARAM}


def evaluate(
    task: CheckedTask, seed: int, runner: ProgramRunner
) -> tuple[Instance | None, tuple[Diagnostic, ...]]:
    """The instance of a task for a seed; its programs run in the runner's sandbox and nowhere else.

    Equal task and seed give an equal instance on every machine with the same evaluator root. A fault of the
    spec is a diagnostic; `SandboxError` means that the outside world failed.
    """
    try:
        return _Evaluation(task, seed, runner).run(), ()
    except _StopError as stop:
        return None, (stop.diagnostic,)


def _draw(task: Task, seed: int) -> dict[tuple[Kind, str], Json]:
    values: dict[tuple[Kind, str], Json] = {}
    drawn = 0
    left = [item for item in task.declarations if isinstance(item, Param | Secret)]
    while left:
        ready = [
            item
            for item in left
            if all((ref.kind, ref.name) in values for ref in iterate_refs(item.generator))
        ]
        if not ready:
            break
        for item in ready:
            kind = Kind.PARAM if isinstance(item, Param) else Kind.SECRET
            values[(kind, item.name)] = draw_value(
                task.name, seed, kind=kind, name=item.name, generator=item.generator, values=values
            )
            drawn += _size_of(values[(kind, item.name)])
            if drawn > MOST_DRAWN_BYTES:
                raise GeneratorError(
                    f"{item.generator.name} draws more than {MOST_DRAWN_BYTES // 1024**2} MiB, with what was "
                    "drawn before; draw large values in a program, from `rng`"
                )
        left = [item for item in left if item not in ready]
    return values


@dataclass(slots=True)
class _Evaluation:
    """The work in progress on one instance."""

    task: CheckedTask
    seed: int
    runner: ProgramRunner
    values: dict[tuple[Kind, str], Json] = field(default_factory=dict)
    made: dict[Place, tuple[FixtureFile, ...]] = field(default_factory=dict)
    used_programs: bool = False
    sizes: dict[tuple[Kind, str, tuple[str, ...]], int] = field(default_factory=dict)
    written: int = 0

    def run(self) -> Instance:
        """Evaluate everything."""
        try:
            self.values = _draw(self.task, self.seed)
        except GeneratorError as fault:
            raise _StopError(self._draw_fault(fault)) from None
        for value in self.values.values():
            self._count(_size_of(value), self.task.span)
        left = [node for node in list_nodes(self.task, self.values) if node.key not in self.values]
        while left:
            left = self._advance(left)
        self._check_references()
        files, repos, planted = assemble(self.task.setup, self.made, self.values)
        image = self.runner.image if self.used_programs else None
        return Instance(
            task=self.task.name,
            seed=self.seed,
            params={name: value for (kind, name), value in self.values.items() if kind is Kind.PARAM},
            values=self.values,
            files=tuple(files),
            repos=tuple(repos),
            planted=tuple(planted),
            evaluator=image.digest if image else "",
            is_reproducible=image.is_reproducible if image else True,
        )

    def _advance(self, left: list[Node]) -> list[Node]:
        """Evaluate what is ready; else run the largest batch of programs; the nodes that are left."""
        later = [node for node in left if not (node.needs <= self._done() and self._settle(node))]
        if len(later) < len(left):
            return later
        batch = self._batch(left)
        if not batch:
            raise _StopError(self._cycle(left))
        self._run_batch(batch)
        gone = {node.key for node in batch}
        return [node for node in left if node.key not in gone]

    def _done(self) -> set[Key]:
        return {*self.values, *self.made}

    def _write(self, ref: Ref) -> None:
        """Look a reference up and count its value, which is about to be written in."""
        place = (ref.kind, ref.name, ref.path)
        with _missing_as_diagnostic():
            value = look_up(ref, self.values)
        if place not in self.sizes:
            self.sizes[place] = _size_of(value)
        self._count(self.sizes[place], ref.span)

    def _count(self, size: int, span: Span) -> None:
        self.written += size
        if self.written > MOST_WRITTEN_BYTES:
            raise _StopError(
                error(
                    "oversized-value",
                    f"values written out come to more than {MOST_WRITTEN_BYTES // 1024**2} MiB with this one",
                    span,
                    "Values that name others more than once grow as a product.",
                    "Name large values less often, or let one program make what is needed of them.",
                )
            )

    def _settle(self, node: Node) -> bool:
        """Evaluate a ready node here if it has no program or its result is kept; whether that was done."""
        item = node.item
        if node.program is None:
            for ref in _iterate_all_refs(item):
                self._write(ref)
        if node.program is not None:
            job = self._job(node, node.program, {})
            made = self.runner.recall(job, self._visible(job))
            self.used_programs = True
            if made is not None:
                self._take(node, made)
            return made is not None
        if isinstance(item, Param | Secret):
            kind = Kind.PARAM if isinstance(item, Param) else Kind.SECRET
            try:
                drawn = draw_value(
                    self.task.name,
                    self.seed,
                    kind=kind,
                    name=item.name,
                    generator=item.generator,
                    values=self.values,
                )
            except GeneratorError as fault:
                raise _StopError(self._draw_fault(fault, item.span)) from None
            self.values[(kind, item.name)] = drawn
        elif isinstance(item, Computed) and not isinstance(item.body, Program):
            with _missing_as_diagnostic():
                self.values[(item.kind, item.name)] = value_of(item.body, self.values)
        elif isinstance(item, FileStep | AssetStep):
            self._take_files(node, {"": self._constant_bytes(item)})
        return True

    def _constant_bytes(self, item: FileStep | AssetStep) -> bytes:
        if isinstance(item, AssetStep):
            return item.data
        with _missing_as_diagnostic():
            text = render(item.content, self.values)
        try:
            return encode_text(text, item.newline, item.encoding)
        except (UnicodeError, LookupError) as fault:
            raise _StopError(
                error(
                    "unencodable-text",
                    f"the text can't be written as {item.encoding}: {fault}",
                    item.span,
                    "A file's bytes are its text in its encoding.",
                    "Use utf-8, or leave out the characters that the encoding lacks.",
                )
            ) from None

    def _batch(self, left: Sequence[Node]) -> list[Node]:
        """Programs that can run in one go: each needs what is done, or what one before it makes."""
        batch: list[Node] = []
        there = self._done()
        grew = True
        while grew:
            grew = False
            for node in left:
                if node.program is None or node in batch or not node.needs <= there:
                    continue
                batch.append(node)
                if isinstance(node.key[1], str) or self._is_final(node):
                    there.add(node.key)
                grew = True
        return batch

    def _is_final(self, node: Node) -> bool:
        """Whether the files that a generating step makes stay as they are: nothing else writes there."""
        if not isinstance(node.item, GenerateStep) or node.key[1] != -1:
            return False
        path = path_text(node.item.path, self.values)
        if path is None:
            return False
        for index, step in enumerate(self.task.setup.steps):
            if index == node.key[0]:
                continue
            if isinstance(step, PlantStep):
                other = str(value_of(step.how.args[0][1], self.values)) if step.how.args else ""
            elif isinstance(step, FileStep | GenerateStep | AssetStep | RepoStep):
                other = path_text(step.path, self.values) or path
            else:
                continue
            if is_below(path, other) or is_below(other, path):
                return False
        return True

    def _run_batch(self, batch: Sequence[Node]) -> None:
        inside = {node.key: node.name for node in batch}
        pairs = [(node, node.program) for node in batch if node.program is not None]
        jobs = [self._job(node, body, inside) for node, body in pairs]
        visible: dict[str, bytes] = {}
        for job in jobs:
            visible.update(self._visible(job, strict=False))
        results = self.runner.run(jobs, visible)
        for (node, body), result in zip(pairs, results, strict=False):
            if isinstance(result, Failure):
                raise _StopError(explain_failure(f"the program of {node.name}", body, result))
            whole = self._job(node, body, {})
            self._take(node, result)
            self.runner.keep(whole, self._visible(whole), result)

    def _job(self, node: Node, body: Program, inside: Mapping[Key, str]) -> Job:
        """The job of a node; values that the batch itself makes are bound later."""
        binds: dict[str, Json] = {}
        later: list[tuple[str, str, tuple[str, ...]]] = []
        with _missing_as_diagnostic():
            for ref in body.uses:
                is_whole = ref.kind in (Kind.PARAM, Kind.LET) or not ref.path
                slot = f"{ref.kind.value}.{ref.name if is_whole else ref.path[-1]}"
                path = () if is_whole else ref.path
                source = inside.get((ref.kind, ref.name))
                if source is not None:
                    later.append((slot, source, path))
                else:
                    whole = Ref(ref.kind, ref.name, path, span=ref.span)
                    binds[slot] = look_up(whole, self.values)
            makes, where = "value", ""
            if isinstance(node.item, GenerateStep):
                where = self._path(node.item, node.key)
                makes = "folder" if where.endswith("/") else "file"
                where = where if where.startswith("/") else f"/{where}"
            reads = tuple(render(text, self.values) for text in node.reads)
        rng = f"{self.task.name}/{self.seed}/{node.name}"
        if isinstance(node.key[1], int) and node.key[1] >= 0:
            rng += f"/{node.key[1]}"  # the same path in several commits
        return Job(node.name, makes, body.text, rng, where, binds, tuple(later), reads)

    def _visible(self, job: Job, *, strict: bool = True) -> dict[str, bytes]:
        """The start-state files that a job may see; a path with nothing known there is an error."""
        if not job.reads:
            return {}
        files, repos, _ = assemble(self.task.setup, self.made, self.values)
        everything = start_files(self.task.setup, files, repos, self.values)
        seen = {
            path: data for path, data in everything.items() if any(is_below(path, read) for read in job.reads)
        }
        if strict:
            for read in job.reads:
                if not any(is_below(path, read) for path in seen):
                    raise _StopError(self._unreadable(job, read))
        return seen

    def _take(self, node: Node, made: Made) -> None:
        if isinstance(node.item, Computed):
            self.values[(node.item.kind, node.item.name)] = made.value
        else:
            self._take_files(node, made.files)

    def _take_files(self, node: Node, files: Mapping[str, bytes]) -> None:
        """Keep what a maker made; paths of a commit stay relative to their repository."""
        item = node.item
        place = node.key
        if not isinstance(item, FileStep | GenerateStep | AssetStep) or len(place) != 3:
            raise TypeError(f"{node.name} makes no files")
        own = self._path(item, place)
        found = []
        for path, data in files.items():
            shown = path if own.endswith("/") else own
            if place[1] >= 0:
                shown = shown.lstrip("/")
                found.append(FixtureFile(shown, data, item.mode, item.owner or "", place[0]))
            else:
                owner = owner_of(shown, item.owner, self.task.setup)
                found.append(FixtureFile(shown, data, item.mode, owner, place[0]))
        self.made[place] = tuple(found)

    def _path(self, item: FileMaker, key: Key) -> str:
        with _missing_as_diagnostic():
            path = render(item.path, self.values)
        if key[1] == -1:
            fault = path_fault(path, is_folder_allowed=isinstance(item, GenerateStep))
            root = reserved_root(path)
        else:
            fault, root = relative_fault(path.removesuffix("/")), None
        if fault is not None or root is not None:
            reason = fault or f"is in {root}, which is the harness's or the kernel's"
            raise _StopError(_bad_path(path, reason, item.path.span))
        return path

    def _check_references(self) -> None:
        """Every reference of the whole task leads somewhere, so that what comes later can render it."""
        for ref in _iterate_all_refs(self.task):
            self._write(ref)

    def _draw_fault(self, fault: GeneratorError, span: Span | None = None) -> Diagnostic:
        where = span or self.task.span
        for item in self.task.declarations:
            if span is None and isinstance(item, Param | Secret) and item.generator.name in str(fault):
                where = item.generator.span
                break
        return error(
            "empty-generator",
            str(fault),
            where,
            "A generator says which values a parameter may take; this one leaves none.",
            "Give it arguments that leave something to draw; see docs/language.md.",
        )

    def _cycle(self, left: Sequence[Node]) -> Diagnostic:
        names = ", ".join(node.name for node in left)
        return error(
            "value-cycle",
            f"these need each other: {names}",
            left[0].item.span,
            "A value is computed once, from values and files that are there before it.",
            "Break the cycle: compute what both need in a `hidden` of its own.",
        )

    def _unreadable(self, job: Job, read: str) -> Diagnostic:
        span = self.task.span
        for item in self.task.declarations:
            if isinstance(item, Computed) and f"{item.kind.value}.{item.name}" == job.id:
                span = next(
                    (text.span for text in item.reads if path_text(text, self.values) == read), item.span
                )
        return error(
            "unreadable-start-state",
            f"{job.id} reads {read}, whose content isn't known before the build",
            span,
            "Programs see what `file`, `generate`, `asset`, `repo` and `plant` put; what a `run` step makes "
            "exists only in the built image.",
            "Make the file by `generate`, or take another path.",
        )


class _missing_as_diagnostic:  # noqa: N801 - reads as the statement that it is used in
    """Turns a reference that leads nowhere into a diagnostic at its place."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, fault: BaseException | None, trace: object) -> None:
        if isinstance(fault, MissingValueError):
            raise _StopError(
                error(
                    "missing-part",
                    str(fault),
                    fault.ref.span,
                    "The value was computed, and it has no such part.",
                    "Name a part that the program emits, or let it emit this one.",
                )
            ) from None


def _size_of(value: Json) -> int:
    """About as many bytes as a value has as JSON, counted no further than is too much.

    What stands in it twice counts twice, though it is there but once: it will be written out.
    """
    size = 0
    left: list[Json] = [value]
    while left and size <= MOST_WRITTEN_BYTES:
        item = left.pop()
        size += 8
        if isinstance(item, str):
            size += len(item)
        elif isinstance(item, list):
            left.extend(item)
        elif isinstance(item, dict):
            size += sum(8 + len(key) for key in item)
            left.extend(item.values())
    return size


def _bad_path(path: str, reason: str, span: Span) -> Diagnostic:
    return error(
        "invalid-path",
        f"the path {path!r}, as drawn, {reason}",
        span,
        "Setup writes plain files at plain places, on every instance.",
        "Write the path out, or draw values that keep it plain.",
    )


def _iterate_all_refs(item: object) -> Iterator[Ref]:
    """Every reference anywhere below a part of the model."""
    if isinstance(item, Ref):
        yield item
    elif isinstance(item, tuple):
        for part in item:
            yield from _iterate_all_refs(part)
    elif dataclasses.is_dataclass(item) and not isinstance(item, Source | Span | CheckSlot | type | Enum):
        for part in dataclasses.fields(item):
            yield from _iterate_all_refs(getattr(item, part.name))
