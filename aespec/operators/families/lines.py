"""A line of a text is missing, stands there twice, or has changed places with the next one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from aespec.model.chooser import Chooser, shuffled
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import rewrite, text_in
from aespec.operators.formats.json_text import read_json
from aespec.operators.intent import is_order_told
from aespec.operators.leaves import leaves_of

TEXTS = ("text", "json")


def _numbers(output: Output) -> list[int]:
    """The numbers, from 0, of the lines that hold something; of JSON only where it stands on lines."""
    text = text_in(output)
    if output.kind == "json":
        parsed = read_json(text)
        if parsed is None or not parsed.is_lines:
            return []
        return [number for number, line in enumerate(text.split("\n")) if line.strip()]
    return [int(leaf.selector) - 1 for leaf in leaves_of(output) if leaf.selector]


def _dropped(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    lines, numbers = text_in(output).split("\n"), _numbers(output)
    for number in shuffled(numbers if len(numbers) > 1 else [], chooser):
        kept = [*lines[:number], *lines[number + 1 :]]
        where = _address(output, min(number + 1, len(kept)))
        yield Draft(where, (rewrite(output, "\n".join(kept)),), f"line {number + 1} is missing")


def _doubled(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    lines = text_in(output).split("\n")
    for number in shuffled(_numbers(output), chooser):
        edit = rewrite(output, "\n".join([*lines[: number + 1], *lines[number:]]))
        yield Draft(_address(output, number + 1), (edit,), f"line {number + 1} stands there twice")


def _swapped(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    if output.kind == "text" and (is_order_told(scene) or not _is_list(output)):
        yield from _exchanged(output, chooser)


def _exchanged(output: Output, chooser: Chooser) -> Iterator[Draft]:
    lines, numbers = text_in(output).split("\n"), _numbers(output)
    pairs = [(one, other) for one, other in pairwise(numbers) if lines[one] != lines[other]]
    for one, other in shuffled(pairs, chooser):
        changed = list(lines)
        changed[one], changed[other] = lines[other], lines[one]
        says = f"the lines {one + 1} and {other + 1} have changed places"
        yield Draft(_address(output, one + 1), (rewrite(output, "\n".join(changed)),), says)


def _is_list(output: Output) -> bool:
    """Whether lines look alike, so that they may well stand in any order: as many words in each."""
    lines = [leaf.raw for leaf in leaves_of(output)]
    return len({len(line.split()) for line in lines}) == 1 or all(
        ":" in line or "=" in line for line in lines
    )


def _list_swapped(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    if output.kind == "json" or not (is_order_told(scene) or not _is_list(output)):
        yield from _exchanged(output, chooser)


def _address(output: Output, number: int) -> str:
    return f"{output.path}#{number}"


OPERATORS = (
    (Operator("dropped-line", "lines", TEXTS, "wrong"), _dropped),
    (Operator("doubled-line", "lines", TEXTS, "wrong"), _doubled),
    (Operator("swapped-lines", "lines", ("text",), "wrong"), _swapped),
    (Operator("reordered-lines", "order", TEXTS, "depends"), _list_swapped),
)
