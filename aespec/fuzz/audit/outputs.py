"""What the solution left, made ready for operators: outputs by kind, inputs, what is told of each."""

from __future__ import annotations

import re

from aespec.fuzz.audit.inquiry import Inquiry
from aespec.operators.api import Output, Scene
from aespec.operators.scene import make_scene
from aespec.sandbox.api import SandboxError

INPUT_LIMIT_BYTES = 1 << 20
_PROGRAM_NAMES = re.compile(r"[A-Za-z0-9_.-]+")


def look_at_outputs(inquiry: Inquiry) -> None:
    """Fill `inquiry.changes` and `inquiry.scene`; an end state that can't be read is said in the notes."""
    try:
        changes = inquiry.prober.harness.changes()
    except SandboxError as fault:
        inquiry.notes.append(f"the solution's end state can't be read: {fault}")
        return
    inquiry.changes = changes
    if changes.too_large:
        inquiry.notes.append(f"too large to be changed by parts: {', '.join(changes.too_large[:3])}")
    if not changes.after:
        inquiry.notes.append("the solution leaves no file: there is nothing to change in its end state")
        return
    inquiry.scene = make_scene(changes.before, changes.after, _inputs(inquiry), inquiry.task.instruction)


def _inputs(inquiry: Inquiry) -> dict[str, bytes]:
    """Readable files of the folders that hold outputs, as they are in the start state."""
    assert inquiry.changes is not None
    folders = {path.rpartition("/")[0] or "/" for path in inquiry.changes.after}
    found: dict[str, bytes] = {}
    for folder in sorted(folders):
        if folder in ("/", "/root", "/etc", "/usr", "/var", "/tmp", "/home"):
            continue
        nodes = inquiry.prober.harness.read(folder, limit_bytes=INPUT_LIMIT_BYTES)
        found |= {path: node.data for path, node in nodes.items() if node.kind == "file"}
    return {path: data for path, data in found.items() if path not in inquiry.changes.after}


def is_told(output: Output, scene: Scene) -> bool:
    """Whether the instruction names the output: its path, its name, or the folder that it lies in."""
    path = output.path
    name = path.rpartition("/")[2]
    if path in scene.instruction or re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", scene.instruction):
        return True
    folder = path.rpartition("/")[0]
    return folder.count("/") > 1 and folder in scene.instruction


def is_key_told(leaf: str, scene: Scene) -> bool:
    """Whether the last name in a leaf's selector is a word of the instruction; True where it has none."""
    _, mark, selector = leaf.partition("#")
    keys = [key for key in re.split(r"[/!]", selector) if key and not re.fullmatch(r"[*\d:.-]+", key)]
    if not mark or not keys:
        return True
    return re.search(rf"(?<!\w){re.escape(keys[-1])}(?!\w)", scene.instruction, re.IGNORECASE) is not None


def pattern_of(leaf: str) -> str:
    """A leaf's address with its indexes blotted out: leaves of one pattern say the same kind of thing."""
    path, mark, selector = leaf.partition("#")
    return path + mark + re.sub(r"(?<![^/])\d+(?![^/])", "*", selector)
