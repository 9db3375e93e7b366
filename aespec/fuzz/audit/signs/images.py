"""Signs in how the solver's image is made: tests or solution in it, answers, a future in its history."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Mapping

from aespec.bundle.foreign import FaultError
from aespec.bundle.foreign.compose import COMPOSE_FILES, join_below, read_service
from aespec.bundle.foreign.folder import Folder
from aespec.fuzz.audit.signs.material import Copied, Material, Sign

ANSWER_NAME = re.compile(
    r"(?:^|[_\-.])(?:expected|golden|gold|ground[_-]?truth|truth|answers?|answer[_-]?key|solutions?|oracle"
    r"|reference[_-](?:output|solution|answer|result)s?)(?:[_\-.]|$)",
    re.IGNORECASE,
)
"""Names that sound as if the answer were inside."""

_ORDINARY = re.compile(
    r"(?:^|/)(?:tests?|spec|specs|__snapshots__|node_modules|fixtures|vendor|third_party|docs?|examples?"
    r"|site-packages|\.git)(?:/|$)",
    re.IGNORECASE,
)
_SCRIPT_LENGTH = 40
"""Shorter scripts are alike by chance."""


def find_in_image(material: Material) -> Iterator[Sign]:
    """The signs in the agent's Dockerfile, its context and its Compose file."""
    yield from _own_files(material)
    yield from _mounted(material)
    yield from _answers(material)
    yield from _references(material)
    yield from _history(material)


def _own_files(material: Material) -> Iterator[Sign]:
    """Files of tests/ and solution/ that the Dockerfile copies into the solver's image."""
    solution = _bodies(material.solution)
    tests = _bodies(
        {name: text for name, text in material.tests.items() if name.endswith((".py", ".sh", ".js", ".ts"))}
    )
    found: dict[str, list[Copied]] = {}
    for copied in material.copied:
        if _is_removed(material, copied):
            continue
        data = _data(copied, {len(body) for body in (*solution, *tests)})
        if data is not None and data in solution:
            found.setdefault("solution", []).append(copied)
        elif data is not None and data in tests:
            found.setdefault("tests", []).append(copied)
    is_older = material.task.layout == "terminal-bench"
    for what, files in found.items():
        named = f"{files[0].source} → {files[0].place}" + (f" and {len(files) - 1} more" if files[1:] else "")
        is_whole = is_older and material.task.environment.context == material.task.path
        is_swept = is_whole and not any(word in _line(material, files[0]) for word in ("solution", "tests"))
        if what == "solution":
            # Harbor's mapper leaves the solution out of the context unless the Dockerfile names it.
            yield Sign(
                "solution-in-image",
                "warning" if is_swept else "error",
                "leak-free",
                f"the Dockerfile (line {files[0].line}) copies the solution into the solver's image: {named}"
                + (" (where it is built as Terminal-Bench does, from the whole folder)" if is_swept else ""),
                0.95,
            )
        else:
            yield Sign(
                "tests-in-image",
                "warning",
                "leak-free",
                f"the Dockerfile (line {files[0].line}) copies the tests into the solver's image: {named}"
                + (" (where it is built as Terminal-Bench does, from the whole folder)" if is_swept else ""),
                0.7,
            )


def _line(material: Material, copied: Copied) -> str:
    return next((item.original for item in material.image if item.line == copied.line), "")


def _bodies(texts: Mapping[str, str]) -> set[bytes]:
    return {text.encode("utf-8", "replace") for text in texts.values() if len(text.strip()) >= _SCRIPT_LENGTH}


def _data(copied: Copied, sizes: set[int]) -> bytes | None:
    if copied.item.size not in sizes:
        return None
    try:
        with copied.item.open() as stream:
            return stream.read(copied.item.size + 1)
    except OSError:
        return None


def _is_removed(material: Material, copied: Copied) -> bool:
    """Whether a later RUN removes the file or a folder that it lies in."""
    removed = [
        word.rstrip("/*")
        for item in material.image
        if item.name == "RUN" and item.line > copied.line
        for command in re.findall(r"\brm\s+(?:-\w+\s+)*([^;&|]+)", item.original)
        for word in command.split()
    ]
    return any(
        copied.place == word
        or copied.place.startswith(f"{word}/")
        or (not word.startswith("/") and f"/{word}/" in f"{copied.place}/")
        for word in removed
        if word not in ("", ".")
    )


