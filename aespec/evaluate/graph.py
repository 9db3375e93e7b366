"""What in a task has to be evaluated, and what each part needs before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from aespec.evaluate.start_state import FileMaker, Place, iterate_makers, path_text
from aespec.model.expressions import Kind, Program, Ref, Text, Values, iterate_refs
from aespec.model.paths import is_below
from aespec.model.task import AssetStep, Computed, FileStep, GenerateStep, Param, RepoStep, Secret, Task
from aespec.source import Span

Key: TypeAlias = tuple[Kind, str] | Place
"""A node of the dependency graph: a declaration, or a place in setup where files are made."""


@dataclass(frozen=True, slots=True)
class Node:
    """One thing to evaluate: a declaration or a maker of files, and what has to be there before."""

    key: Key
    item: Param | Computed | Secret | FileMaker
    needs: frozenset[Key]
    program: Program | None = None

    @property
    def span(self) -> Span:
        """Where it stands in the spec."""
        return self.item.span

    @property
    def reads(self) -> tuple[Text, ...]:
        """The start-state paths that it reads."""
        return self.item.reads if isinstance(self.item, Computed) else ()

    @property
    def name(self) -> str:
        """How it is called in messages and as a seed: `answer.totals`, `generate /app/a.csv`."""
        item = self.item
        if isinstance(item, FileStep | GenerateStep | AssetStep):
            shown = "".join(part if isinstance(part, str) else "{{…}}" for part in item.path.parts)
            verb = {FileStep: "file", GenerateStep: "generate", AssetStep: "asset"}[type(item)]
            return f"{verb} {shown}"
        if isinstance(item, Computed):
            return f"{item.kind.value}.{item.name}"
        return f"{'p' if isinstance(item, Param) else 'secret'}.{item.name}"


def list_nodes(task: Task, values: Values) -> list[Node]:
    """Every declaration and maker of files with what it needs, in source order.

    `values` are the draws, which say where the files will lie.
    """
    makers = iterate_makers(task.setup)
    nodes: list[Node] = []
    for item in task.declarations:
        if isinstance(item, Computed):
            body = item.body
            refs = list(body.uses) if isinstance(body, Program) else list(iterate_refs(body))
            refs += [ref for text in item.reads for ref in text.refs]
            needs = {*_keys(refs), *_sources(task, item.reads, makers, values)}
            program = body if isinstance(body, Program) else None
            nodes.append(Node((item.kind, item.name), item, frozenset(needs), program))
        else:
            kind = Kind.PARAM if isinstance(item, Param) else Kind.SECRET
            nodes.append(Node((kind, item.name), item, frozenset(_keys(iterate_refs(item.generator)))))
    for place, maker in makers:
        refs = list(maker.path.refs)
        if isinstance(maker, FileStep):
            refs += maker.content.refs
        elif isinstance(maker, GenerateStep):
            refs += maker.program.uses
        program = maker.program if isinstance(maker, GenerateStep) else None
        nodes.append(Node(place, maker, frozenset(_keys(refs)), program))
    return nodes


def _sources(
    task: Task, reads: Sequence[Text], makers: Sequence[tuple[Place, FileMaker]], values: Values
) -> Iterator[Key]:
    """The makers whose files a reader may see: those at, above or below its paths, or all where unknown."""
    wanted = [path_text(text, values) for text in reads]
    for place, maker in makers:
        step = task.setup.steps[place[0]]
        text = step.path if isinstance(step, RepoStep) else maker.path
        path = path_text(text, values)
        for read in wanted:
            if read is None or path is None or is_below(path, read) or is_below(read, path):
                yield place
                break


def _keys(refs: Iterable[Ref]) -> set[Key]:
    return {(ref.kind, ref.name) for ref in refs}
