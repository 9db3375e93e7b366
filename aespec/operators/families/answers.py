"""More than the answer: every candidate is named beside it, or its contradiction."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aespec.model.chooser import Chooser, shuffled
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import rewrite, text_in
from aespec.operators.leaves import Leaf, leaves_of, set_leaf
from aespec.operators.near import misspelled, negated, off_by_little
from aespec.operators.spots import WORD

SHORT_LINES = 3
SHORT_CHARACTERS = 200
CANDIDATES = 6
INPUT_CHARACTERS = 20_000


def _is_short(output: Output) -> bool:
    text = text_in(output).strip()
    return 0 < len(text) <= SHORT_CHARACTERS and text.count("\n") < SHORT_LINES


def candidates(answer: str, scene: Scene, others: list[str], chooser: Chooser) -> list[str]:
    """Values of the answer's own form: from its neighbours, the inputs and the instruction, then made up."""
    form = _form(answer)
    texts = [data[:INPUT_CHARACTERS].decode("utf-8", "replace") for _, data in sorted(scene.inputs.items())]
    found = dict.fromkeys(
        word
        for text in ("\n".join(others), *texts, scene.instruction)
        for word in (*text.split("\n"), *WORD.findall(text))
        if word != answer and _form(word) == form
    )
    made = off_by_little(answer) or [misspelled(answer), f"{answer}2"]
    drawn = [word for word, _ in zip(shuffled(list(found), chooser), range(CANDIDATES), strict=False)]
    return [*drawn, *made][:CANDIDATES]


def _form(word: str) -> str:
    """Letters, digits and marks in the order in which they come, runs as one; the length doesn't count."""
    form = re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", word.strip()))
    return form if len(form) < SHORT_CHARACTERS else word


def _all_in_lines(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    if not _is_short(output):
        return
    text = text_in(output)
    answer = text.strip().split("\n")[-1].strip()
    others = candidates(answer, scene, [], chooser)
    end = "\n" if text.endswith("\n") else ""
    says = f"other candidates stand beside the answer: {', '.join(others)[:60]}"
    listed = "\n".join([text.rstrip("\n"), *others])
    yield Draft(output.path, (rewrite(output, listed + end),), says)
    yield Draft(output.path, (rewrite(output, ", ".join([text.strip(), *others]) + end),), says)


def _all_in_value(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    texts = [leaf for leaf in leaves_of(output) if isinstance(leaf.value, str) and _is_answer(leaf)]
    for leaf in shuffled(texts, chooser):
        assert isinstance(leaf.value, str)
        beside = [str(other.value) for other in texts if other is not leaf]
        others = candidates(leaf.value, scene, beside, chooser)
        edit = set_leaf(output, leaf, ", ".join([leaf.value, *others]))
        if edit is not None:
            says = f"other candidates stand beside the answer: {', '.join(others)[:60]}"
            yield Draft(leaf.address, (edit,), says)


def _is_answer(leaf: Leaf) -> bool:
    return 0 < len(str(leaf.value)) <= SHORT_CHARACTERS and "\n" not in str(leaf.value)


def _contradicted(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    if not _is_short(output):
        return
    text = text_in(output)
    answer = text.strip().split("\n")[-1].strip()
    other = negated(answer) or f"not {answer}"
    end = "\n" if text.endswith("\n") else ""
    edit = rewrite(output, "\n".join([text.rstrip("\n"), other]) + end)
    yield Draft(output.path, (edit,), "its contradiction follows the answer")


OPERATORS = (
    (Operator("all-candidates", "answers", ("text",), "wrong"), _all_in_lines),
    (Operator("candidates-in-value", "answers", ("json", "yaml", "toml", "xml"), "wrong"), _all_in_value),
    (Operator("contradiction", "answers", ("text",), "wrong"), _contradicted),
)