def _mounted(material: Material) -> Iterator[Sign]:
    """Tests or solution that the Compose file mounts into the solver's container."""
    task = material.task
    top = "" if task.layout == "terminal-bench" else "environment"
    folder = Folder(task.path)
    try:
        path = posixpath.join(top, COMPOSE_FILES[0])
        if folder.kind(path) != "file":
            return
        service, _ = read_service(folder.text(path), {}, None if not top else "main")
    except FaultError:
        return
    for source, place in service.mounts if service else ():
        inside = join_below(top, source) if source.startswith((".", "/")) else None
        first = (inside or "").partition("/")[0]
        if inside == "" or first in ("tests", "solution", "solution.sh", "solution.yaml", "run-tests.sh"):
            is_solution = inside == "" or first.startswith("solution")
            yield Sign(
                "solution-in-image" if is_solution else "tests-in-image",
                # Harbor's mapper keeps such a mount only where the file can't be made a Dockerfile.
                "warning",
                "leak-free",
                f"the Compose file mounts {source or '.'} into the solver's container at {place}",
                0.9,
            )


def _answers(material: Material) -> Iterator[Sign]:
    """Copied files whose names sound like the answer, and of which the instruction says nothing."""
    names = [
        copied
        for copied in material.copied
        if ANSWER_NAME.search(posixpath.basename(copied.source))
        and not _ORDINARY.search(posixpath.dirname(copied.source))
        and posixpath.basename(copied.source).lower() not in material.told
        and not _is_removed(material, copied)
    ]
    if not names:
        return
    shown = ", ".join(copied.place for copied in names[:4])
    read = [copied for copied in names if any(copied.place in text for text in material.tests.values())]
    if not read:
        yield Sign(
            "answer-like-name",
            "advice",
            "leak-free",
            f"a name in the solver's image sounds like the answer, and the instruction has it not: {shown}",
            0.4,
        )


def _references(material: Material) -> Iterator[Sign]:
    """What the tests compare with, by its name, lies where the solver can read and edit it."""
    if material.task.mode != "shared":
        return
    found: dict[str, str] = {}
    for name, tree in material.python.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            path = node.value
            is_place = re.fullmatch(r"/[\w./-]+", path) and not path.startswith(
                ("/tests/", "/logs/", "/tmp/")
            )
            base = posixpath.basename(path)
            if is_place and "." in base and ANSWER_NAME.search(base) and base.lower() not in material.told:
                found.setdefault(path, f"{name}:{node.lineno}")
    if found:
        shown = ", ".join(f"{path} ({where})" for path, where in list(found.items())[:4])
        yield Sign(
            "reference-in-image",
            "warning",
            "unforgeable",
            f"by its name the tests compare with something that the solver can read and edit: {shown}",
            0.7,
        )


def _history(material: Material) -> Iterator[Sign]:
    """A repository taken with its whole history and set back: what comes after is still in it."""
    text = "\n".join(item.original for item in material.image if item.name == "RUN")
    text += "\n".join(doc.content for item in material.image if item.name == "RUN" for doc in item.heredocs)
    clones = [
        line
        for line in re.split(r"&&|;|\n", text)
        if re.search(r"\bgit\s+(?:-\S+\s+\S+\s+)*clone\b", line)
        and not re.search(r"--depth|--shallow|--single-branch", line)
    ]
    set_back = re.search(r"\bgit\s+(?:-C\s+\S+\s+)?(?:checkout|reset\s+--hard|switch)\s+(?!-b\s)\S", text)
    is_cut = re.search(
        r"rm\s+-\w*\s+\S*\.git\b|reflog\s+expire|gc\s+--prune|git\s+init\b|filter-branch|remote\s+(?:rm|remove)",
        text,
    )
    if clones and set_back and not is_cut:
        yield Sign(
            "history-in-image",
            "advice",
            "leak-free",
            f"the Dockerfile takes a repository with all that came later ({clones[0].strip()[:100]}) and sets"
            " it back: `git log --all` may show the fix",
            0.6,
        )
    kept = [copied for copied in material.copied if copied.place.endswith("/.git/HEAD")]
    is_about_git = re.search(r"\bgit\b|\bcommits?\b|\bbranch(?:es)?\b", material.told)
    if kept and not is_cut and not is_about_git:
        yield Sign(
            "history-in-image",
            "advice",
            "leak-free",
            f"the Dockerfile copies a repository with its history ({posixpath.dirname(kept[0].place)})",
            0.3,
        )
