"""A task's files as its signs read them: tests, scripts and what the image is made of, bounded."""

from __future__ import annotations

import ast
import posixpath
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from aespec.bundle.foreign import FaultError, ForeignTask, read_solution, read_tests_folder
from aespec.fuzz.cheats.commands import Command, commands_of
from aespec.sandbox.api import SandboxError
from aespec.sandbox.contexts import Context, Item
from aespec.sandbox.dockerfiles import Dockerfile, Instruction, Stage, parse_dockerfile

TEXT_LIMIT = 1 << 17
TEXTS_LIMIT = 1 << 22
FILES_LIMIT = 5_000
"""How much is read: characters of one file, of all files of the image together, and how many files."""

UPLOAD_LIMIT_BYTES = 64 * 1024**2


@dataclass(frozen=True, slots=True)
class Sign:
    """Something to look at: as a finding, with how likely it is right in `rank` (0 … 1)."""

    slug: str
    severity: str
    property: str
    message: str
    rank: float = 0.5


@dataclass(frozen=True, slots=True)
class Copied:
    """A file that a Dockerfile copies: `source` below the build's context, `place` in the image."""

    source: str
    place: str
    item: Item = field(repr=False, compare=False)
    line: int = 0


@dataclass(frozen=True, slots=True)
class Material:
    """All that signs are read off.

    `tests` and `solution` are the text files of those folders, by path below them; `python` those of the
    tests that parse; `script` the commands of the test script. `image` holds the instructions that make the
    agent's image, base stages first; `copied` what they copy. `seen` is every text that the solver finds in
    the image, `told` the instruction, both in small letters.
    """

    task: ForeignTask
    tests: Mapping[str, str] = field(repr=False)
    solution: Mapping[str, str] = field(repr=False)
    python: Mapping[str, ast.Module] = field(repr=False)
    script: tuple[Command, ...] = field(repr=False)
    image: tuple[Instruction, ...] = field(repr=False)
    copied: tuple[Copied, ...] = field(repr=False)
    seen: str = field(repr=False)
    told: str = field(repr=False)

    @property
    def script_text(self) -> str:
        """The test script."""
        return self.tests.get(self.task.test_script, "")

    def knows(self, word: str) -> bool:
        """Whether a word stands in the instruction or in something that the solver finds in the image."""
        word = word.lower()
        return word in self.told or word in self.seen


def gather(task: ForeignTask) -> Material:
    """The material of a task; what can't be read is left out."""
    tests = texts_of_tests(task)
    image = _instructions(task)
    copied = tuple(_copied(task, image))
    return Material(
        task=task,
        tests=tests,
        solution=_texts(task, is_solution=True),
        python={name: tree for name, text in tests.items() if (tree := _parsed(name, text)) is not None},
        script=commands_of(tests.get(task.test_script, "")[:TEXT_LIMIT]),
        image=image,
        copied=copied,
        seen=_seen(task, copied),
        told=task.instruction.lower(),
    )


def texts_of_tests(task: ForeignTask) -> dict[str, str]:
    """The text files of a task's tests, by name; none where they can't be read."""
    return _texts(task, is_solution=False)


def _texts(task: ForeignTask, *, is_solution: bool) -> dict[str, str]:
    try:
        read = read_solution if is_solution else read_tests_folder
        nodes = read(task, UPLOAD_LIMIT_BYTES)
    except FaultError:
        return {}
    found: dict[str, str] = {}
    for name, node in nodes.items():
        if node.kind == "file" and len(node.data) <= TEXT_LIMIT and b"\0" not in node.data:
            found[name] = node.data.decode("utf-8", "replace")
        if len(found) >= FILES_LIMIT:
            break
    return found


def _parsed(name: str, text: str) -> ast.Module | None:
    if not name.endswith(".py"):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _instructions(task: ForeignTask) -> tuple[Instruction, ...]:
    """Those of the last stage and of the stages that it is made from."""
    try:
        made = parse_dockerfile(task.environment.dockerfile or "")
    except SandboxError:
        return ()
    chain: list[Stage] = []
    stage: Stage | None = made.stages[-1]
    while stage is not None and len(chain) <= len(made.stages):
        chain.insert(0, stage)
        stage = _base(made, stage)
    return tuple(instruction for stage in chain for instruction in stage.instructions)


def _base(made: Dockerfile, stage: Stage) -> Stage | None:
    before = made.stages[: made.stages.index(stage)]
    return next(
        (other for other in reversed(before) if other.name and other.name == stage.base.lower()), None
    )


def _copied(task: ForeignTask, image: tuple[Instruction, ...]) -> Iterator[Copied]:
    try:
        context = Context(task.environment.context)
    except (SandboxError, OSError):
        return
    workdir, count = "/", 0
    for instruction in image:
        if instruction.name == "WORKDIR" and instruction.args:
            workdir = posixpath.join(workdir, instruction.args[0].strip("\"'"))
        if instruction.name not in ("COPY", "ADD") or instruction.flag("from"):
            continue
        *sources, target = instruction.args
        place = posixpath.normpath(posixpath.join(workdir, target))
        for source in sources:
            for copied in _items(context, source, place, target.endswith("/") or len(sources) > 1):
                count += 1
                if count > FILES_LIMIT:
                    return
                yield Copied(copied.source, copied.place, copied.item, instruction.line)


def _items(context: Context, source: str, place: str, is_folder: bool) -> Iterator[Copied]:
    if "://" in source or source.startswith(("<<", "git@")):
        return
    try:
        for name in context.find(source):
            for item in context.items(name):
                if item.kind != "file":
                    continue
                own = item.name or (posixpath.basename(name) if is_folder or place == "/" else "")
                yield Copied(
                    posixpath.join(name, item.name) if item.name else name,
                    posixpath.join(place, own) if own else place,
                    item,
                )
    except (SandboxError, OSError):
        return


def _seen(task: ForeignTask, copied: tuple[Copied, ...]) -> str:
    """The texts of the copied files, their names, and the Dockerfile, which makes files as well."""
    parts = [task.environment.dockerfile or ""]
    left = TEXTS_LIMIT
    for one in copied:
        parts.append(one.place)
        if one.item.size > TEXT_LIMIT or left <= 0:
            continue
        try:
            with one.item.open() as stream:
                data = stream.read(TEXT_LIMIT)
        except OSError:
            continue
        if b"\0" not in data:
            parts.append(data.decode("utf-8", "replace"))
            left -= len(data)
    return "\n".join(parts).lower()
