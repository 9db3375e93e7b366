"""What stood at and below a path in the start state still stands there, as it was."""

from __future__ import annotations

import fnmatch
from typing import Any, Dict, Iterator, List, Sequence

from aespec.runtime.signature import Param, Signature
from aespec.runtime.state import HELD, Missing, State, Trouble, Verdict, failed

CACHES = (
    "__pycache__",
    "*.pyc",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".cache",
    ".coverage",
    ".git/index",
    ".git/logs",
    ".git/FETCH_HEAD",
    ".git/ORIG_HEAD",
    ".git/gc.log",
)
"""What common tools write by themselves when a file beside it is only looked at or run."""

ENTRIES_LIMIT = 200_000
LEVELS_LIMIT = 100
"""How much is looked through for new files; a solver that made more has changed the folder."""

SIGNATURE = Signature(
    "unchanged",
    "A file, or all that stood below a folder, is as it was in the start state: kind, bytes, links' targets "
    "and whether it is executable. Caches and logs of common tools don't count.",
    (
        Param("path", "path", "The file or folder.", is_required=True),
        Param(
            "except",
            "texts",
            'Files and folders below it that may change: `"out"`, `"*.tmp"`, `"/app/out"`; a pattern without '
            "`/` counts at any depth.",
        ),
        Param(
            "strict",
            "bool",
            "Whether new files are forbidden too; a folder by itself is none.",
            default=False,
        ),
    ),
)


def holds(state: State, args: Dict[str, Any]) -> Verdict:
    """Judge the claim; `Trouble` where the start state holds nothing that it protects."""
    path = args["path"]
    patterns = patterns_of(args)
    baseline = {
        relative: facts
        for relative, facts in state.baseline(path).items()
        if not is_excepted(relative, patterns)
    }
    if not baseline:
        raise Trouble(f"unchanged: all of {path} is excepted")
    for relative in sorted(baseline):
        reason = _fault(state, f"{path.rstrip('/')}/{relative}" if relative else path, baseline[relative])
        if reason:
            return failed(reason)
    if args.get("strict"):
        try:
            for relative in below(state, path, patterns):
                if relative not in baseline:
                    return failed(f"{path.rstrip('/')}/{relative} is new")
        except Missing as missing:
            return failed(str(missing))
    return HELD


def patterns_of(args: Dict[str, Any]) -> List[str]:
    """The patterns of what may change, relative to the path; the caches among them."""
    given = args.get("except") or []
    top = args["path"].rstrip("/") + "/"
    named = [given] if isinstance(given, str) else list(given)
    return [*CACHES, *(item[len(top) :] if item.startswith(top) else item.rstrip("/") for item in named)]


def is_excepted(relative: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern covers the relative path or a folder that it is in."""
    if not relative:
        return False
    parts = relative.split("/")
    for pattern in patterns:
        if "/" not in pattern:
            if any(fnmatch.fnmatchcase(part, pattern) for part in parts):
                return True
        elif any(fnmatch.fnmatchcase("/".join(parts[:end]), pattern) for end in range(1, len(parts) + 1)):
            return True
    return False


def _fault(state: State, path: str, facts: Dict[str, Any]) -> str:
    kind = facts.get("kind", "file")
    found = state.stat(path)
    if found is None:
        return f"{path} is gone"
    if found.kind != kind:
        return f"{path} was a {kind} and is now a {found.kind}"
    try:
        if kind == "link" and state.link(path) != facts["link"]:
            return f"{path} points elsewhere now"
        if kind == "file" and state.digest(path) != facts["sha256"]:
            return f"{path} was changed"
    except Missing as missing:
        return str(missing)
    if (
        kind == "file"
        and facts.get("mode") is not None
        and bool(facts["mode"] & 0o100) != bool(found.mode & 0o100)
    ):
        return f"{path} {'became' if found.mode & 0o100 else 'is no longer'} executable"
    return ""


def below(state: State, path: str, patterns: Sequence[str]) -> Iterator[str]:
    """The relative paths of all but folders that stands below a folder and is not excepted; no link is
    followed.

    Raises `Missing` above the limits.
    """
    found = state.stat(path)
    queue = [""] if found is not None and found.kind == "folder" else []
    count = 0
    while queue:
        folder = queue.pop()
        if folder.count("/") > LEVELS_LIMIT:
            raise Missing(f"{path} is nested deeper than {LEVELS_LIMIT} folders")
        for name in state.names(f"{path.rstrip('/')}/{folder}"):
            relative = f"{folder}/{name}" if folder else name
            count += 1
            if count > ENTRIES_LIMIT:
                raise Missing(f"{path} holds more than {ENTRIES_LIMIT} files")
            if is_excepted(relative, patterns):
                continue
            entry = state.stat(f"{path.rstrip('/')}/{relative}")
            if entry is not None and entry.kind == "folder":
                queue.append(relative)
            else:
                yield relative
