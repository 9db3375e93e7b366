"""What crosses to a separate verifier: as Harbor carries it, nothing more."""

import io
import json
import subprocess
import tarfile

import pytest

from aespec.bundle.foreign import Artifact
from aespec.trial.foreign.crossing import all_artifacts, carry, is_excluded
from tests import components


def made(*members):
    """A tar of (name, kind, link, data, mode)."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, kind, link, data, mode in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.mode, member.uid = kind, link, mode, 1000
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data) if kind == tarfile.REGTYPE else None)
    return stream.getvalue()


def file(name, data=b"x", mode=0o644):
    return (name, tarfile.REGTYPE, "", data, mode)


def folder(name, mode=0o755):
    return (name, tarfile.DIRTYPE, "", b"", mode)


def link(name, target):
    return (name, tarfile.SYMTYPE, target, b"", 0o777)


TREE = made(
    folder("app"),
    file("app/a"),
    file("app/run", mode=0o6777),
    file("app/odd", mode=0o066),
    ("app/hard", tarfile.LNKTYPE, "app/a", b"", 0o644),
    folder("app/sub", 0o700),
    file("app/sub/b"),
    link("app/near", "a"),
    link("app/sub/up", "../a"),
    link("app/out", "../tests/expected"),
    link("app/far", "/tests/expected"),
    ("app/pipe", tarfile.FIFOTYPE, "", b"", 0o644),
)


def test_a_folder_crosses_without_owners_special_bits_and_links_that_leave_it():
    clean, entries = carry(TREE, [Artifact("/app")])
    assert clean == ["/app"]
    found = {entry.path: (entry.data, entry.mode, entry.target) for entry in entries}
    assert found == {
        "/app": (None, 0o777, ""),
        "/app/a": (b"x", 0o644, ""),
        "/app/run": (b"x", 0o755, ""),
        "/app/odd": (b"x", 0o644, ""),
        "/app/hard": (b"x", 0o644, ""),
        "/app/sub": (None, 0o755, ""),
        "/app/sub/b": (b"x", 0o644, ""),
        "/app/near": (None, 0o644, "a"),
        "/app/sub/up": (None, 0o644, "../a"),
    }
    assert {(entry.uid, entry.gid) for entry in entries} == {(0, 0)}


IN_HARBOR = """
import json, os, sys, tarfile, tempfile
from pathlib import Path
from harbor.environments.tar_transfer import copy_via_tar
folder = Path(tempfile.mkdtemp())
with tarfile.open(sys.argv[1]) as tar:
    tar.extractall(folder, filter="fully_trusted")
copy_via_tar(folder / "app", folder / "copy")
found = {}
for path in sorted((folder / "copy" / "app").rglob("*")):
    kind = "link" if path.is_symlink() else "folder" if path.is_dir() else "file"
    mode = path.stat().st_mode & 0o7777 if kind == "file" else None
    found["/app/" + str(path.relative_to(folder / "copy" / "app"))] = [kind, mode]
print(json.dumps(found))
"""


@pytest.mark.needs("harbor")
def test_harbor_itself_carries_the_same(tmp_path):
    (tmp_path / "tree.tar").write_bytes(TREE)
    command = [components.harbor().parent / "python", "-c", IN_HARBOR, tmp_path / "tree.tar"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    _, entries = carry(TREE, [Artifact("/app")])
    mine = {
        entry.path: ["link", None]
        if entry.target
        else ["folder", None]
        if entry.data is None
        else ["file", entry.mode]
        for entry in entries
        if entry.path != "/app"
    }
    assert mine == told


def test_a_single_file_crosses_into_a_folder_that_all_may_write_to():
    clean, entries = carry(made(file("app/out/sum.txt")), [Artifact("/app/out/sum.txt")])
    assert clean == []
    assert [(entry.path, entry.mode) for entry in entries] == [
        ("/app/out", 0o777),
        ("/app/out/sum.txt", 0o644),
    ]


def test_a_link_in_an_artifacts_place_does_not_cross():
    assert carry(made(link("app/sum.txt", "/tests/expected")), [Artifact("/app/sum.txt")]) == ([], [])
    assert carry(made(link("app/sum.txt", "other")), [Artifact("/app/sum.txt")]) == ([], [])


def test_what_is_not_there_does_not_cross():
    assert carry(made(file("app/a")), [Artifact("/app/b"), Artifact("/elsewhere/")]) == ([], [])


def test_harbors_own_folder_crosses_always_and_once():
    own = Artifact("/logs/artifacts", ("*.log",))
    assert [item.path for item in all_artifacts([Artifact("/app")])] == ["/logs/artifacts", "/app"]
    assert all_artifacts([own]) == (own,)


@pytest.mark.parametrize(
    ("path", "patterns", "is_out"),
    [
        ("a.log", ["*.log"], True),
        ("sub/a.log", ["*.log"], True),
        ("node_modules/x/y", ["node_modules"], True),
        ("sub/node_modules/x", ["node_modules"], True),
        ("sub/x", ["./sub"], True),
        ("sub/x", ["sub/"], True),
        ("a.txt", ["*.log", "b*"], False),
        ("subx", ["sub"], False),
        ("a.txt", [], False),
    ],
)
def test_patterns_leave_out_as_tar_does(path, patterns, is_out):
    assert is_excluded(path, patterns) is is_out
