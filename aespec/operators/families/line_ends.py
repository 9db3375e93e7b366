"""Lines end in another way: none at the end or one more, Windows line ends, blanks before them."""

from __future__ import annotations

from collections.abc import Iterator

from aespec.model.chooser import Chooser
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import rewrite, text_in

DATA = ("text", "json", "yaml", "toml", "xml", "table")


def _final(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    text = text_in(output)
    if text.endswith("\n"):
        bare = text.removesuffix("\n").removesuffix("\r")
        yield Draft(output.path, (rewrite(output, bare),), "its last line has no line end")
    elif text:
        yield Draft(output.path, (rewrite(output, f"{text}\n"),), "its last line has a line end")


def _windows(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    text = text_in(output)
    if "\r\n" in text:
        yield Draft(output.path, (rewrite(output, text.replace("\r\n", "\n")),), "its lines end as in Unix")
    elif "\n" in text:
        yield Draft(
            output.path, (rewrite(output, text.replace("\n", "\r\n")),), "its lines end as in Windows"
        )


def _blanks(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    text = text_in(output)
    if "\r" not in text and text.strip():
        lines = [f"{line} " if line.strip() else line for line in text.split("\n")]
        yield Draft(output.path, (rewrite(output, "\n".join(lines)),), "a blank ends each line")


OPERATORS = (
    (Operator("final-line-end", "line-end", (*DATA, "code"), "right"), _final),
    (Operator("windows-line-ends", "line-end", DATA, "right"), _windows),
    (Operator("blanks-at-line-ends", "line-end", ("text", "json", "yaml", "toml"), "right"), _blanks),
)
