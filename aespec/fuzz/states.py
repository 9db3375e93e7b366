"""End states made from others: the frozen artifacts with some files put or taken away."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping
from io import BytesIO

from aespec.sandbox.tars import Entry, add_entries
from aespec.trial import EndState
from aespec.trial.archives import digest_of, iterate_members, read_files


def files_of(state: EndState) -> dict[str, bytes]:
    """The regular files of an end state by absolute path."""
    return read_files(state.artifacts)


def changed_files(before: EndState, after: EndState) -> tuple[str, ...]:
    """The files that are new or other in `after`, sorted. What lies below `.git` is no output of its own."""
    old, new = files_of(before), files_of(after)
    return tuple(sorted(path for path, data in new.items() if old.get(path) != data and "/.git/" not in path))


def with_files(state: EndState, name: str, changes: Mapping[str, bytes | None]) -> EndState:
    """The state with each file of `changes` put (bytes) or taken away (None), under another agent's name.

    A file that is replaced keeps its mode; a new one is made 0644.
    """
    stream = BytesIO()
    left = {path: data for path, data in changes.items() if data is not None}
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for member, data in iterate_members(state.artifacts):
            path = "/" + member.name.strip("/")
            if path in changes and not member.isdir():
                new = left.pop(path, None)
                if new is None:
                    continue
                data, member.size, member.type = new, len(new), tarfile.REGTYPE
            tar.addfile(member, BytesIO(data) if member.isreg() else None)
        add_entries(tar, [Entry(path, data) for path, data in sorted(left.items())])
    archive = stream.getvalue()
    return EndState(name, archive, digest_of(archive), status=0, is_reproducible=state.is_reproducible)
