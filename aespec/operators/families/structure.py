"""The structure of a document is another: keys and items missing, renamed, doubled, wrapped, out of place."""

from __future__ import annotations

import json
from collections.abc import Iterator

from aespec.model.chooser import Chooser, shuffled
from aespec.model.expressions import Json
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import rewrite, text_in
from aespec.operators.formats.nodes import Node
from aespec.operators.intent import is_order_told
from aespec.operators.json_edits import json_edit, parsed_json, places
from aespec.operators.leaves import leaves_of, nodes_of, set_leaf
from aespec.operators.near import misspelled
from aespec.runtime.compare import join_pointer
from aespec.runtime.decode import show

CONFIGS = ("yaml", "toml", "xml")


def _dropped_keys(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    for tokens, key in shuffled(_keys(output), chooser):
        edit = json_edit(output, (*tokens, key), "remove")
        if edit is not None:
            yield Draft(_address(output, (*tokens, key)), (edit,), f"the key {show(key, 40)} is missing")


def _renamed_keys(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    for tokens, key in shuffled(_keys(output), chooser):
        other = misspelled(key)
        edit = json_edit(output, (*tokens, key), "rename", other)
        if edit is not None:
            says = f"the key {show(key, 40)} is {show(other, 40)} there"
            yield Draft(_address(output, (*tokens, key)), (edit,), says)


def _keys(output: Output) -> list[tuple[tuple[str, ...], str]]:
    return [(tokens, key) for tokens, value in places(output, dict) for key in value]


def _address(output: Output, tokens: tuple[str, ...]) -> str:
    return f"{output.path}#{join_pointer(tokens)}" if tokens else output.path


def _wrapped(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """The whole document within a list or below a key, then single values."""
    parsed = parsed_json(output)
    if parsed is not None and not parsed.is_lines:
        for value, how in ((([parsed.value]), "a list"), ({"data": parsed.value}, "the key data")):
            text = json.dumps(value, ensure_ascii=text_in(output).isascii())
            yield Draft(output.path, (rewrite(output, text + "\n"),), f"the document stands within {how}")
    for leaf in shuffled(leaves_of(output), chooser):
        edit = set_leaf(output, leaf, {"value": leaf.value}) if leaf.selector else None
        if edit is not None:
            yield Draft(leaf.address, (edit,), f"{show(leaf.value, 40)} stands one level deeper")


def _doubled_keys(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """A key twice, the second time with another value; readers take the one or the other."""
    text = text_in(output)
    objects = [node for node in nodes_of("json", text) if text[node.start] == "{" and not node.is_leaf]
    values = dict(places(output, dict))
    for node in shuffled(objects, chooser):
        known = values.get(node.tokens, {})
        key = next(iter(known), None)
        if key is not None:
            close = text[: node.end - 1].rstrip()
            other = "null" if known[key] is not None else "0"
            changed = f"{close}, {json.dumps(key)}: {other}{text[len(close) :]}"
            says = f"the key {show(key, 40)} stands there twice"
            yield Draft(_address(output, (*node.tokens, key)), (rewrite(output, changed),), says)


def _trailing(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    text = text_in(output)
    for more, says in (("}", "a bracket too many ends it"), ("\nDone.", "words follow the document")):
        yield Draft(output.path, (rewrite(output, f"{text.rstrip()}{more}\n"),), says)
    yield Draft(
        output.path,
        (rewrite(output, f"```json\n{text.rstrip()}\n```\n"),),
        "it stands in a fence of Markdown",
    )


def _dropped_items(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    for tokens, at, item in shuffled(_items(output), chooser):
        edit = json_edit(output, (*tokens, str(at)), "remove")
        if edit is not None:
            where = _address(output, (*tokens, str(at)))
            yield Draft(where, (edit,), f"the item {show(item, 40)} is missing")


def _doubled_items(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    for tokens, at, item in shuffled(_items(output), chooser):
        edit = json_edit(output, (*tokens, str(at)), "insert", item)
        if edit is not None:
            where = _address(output, (*tokens, str(at)))
            yield Draft(where, (edit,), f"the item {show(item, 40)} stands there twice")


def _items(output: Output) -> list[tuple[tuple[str, ...], int, Json]]:
    """Of each list the last item, the first and one within."""
    found: list[tuple[tuple[str, ...], int, Json]] = []
    for tokens, value in places(output, list):
        found += [(tokens, at, value[at]) for at in dict.fromkeys((len(value) - 1, 0, len(value) // 2))]
    return found


def _exchanged(output: Output, chooser: Chooser) -> Iterator[Draft]:
    for tokens, value in shuffled(places(output, list), chooser):
        at = next((at for at in range(len(value) - 1) if value[at] != value[at + 1]), None)
        if at is None:
            continue
        first = json_edit(output, (*tokens, str(at)), "set", value[at + 1])
        second = json_edit(output, (*tokens, str(at + 1)), "set", value[at])
        if first is not None and second is not None and first.operation == "set":
            says = f"the items {at} and {at + 1} have changed places"
            yield Draft(_address(output, (*tokens, str(at))), (first, second), says)


def _swapped_items(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    if is_order_told(scene):
        yield from _exchanged(output, chooser)


def _reordered_items(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    if not is_order_told(scene):
        yield from _exchanged(output, chooser)


def _dropped_entries(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """Settings with their lines, elements and attributes with all that is in them."""
    text = text_in(output)
    for node in shuffled(nodes_of(output.kind, text), chooser):
        start, end = _reach(output.kind, text, node)
        if end > start:
            where = _address(output, node.tokens)
            says = f"the entry {show(text[start:end].strip(), 60)} is missing"
            yield Draft(where, (rewrite(output, text[:start] + text[end:]),), says)


def _reach(kind: str, text: str, node: Node) -> tuple[int, int]:
    if kind == "xml":
        if node.tokens and node.tokens[-1].startswith("@"):
            return text.rindex(node.tokens[-1][1:], 0, node.start) - 1, node.end + 1
        return (node.start, node.end) if len(node.tokens) > 1 or node.is_leaf else (0, 0)
    start = text.rfind("\n", 0, node.start) + 1
    end = text.find("\n", node.end)
    return start, len(text) if end < 0 else end + 1


OPERATORS = (
    (Operator("dropped-key", "structure", ("json",), "wrong"), _dropped_keys),
    (Operator("renamed-key", "structure", ("json",), "wrong"), _renamed_keys),
    (Operator("dropped-item", "structure", ("json",), "wrong"), _dropped_items),
    (Operator("doubled-item", "structure", ("json",), "wrong"), _doubled_items),
    (Operator("swapped-items", "structure", ("json",), "wrong"), _swapped_items),
    (Operator("reordered-items", "order", ("json",), "depends"), _reordered_items),
    (Operator("wrapped", "structure", ("json",), "wrong"), _wrapped),
    (Operator("doubled-key", "structure", ("json",), "wrong"), _doubled_keys),
    (Operator("trailing-junk", "structure", ("json",), "wrong"), _trailing),
    (Operator("dropped-entry", "structure", CONFIGS, "wrong"), _dropped_entries),
)
