"""What crosses to a separate verifier, as Harbor 0.26 carries it (`harbor/trial/artifact_handler.py`).

Everything goes through the host, by tar with Python's `data` filter: owners become root, special bits go, and
links that are absolute, lead out of their artifact, or are an artifact themselves are dropped.
"""

from __future__ import annotations

import posixpath
import tarfile
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from aespec.bundle.foreign import Artifact
from aespec.sandbox.tars import Entry
from aespec.trial.archives import iterate_members

CONVENTION = Artifact("/logs/artifacts")
"""Crosses in every task, declared or not."""


def all_artifacts(declared: Sequence[Artifact]) -> tuple[Artifact, ...]:
    """The declared ones, and Harbor's own unless it is declared."""
    paths = {artifact.path.rstrip("/") for artifact in declared}
    return tuple(declared) if CONVENTION.path in paths else (CONVENTION, *declared)


def carry(archive: bytes, artifacts: Sequence[Artifact]) -> tuple[list[str], list[Entry]]:
    """What to remove in the verifier's container, and what to put there, for a tar of the agent's paths.

    A folder that crosses takes the place of the verifier's own at that path, and may be written by all.
    """
    members = [("/" + member.name.strip("/"), member, data) for member, data in iterate_members(archive)]
    clean: list[str] = []
    entries: list[Entry] = []
    for artifact in artifacts:
        path = artifact.path.rstrip("/")
        top = next((member for name, member, _ in members if name == path), None)
        if top is None:
            continue
        if top.isdir():
            clean.append(path)
            entries.append(Entry(path, None, 0o777))
            below = [item for item in members if item[0].startswith(path + "/")]
            entries += _below(path, below, artifact.exclude)
        elif top.isreg():
            parent = posixpath.dirname(path)
            entries += [Entry(parent, None, 0o777)] if parent != "/" else []
            data = next(data for name, _, data in members if name == path)
            entries.append(_file(path, top, data))
    return clean, entries


def _below(
    top: str, members: Sequence[tuple[str, tarfile.TarInfo, bytes]], exclude: Sequence[str]
) -> Iterator[Entry]:
    contents = {name: data for name, member, data in members if member.isreg()}
    for name, member, data in members:
        relative = name[len(top) + 1 :]
        if is_excluded(relative, exclude):
            continue
        if member.isdir():
            yield Entry(name, None, 0o755, mtime=int(member.mtime))
        elif member.isreg():
            yield _file(name, member, data)
        elif member.islnk():
            yield _file(name, member, contents.get("/" + member.linkname.strip("/"), b""))
        elif member.issym() and _stays_inside(relative, member.linkname):
            yield Entry(name, target=member.linkname, mtime=int(member.mtime))


def _file(path: str, member: tarfile.TarInfo, data: bytes) -> Entry:
    mode = (member.mode & 0o755) | 0o600
    if not mode & 0o100:
        mode &= ~0o111
    return Entry(path, data, mode, mtime=int(member.mtime))


def _stays_inside(relative: str, target: str) -> bool:
    if target.startswith("/"):
        return False
    led = posixpath.normpath(posixpath.join(posixpath.dirname(relative), target))
    return led != ".." and not led.startswith("../")


def is_excluded(relative: str, patterns: Sequence[str]) -> bool:
    """Whether `tar --exclude` with these patterns leaves a path out, by itself or by a folder of it."""
    parts = relative.split("/")
    heads = ["/".join(parts[: end + 1]) for end in range(len(parts))]
    ends = ["/".join(head.split("/")[start:]) for head in heads for start in range(head.count("/") + 1)]
    return any(
        fnmatchcase(part, pattern.removeprefix("./").rstrip("/")) for part in ends for pattern in patterns
    )
