"""Blanks and letter case, where texts may or may not mean them."""

from __future__ import annotations

from collections.abc import Iterator

from aespec.model.chooser import Chooser, shuffled
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import rewrite, text_in
from aespec.operators.spots import words_of


def _indented(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    text = text_in(output)
    lines = [f"  {line}" if line.strip() else line for line in text.split("\n")]
    yield Draft(output.path, (rewrite(output, "\n".join(lines)),), "its lines are indented")


def _blank_lines(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    text = text_in(output)
    yield Draft(output.path, (rewrite(output, f"\n{text}"),), "a blank line stands before its first line")
    if text.strip("\n").count("\n"):
        spaced = text.strip("\n").replace("\n", "\n\n") + "\n"
        yield Draft(output.path, (rewrite(output, spaced),), "blank lines stand between its lines")


def _cased(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    for spot in shuffled(words_of(output), chooser):
        other = spot.raw.upper() if spot.raw.upper() != spot.raw else spot.raw.lower()
        edit = spot.write(other) if other != spot.raw else None
        if edit is not None:
            yield Draft(spot.leaf.address, (edit,), f"{spot.raw[:40]} is written {other[:40]}")


OPERATORS = (
    (Operator("indented-lines", "spacing", ("text",), "depends"), _indented),
    (Operator("blank-lines", "spacing", ("text",), "depends"), _blank_lines),
    (Operator("letter-case", "case", ("text", "json", "yaml", "toml", "xml", "table"), "depends"), _cased),
)
