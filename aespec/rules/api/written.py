"""The texts of a task that hold code or content, wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator

from aespec.model.expressions import Const, Text
from aespec.model.task import PutEdit, Script, SwapEdit, Task
from aespec.rules.api.subject import Subject, setup_texts


def content_texts(task: Task) -> Iterator[Text]:
    """Scripts and contents of files, with the tags that values are written in by: setup, oracle, examples."""
    yield from setup_texts(task.setup)
    yield task.step.oracle.text
    for example in (*task.step.accepts, *task.step.rejects, *task.step.partials):
        if isinstance(example.body, Script):
            yield example.body.text
            continue
        for edit in example.body:
            if isinstance(edit, PutEdit):
                yield edit.content


def all_texts(subject: Subject) -> Iterator[Text]:
    """Those, and every sentence, hidden file, swap and argument of a predicate that is a text."""
    task = subject.task
    step = task.step
    yield from content_texts(task)
    yield step.instruction
    for item in step.verify.checks:
        if item.says is not None:
            yield item.says
        for rule in item.rules:
            yield rule.sentence
    for hidden in step.verify.hidden_files:
        yield hidden.content
    for example in (*step.rejects, *step.partials, *step.accepts):
        if not isinstance(example.body, Script):
            for edit in example.body:
                if isinstance(edit, SwapEdit):
                    yield from (edit.old, edit.new)
    for placed in subject.claims:
        for _, expr in placed.claim.args:
            if isinstance(expr, Text):
                yield expr
            elif isinstance(expr, Const) and isinstance(expr.value, str):
                yield Text((expr.value,), span=expr.span)
