"""Texts stand in other quotes, or in none."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator

from aespec.model.chooser import Chooser, shuffled
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import rewrite, text_in
from aespec.operators.formats.nodes import replaced
from aespec.operators.leaves import leaves_of
from aespec.operators.table_edits import put_table, rows_in


def _of_tables(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    table, rows = rows_in(output)
    if table is None:
        return
    ways = (
        (csv.QUOTE_ALL, "all its cells stand in quotes"),
        (csv.QUOTE_MINIMAL, "no quotes stand without need"),
    )
    for quoting, says in ways:
        yield Draft(output.path, (put_table(output, rows, quoting=quoting),), says)


def _of_settings(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    text = text_in(output)
    leaves = [leaf for leaf in leaves_of(output) if isinstance(leaf.value, str) and leaf.node is not None]
    for leaf in shuffled(leaves, chooser):
        assert isinstance(leaf.value, str)
        assert leaf.node is not None
        double = json.dumps(leaf.value, ensure_ascii=False)
        single = "'" + leaf.value + "'"
        other = single if leaf.raw.startswith('"') and "'" not in leaf.value else double
        if other != leaf.raw:
            edit = rewrite(output, replaced(text, leaf.node, other))
            yield Draft(leaf.address, (edit,), f"it is quoted as {other[:40]}")


OPERATORS = (
    (Operator("table-quotes", "quoting", ("table",), "right"), _of_tables),
    (Operator("setting-quotes", "quoting", ("yaml", "toml"), "right"), _of_settings),
)
