"""The files that Harbor copies into a container, as entries of an archive: tests, and the solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aespec.bundle.foreign import FaultError, ForeignTask, read_solution, read_tests, read_tests_folder
from aespec.runtime.memory import Node
from aespec.sandbox.api import SandboxError
from aespec.sandbox.tars import Entry
from aespec.trial.foreign.seats import SOLUTION, TESTS


def tests(task: ForeignTask) -> list[Entry]:
    """What goes to `/tests`. Raises `SandboxError` where it can't be read any more."""
    return _entries(task, read_tests, TESTS)


def tests_folder(task: ForeignTask) -> list[Entry]:
    """The same from the task's folder, also where the verifier's image brings its own. Raises as `tests`."""
    return _entries(task, read_tests_folder, TESTS)


def solution(task: ForeignTask) -> list[Entry]:
    """What goes to `/solution`; nothing where there is no solution. Raises as `tests`."""
    return _entries(task, read_solution, SOLUTION) if task.solution is not None else []


def _entries(
    task: ForeignTask, read: Callable[[ForeignTask], Mapping[str, Node]], target: str
) -> list[Entry]:
    try:
        nodes = read(task)
    except FaultError as error:
        raise SandboxError(error.fault.message, error.fault.help, boundary="spec") from None
    found = [Entry(target, None, 0o755)] if nodes else []
    for path, node in nodes.items():
        data = node.data if node.kind == "file" else None
        found.append(Entry(f"{target}/{path}", data, node.mode & 0o7777, target=node.target))
    return found
