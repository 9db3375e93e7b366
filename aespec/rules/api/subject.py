"""What rules look at: the task, and what several of them need to know about it, computed once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from aespec import predicates
from aespec.model.expressions import (
    Const,
    Expr,
    Json,
    ListExpr,
    MapExpr,
    Ref,
    Text,
    iterate_refs,
)
from aespec.model.labels import Flow, Key, flows
from aespec.model.lock import Lock
from aespec.model.rendering import value_of
from aespec.model.task import (
    AllOf,
    AnyOf,
    AssetStep,
    Check,
    Claim,
    Condition,
    FileStep,
    GenerateStep,
    NotOf,
    PlantStep,
    RepoStep,
    Rule,
    RunStep,
    ServiceStep,
    Setup,
    Task,
)
from aespec.records import dataclass
from aespec.runtime.signature import Signature

_NUMBER = re.compile(r"(?<![\w.])-?\d[\d_,]*(?:\.\d+)?(?:[eE][+-]?\d+)?%?")


@dataclass(frozen=True, slots=True)
class Placed:
    """A claim with its check and rule; `negations` counts `not` around it, `is_choice` tells of an `any`."""

    claim: Claim
    check: Check
    rule: Rule | None
    negations: int = 0
    is_choice: bool = False


@dataclass(frozen=True, slots=True)
class Fixture:
    """A file of the start state as far as it is written in the spec; `content` is "" where it isn't known."""

    path: Text
    content: str
    step: FileStep | GenerateStep | AssetStep


class Subject:
    """A task and its lock, with derived views."""

    def __init__(self, task: Task, lock: Lock | None = None) -> None:
        """Nothing is computed before it is asked for."""
        self.task = task
        self.lock = lock

    @cached_property
    def labels(self) -> Mapping[Key, tuple[Flow, ...]]:
        """The labels that each declared value carries."""
        return flows(self.task)

    @cached_property
    def claims(self) -> tuple[Placed, ...]:
        """Every claim of every check, in order."""
        found: list[Placed] = []
        for check in self.task.step.verify.checks:
            for rule in check.rules:
                found.extend(_placed(rule.conditions, check, rule))
            found.extend(_placed(check.conditions, check, None))
        return tuple(found)

    @cached_property
    def fixtures(self) -> tuple[Fixture, ...]:
        """The files of the start state, those of repositories too; secrets planted are not among them."""
        found: list[Fixture] = []
        for step in self.task.setup.steps:
            if isinstance(step, RepoStep):
                for commit in step.commits:
                    found.extend(_fixture(item, step.path) for item in commit.files)
            elif isinstance(step, FileStep | GenerateStep | AssetStep):
                found.append(_fixture(step, None))
        return tuple(found)

    @cached_property
    def fixture_paths(self) -> tuple[str, ...]:
        """The paths that setup makes, values in them as `{p.x}`."""
        paths = [sketch(item.path).rstrip("/") for item in self.fixtures]
        for step in self.task.setup.steps:
            if isinstance(step, RepoStep):
                paths.append(sketch(step.path))
            elif isinstance(step, PlantStep) and isinstance(target := step.how.arg("path"), Text):
                paths.append(sketch(target))
        return tuple(paths)

    @cached_property
    def sentences(self) -> str:
        """What the solver is told: the narrative, what checks say, the rules; values as `{p.x}`."""
        step = self.task.step
        parts = [sketch(step.instruction)]
        for check in step.verify.checks:
            parts.append(sketch(check.says) if check.says else "")
            parts.extend(sketch(rule.sentence) for rule in check.rules)
        return "\n".join(parts)

    @cached_property
    def findable(self) -> str:
        """What the solver is told, and what it can read in the start state's texts."""
        files = [f"{sketch(item.path)}\n{item.content}" for item in self.fixtures]
        return "\n".join([self.sentences, self.own_sentences, *files])

    @cached_property
    def own_sentences(self) -> str:
        """What predicates say of themselves where a check has no `says`."""
        return "\n".join(
            sentence
            for placed in self.claims
            if placed.check.says is None
            and placed.rule is None
            and (sentence := self.says(placed.claim)) is not None
        )

    @cached_property
    def numbers(self) -> frozenset[float]:
        """The numbers that the solver is told or can read."""
        found: set[float] = set()
        for match in _NUMBER.finditer(self.findable):
            try:
                number = float(match[0].rstrip("%").rstrip(",").replace(",", "").replace("_", ""))
            except ValueError:
                continue
            found.add(number)
            if match[0].endswith("%"):
                found.add(number / 100)
        return frozenset(found)

    @cached_property
    def refs(self) -> tuple[Ref, ...]:
        """Every reference in the task, declarations included."""
        return tuple(_all_refs(self.task))

    def signature(self, claim: Claim) -> Signature:
        """The signature of a claim's predicate."""
        found = predicates.find(claim.predicate)
        if found is None:
            raise LookupError(claim.predicate)
        return found.signature

    def says(self, claim: Claim) -> str | None:
        """A claim's own sentence, or None where its arguments are values that aren't known yet."""
        args = constant_args(claim)
        return None if args is None else predicates.laws(claim.predicate).says(args)


