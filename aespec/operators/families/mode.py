"""The output's permission bits are others."""

from __future__ import annotations

from collections.abc import Iterator

from aespec.model.chooser import Chooser
from aespec.model.edit_forms import put
from aespec.operators.api import FILE_KINDS, Draft, Operator, Output, Scene


def _not_executable(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    node = output.after
    if node is not None and node.mode & 0o111:
        edit = put(output.path, node.data, node.mode & ~0o111)
        yield Draft(output.path, (edit,), "it can't be executed")


def _open_to_all(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """What was kept from others on purpose is open to them."""
    node = output.after
    if node is not None and node.mode & 0o077 == 0:
        yield Draft(output.path, (put(output.path, node.data, 0o666),), "all accounts can read and write it")


OPERATORS = (
    (Operator("not-executable", "mode", FILE_KINDS, "depends"), _not_executable),
    (Operator("open-to-all", "mode", FILE_KINDS, "depends"), _open_to_all),
)
