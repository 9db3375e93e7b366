"""More than was asked for: keys, lines; nothing where null stood; another delimiter."""

from __future__ import annotations

from collections.abc import Iterator

from aespec.model.chooser import Chooser, shuffled
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import rewrite, text_in
from aespec.operators.json_edits import json_edit, places
from aespec.operators.leaves import leaves_of
from aespec.operators.table_edits import put_table, rows_in
from aespec.runtime.compare import join_pointer, split_pointer


def _keys(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    for tokens, value in shuffled(places(output, dict), chooser):
        name = "note"
        while name in value:
            name += "_"
        edit = json_edit(output, (*tokens, name), "set", "")
        if edit is not None:
            where = f"{output.path}#{join_pointer((*tokens, name))}"
            yield Draft(where, (edit,), f"it has a key {name} besides")


def _absent(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    nulls = [leaf for leaf in leaves_of(output) if leaf.raw == "null"]
    for leaf in shuffled(nulls, chooser):
        edit = json_edit(output, split_pointer(leaf.selector), "remove")
        if edit is not None:
            yield Draft(leaf.address, (edit,), "the key that was null isn't there")


def _lines(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    text = text_in(output).rstrip("\n")
    yield Draft(output.path, (rewrite(output, f"{text}\n\nDone.\n"),), "words of their own follow it")
    yield Draft(output.path, (rewrite(output, f"Result:\n{text}\n"),), "a heading stands above it")


def _delimiter(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    table, rows = rows_in(output)
    if table is not None and len(table.header) > 1:
        other = "\t" if table.delimiter == ";" else ";"
        name = "tabs" if other == "\t" else "semicolons"
        yield Draft(output.path, (put_table(output, rows, delimiter=other),), f"{name} part its cells")


OPERATORS = (
    (Operator("extra-key", "extras", ("json",), "depends"), _keys),
    (Operator("absent-null", "extras", ("json",), "depends"), _absent),
    (Operator("extra-lines", "extras", ("text",), "depends"), _lines),
    (Operator("other-delimiter", "extras", ("table",), "depends"), _delimiter),
)
