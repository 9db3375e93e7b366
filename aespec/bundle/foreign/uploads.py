"""What of a task's folder is put into a container beside the image: its tests and its solution, as data."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from aespec.bundle.foreign.folder import Entry, Folder
from aespec.bundle.foreign.ignoring import IGNORE_FILE, Rules
from aespec.bundle.foreign.task import ForeignTask
from aespec.runtime.memory import Node

UPLOAD_LIMIT_BYTES = 256 * 1024**2
"""How much of tests or of a solution is taken into memory at most."""


def read_tests(task: ForeignTask, limit_bytes: int = UPLOAD_LIMIT_BYTES) -> dict[str, Node]:
    """What goes to `/tests`, by path below it; nothing where the verifier's image has tests of its own.

    Links stay links. The test script is executable, as Harbor makes it. Raises `FaultError` where the folder
    can't be read any more or holds more than the limit.
    """
    return {} if task.has_own_tests else read_tests_folder(task, limit_bytes)


def read_tests_folder(task: ForeignTask, limit_bytes: int = UPLOAD_LIMIT_BYTES) -> dict[str, Node]:
    """The tests as the task's folder has them, whoever brings them to the verifier; as `read_tests`."""
    top = task.tests.relative_to(task.path).as_posix()
    return _upload(task, top, "/tests/", task.test_script, limit_bytes)


def read_solution(task: ForeignTask, limit_bytes: int = UPLOAD_LIMIT_BYTES) -> dict[str, Node]:
    """What goes to `/solution`, by path below it; nothing where it has none. Otherwise as `read_tests`."""
    if task.solution is None:
        return {}
    top = task.solution.relative_to(task.path).as_posix()
    # The older layout's solution is one script, which `added` holds; its folder is the whole task's.
    return _upload(task, "" if top == "." else top, "/solution/", task.solution_script, limit_bytes)


def _upload(task: ForeignTask, top: str, place: str, script: str, limit_bytes: int) -> dict[str, Node]:
    folder = Folder(task.path)
    found: dict[str, Node] = {}
    if top and folder.kind(top) == "folder":
        found = folder.nodes(uploaded(folder, top), top, limit_bytes)
    for path, text in task.added.items():
        if path.startswith(place):
            found[path.removeprefix(place)] = Node(data=text.encode(), mode=0o755)
    if (node := found.get(script)) is not None and node.kind == "file":
        found[script] = node._replace(mode=node.mode | 0o111)
    return found


def uploaded(folder: Folder, top: str) -> dict[str, Entry]:
    """What lies below `top` (`tests` or `solution`) and isn't left out by its `.harborignore` files.

    Raises `FaultError` as `Folder.below` does.
    """
    return folder.below(top, _left_out(folder, top))


def _left_out(folder: Folder, top: str) -> Callable[[str, bool], bool]:
    known: dict[str, Rules | None] = {}

    def rules(place: str) -> Rules | None:
        if place not in known:
            path = f"{place}/{IGNORE_FILE}"
            known[place] = Rules(folder.text(path)) if folder.kind(path) is not None else None
        return known[place]

    def decide(path: str, is_folder: bool) -> bool:
        if posixpath.basename(path) == IGNORE_FILE:
            return True
        is_out = False
        place = top
        for part in [*path.removeprefix(f"{top}/").split("/")[:-1], ""]:
            own = rules(place)
            decided = own.decide(path.removeprefix(f"{place}/"), is_folder=is_folder) if own else None
            is_out = is_out if decided is None else decided
            place = f"{place}/{part}"
        return is_out

    return decide
