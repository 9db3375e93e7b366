"""A scene made of what a solution changed: its outputs, each of a kind, those that matter first."""

from __future__ import annotations

import re
from collections.abc import Mapping

from aespec.operators.api import Output, Scene
from aespec.operators.kinds import kind_of
from aespec.runtime.memory import MemoryState, Node

_BY_PRODUCTS = re.compile(
    r"^/(?:usr|var|etc|lib|lib64|bin|sbin|opt|boot|run|dev)/|/(?:__pycache__|node_modules|site-packages)/"
    r"|/\.[^/]*(?:cache|history|local|config|npm|cargo|git)(?:/|$)|\.(?:pyc|pyo|log)$"
)


def make_scene(
    before: Mapping[str, Node | None],
    after: Mapping[str, Node | None],
    inputs: Mapping[str, bytes] | None = None,
    instruction: str = "",
) -> Scene:
    """The scene of a solution's changes, by absolute path; a None means that there was or is nothing.

    Outputs that the instruction names come first, by-products of tools (caches, packages, logs) last. What
    stands there as before is no output.
    """
    outputs = []
    for path in dict.fromkeys([*after, *before]):
        old, new = before.get(path), after.get(path)
        if old != new:
            outputs.append(Output(path, _kind(path, new), old, new))
    ordered = sorted(outputs, key=lambda output: (_rank(output.path, instruction), output.path))
    return Scene(tuple(ordered), dict(inputs or {}), instruction)


def _kind(path: str, node: Node | None) -> str:
    if node is None:
        return "deleted"
    if node.kind == "file":
        return kind_of(path, node.data)
    return node.kind if node.kind in ("link", "folder") else "binary"


def _rank(path: str, instruction: str) -> int:
    if path in instruction:
        return 0
    if _BY_PRODUCTS.search(path):
        return 3
    name = path.rpartition("/")[2]
    is_named = re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", instruction) is not None
    return 1 if is_named else 2


def state_of(scene: Scene) -> MemoryState:
    """The end state as far as the scene knows it: all outputs, and the inputs beside them."""
    nodes = {path: Node(data=data) for path, data in scene.inputs.items()}
    nodes |= {output.path: output.after for output in scene.outputs if output.after is not None}
    return MemoryState(nodes)
