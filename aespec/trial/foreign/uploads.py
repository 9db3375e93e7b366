"""The files that Harbor copies into a container: the tests, and for the oracle the solution."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from aespec.bundle.foreign import ForeignTask
from aespec.sandbox.tars import Entry
from aespec.trial.archives import pack_folder
from aespec.trial.foreign.seats import SOLUTION, TESTS


def tests(task: ForeignTask) -> list[Entry]:
    """What goes to `/tests`, the script executable."""
    return _entries(task, task.tests, TESTS, task.test_script)


def solution(task: ForeignTask) -> list[Entry]:
    """What goes to `/solution`, the script executable; nothing where there is no solution."""
    if task.solution is None:
        return []
    return _entries(task, task.solution, SOLUTION, task.solution_script)


def _entries(task: ForeignTask, folder: Path, target: str, script: str) -> list[Entry]:
    found = {entry.path: entry for entry in pack_folder(folder, target)}
    for path, text in task.added.items():
        if path.startswith(target + "/"):
            found[path] = Entry(path, text.encode("utf-8", "surrogateescape"))
    path = f"{target}/{script}"
    if path in found:
        found[path] = replace(found[path], mode=found[path].mode | 0o111)
    return list(found.values())