def _placed(
    items: tuple[Condition, ...], check: Check, rule: Rule | None, negations: int = 0, is_choice: bool = False
) -> Iterator[Placed]:
    for item in items:
        if isinstance(item, Claim):
            yield Placed(item, check, rule, negations, is_choice)
        elif isinstance(item, NotOf):
            yield from _placed(item.items, check, rule, negations + 1, is_choice)
        else:
            yield from _placed(item.items, check, rule, negations, is_choice or isinstance(item, AnyOf))


def iterate_groups(items: tuple[Condition, ...]) -> Iterator[AllOf | AnyOf | NotOf]:
    """The groups among conditions and within them."""
    for item in items:
        if not isinstance(item, Claim):
            yield item
            yield from iterate_groups(item.items)


def names(told: str, wanted: str) -> bool:
    """Whether a text names something, not as part of a longer word or file name."""
    start = told.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        before, after = told[start - 1 : start], told[end : end + 2]
        is_open = not (wanted[0].isalnum() and (before.isalnum() or before == "_"))
        is_ended = not (wanted[-1].isalnum() and (after[:1].isalnum() or after[:1] == "_"))
        is_whole = not (after[:1] == "." and after[1:].isalnum() and "/" in wanted)
        if is_open and is_ended and is_whole:
            return True
        start = told.find(wanted, start + 1)
    return False


def _fixture(step: FileStep | GenerateStep | AssetStep, repository: Text | None) -> Fixture:
    path = step.path
    if repository is not None:
        path = Text((*repository.parts, "/", *step.path.parts), span=step.path.span)
    if isinstance(step, FileStep):
        return Fixture(path, sketch(step.content), step)
    if isinstance(step, AssetStep):
        return Fixture(path, step.data[: 1 << 20].decode("utf-8", "ignore"), step)
    return Fixture(path, "", step)


def sketch(text: Text) -> str:
    """A text with `{p.x}` where values stand, so that equal texts are equal whatever is drawn."""
    parts = []
    for part in text.parts:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, Ref):
            parts.append("{" + ".".join((part.kind.value, part.name, *part.path)) + "}")
    return "".join(parts)


def shape(expr: Expr) -> str | None:
    """The sketch of a text or a path that an expression is, or None where it is something else."""
    if isinstance(expr, Text):
        return sketch(expr)
    if isinstance(expr, Const) and isinstance(expr.value, str):
        return expr.value
    return sketch(Text((expr,), span=expr.span)) if isinstance(expr, Ref) else None


def constant(expr: Expr) -> tuple[Json] | None:
    """The value of an expression that names no other, in a tuple; None where it isn't known yet."""
    if any(True for _ in iterate_refs(expr)):
        return None
    try:
        return (value_of(expr, {}),)
    except TypeError:
        return None


def constant_args(claim: Claim) -> dict[str, Json] | None:
    """The arguments if all of them are known, else None."""
    found: dict[str, Json] = {}
    for name, expr in claim.args:
        value = constant(expr)
        if value is None:
            return None
        found[name] = value[0]
    return found


