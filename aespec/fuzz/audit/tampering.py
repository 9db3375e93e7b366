"""Trace-guided tampering: what the verifier reads outside `/tests` is made to suit the work that wasn't done.

Each probe starts from the start state. A verifier that takes its reference, its helper or its input for the
expected value from where the solver can write passes one of them (classes 9 and 21).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from aespec.fuzz.audit.tracing import Trace
from aespec.model.edit import Edit
from aespec.model.edit_forms import put
from aespec.operators.api import Output, Scene
from aespec.operators.kinds import kind_of
from aespec.operators.meaning import means_the_same
from aespec.runtime.memory import Node
from aespec.sandbox.api import SandboxError
from aespec.trial.probe import Harness, Probe

POINTS_LIMIT = 12
"""Files that are tampered with, at most: in the order in which the verifier came to them."""

_LOOKED_AT = 60


@dataclass(frozen=True, slots=True)
class Tampering:
    """One probe. `says` is a clause for a reader: it follows "passes although"."""

    path: str
    says: str
    probe: Probe = field(repr=False)


def tampered_files(harness: Harness, trace: Trace, scene: Scene) -> dict[str, Node]:
    """Files of the start state that the verifier read, without those that the oracle changed."""
    outputs = {output.path for output in scene.outputs}
    found: dict[str, Node] = {}
    points = [point.path for point in trace.tampers if point.is_read and point.path not in outputs]
    for path in points[:_LOOKED_AT]:
        try:
            node = harness.read(path).get(path)
        except SandboxError:
            continue
        if node is not None and node.kind == "file" and len(found) < POINTS_LIMIT:
            found[path] = node
    return found


def tamperings(scene: Scene, files: Mapping[str, Node]) -> Iterator[Tampering]:
    """The probes for each file, the most telling first; none whose outputs all say what the oracle's say."""
    outputs = [output for output in scene.outputs if output.after is not None and output.after.kind == "file"]
    for path, node in files.items():
        alike = _alike(path, node, outputs)
        blank = _blank(path, node)
        for says, content, reference in (
            (f"the outputs are copies of {path}, which the verifier reads", node.data, None),
            (f"the outputs and {path}, which the verifier reads, hold the same nothing", blank, blank),
            (f"the outputs are empty and so is {path}, which the verifier reads", b"", b""),
        ):
            if alike and not all(_is_right(output, content) for output in alike):
                edits = [put(output.path, content, _mode(output.after)) for output in alike]
                edits += [put(path, reference, node.mode)] if reference is not None else []
                yield _tampering(path, says, edits)
        if node.data:
            yield _tampering(path, f"nothing was done but to empty {path}", [put(path, b"", node.mode)])


def _tampering(path: str, says: str, edits: list[Edit]) -> Tampering:
    return Tampering(path, says, Probe(f"tampering: {says}", "start", tuple(edits)))


def _alike(path: str, node: Node, outputs: list[Output]) -> list[Output]:
    """The outputs of the file's own kind; all of them where there is none."""
    kind = kind_of(path, node.data)
    return [output for output in outputs if output.kind == kind] or outputs


def _blank(path: str, node: Node) -> bytes:
    """Nothing, in the form of the file: an empty object, a table without rows, a word."""
    kind = kind_of(path, node.data)
    if kind == "json":
        return b"{}\n"
    return node.data.partition(b"\n")[0] + b"\n" if kind == "table" else b"nothing\n"


def _is_right(output: Output, content: bytes) -> bool:
    assert output.after is not None
    return means_the_same(output.kind, output.path, output.after.data, content)


def _mode(node: Node | None) -> int | None:
    return node.mode if node is not None else None
