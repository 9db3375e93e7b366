"""Keys stand in another order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from aespec.model.chooser import Chooser
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import rewrite, text_in
from aespec.operators.json_edits import dumped, parsed_json


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(item) for key, item in reversed(value.items())}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _in_json(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    parsed = parsed_json(output)
    if parsed is not None:
        for turn, says in (
            (_sorted, "its keys are sorted"),
            (_reversed, "its keys stand in the reverse order"),
        ):
            yield Draft(output.path, (rewrite(output, dumped(output, turn(parsed.value))),), says)


def _in_settings(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """Two neighbouring lines of plain settings; whether they are neighbours in meaning, the parser tells."""
    lines = text_in(output).split("\n")
    for number in range(len(lines) - 1):
        one, other = (
            re.match(r"(\s*)[\w-]+\s*[:=]\s*[\w\"'.-]", line) for line in lines[number : number + 2]
        )
        if (
            one is not None
            and other is not None
            and one[1] == other[1]
            and lines[number] != lines[number + 1]
        ):
            turned = [*lines[:number], lines[number + 1], lines[number], *lines[number + 2 :]]
            edit = rewrite(output, "\n".join(turned))
            yield Draft(
                output.path,
                (edit,),
                f"the settings on the lines {number + 1} and {number + 2} are turned round",
            )


def _in_xml(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    pattern = re.compile(r"(<[\w:.-]+)(\s+[\w:.-]+=\"[^\"<>]*\")(\s+[\w:.-]+=\"[^\"<>]*\")")
    text = text_in(output)
    for match in pattern.finditer(text):
        turned = text[: match.start()] + match[1] + match[3] + match[2] + text[match.end() :]
        yield Draft(output.path, (rewrite(output, turned),), "two attributes have changed places")


OPERATORS = (
    (Operator("key-order", "key-order", ("json",), "right"), _in_json),
    (Operator("setting-order", "key-order", ("yaml", "toml"), "right"), _in_settings),
    (Operator("attribute-order", "key-order", ("xml",), "right"), _in_xml),
)