def each_text(expr: Expr) -> Iterator[Expr]:
    """An expression, or the items of a list."""
    if isinstance(expr, ListExpr):
        yield from expr.items
    else:
        yield expr


def claim_paths(claim: Claim, signature: Signature) -> Iterator[tuple[str, str, Expr]]:
    """The paths among a claim's arguments: argument, path as a sketch, expression."""
    for name, expr in claim.args:
        parameter = signature.param(name)
        if parameter is not None and parameter.kind in {"path", "paths"}:
            for item in each_text(expr):
                path = shape(item)
                if path is not None:
                    yield name, path, item


def _all_refs(task: Task) -> Iterator[Ref]:
    from aespec.model.labels import direct_refs
    from aespec.model.task import Computed

    for item in task.declarations:
        yield from direct_refs(item.body) if isinstance(item, Computed) else iterate_refs(item.generator)
        if isinstance(item, Computed):
            for text in item.reads:
                yield from text.refs
    for text in setup_texts(task.setup):
        yield from text.refs
    for step in task.setup.steps:
        yield from _step_refs(step)
    yield from _judge_refs(task)


def _step_refs(step: object) -> Iterator[Ref]:
    if isinstance(step, GenerateStep):
        yield from step.program.uses
    elif isinstance(step, PlantStep):
        yield step.secret
    elif isinstance(step, RepoStep):
        for commit in step.commits:
            for item in commit.files:
                yield from _step_refs(item)


def setup_texts(setup: Setup) -> Iterator[Text]:
    """Every text of setup that the solver may come to see: paths, contents, commands, variables."""
    for _, text in setup.env:
        yield text
    if setup.dockerfile is not None:
        yield setup.dockerfile
    for step in setup.steps:
        if isinstance(step, RunStep):
            yield step.script
        elif isinstance(step, ServiceStep):
            yield step.command
            if step.health is not None:
                yield step.health
        elif isinstance(step, PlantStep):
            target = step.how.arg("path")
            if isinstance(target, Text):
                yield target
        elif isinstance(step, RepoStep):
            yield step.path
            for commit in step.commits:
                yield commit.message
                yield from commit.deletes
                for item in commit.files:
                    yield from _file_texts(item)
        else:
            yield from _file_texts(step)


def _file_texts(step: FileStep | GenerateStep | AssetStep) -> Iterator[Text]:
    yield step.path
    if isinstance(step, FileStep):
        yield step.content


def _judge_refs(task: Task) -> Iterator[Ref]:
    from aespec.model.task import PutEdit, Script, SwapEdit

    step = task.step
    yield from step.instruction.refs
    yield from step.oracle.text.refs
    for check in step.verify.checks:
        if check.says is not None:
            yield from check.says.refs
        for rule in check.rules:
            yield from rule.sentence.refs
    for placed in Subject(task).claims:
        for _, expr in placed.claim.args:
            yield from iterate_refs(expr)
    texts = [item.content for item in step.verify.hidden_files]
    texts += [item.leaf for item in step.verify.frees] + list(step.verify.artifacts)
    for example in (*step.accepts, *step.rejects, *step.partials):
        if isinstance(example.body, Script):
            texts.append(example.body.text)
            continue
        for edit in example.body:
            if isinstance(edit, SwapEdit):
                texts += [edit.old, edit.new]
            elif isinstance(edit, PutEdit):
                texts.append(edit.content)
            if edit.path is not None:
                texts.append(edit.path)
    for text in texts:
        yield from text.refs


def literal_values(expr: Expr) -> Iterator[Json]:
    """The scalars written out in an expression, keys of maps too."""
    if isinstance(expr, Const):
        yield value_of(expr, {})
    elif isinstance(expr, Text):
        yield from (part for part in expr.parts if isinstance(part, str))
    elif isinstance(expr, ListExpr):
        for item in expr.items:
            yield from literal_values(item)
    elif isinstance(expr, MapExpr):
        for key, item in expr.entries:
            yield key
            yield from literal_values(item)
