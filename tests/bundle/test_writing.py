"""Bundles on disk: whole or not at all, and read back only as they were written."""

import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from aespec.bundle import BundleError, BundlePlan, PlannedFile, Recipe, is_bundle, open_bundle, write
from aespec.bundle import write as write_module_function
from aespec.bundle.manifest import recipes_to_json
from aespec.bundle.places import MANIFEST_PATH
from aespec.bundle.recipe import AddUser, Copy, MakeFolder, Packages, Raw, Shell
from aespec.model.json_text import write_json

ENVIRONMENT = Recipe(
    "debian:bookworm-slim",
    (
        Packages("apt", ("git",)),
        AddUser("agent", 1000, "/home/agent"),
        MakeFolder("/app", 0o750, "agent"),
        Copy("files/app/a", "/app/a", 0o600, "agent"),
        Shell("setup/0-run.sh", "agent", "/app", has_network=True),
        Raw("RUN true\n"),
    ),
    "environment",
    (("LANG", "C.UTF-8"),),
    "/app",
    "agent",
)
VERIFIER = Recipe("debian:bookworm-slim", (), "tests")


def planned(text="one", **more):
    files = {
        "task.toml": PlannedFile(b"x = 1\n"),
        "tests/test.sh": PlannedFile(b"#!/bin/sh\n", 0o755),
        "deep/er/a.txt": PlannedFile(text.encode()),
        "aespec/recipes.json": PlannedFile(write_json(dict(recipes_to_json(ENVIRONMENT, VERIFIER)))),
        **more,
    }
    manifest = {"schema": 1, "name": "tiny", "task": "tiny", "target": "harbor"}
    return BundlePlan("tiny", "harbor", files, manifest, ENVIRONMENT, VERIFIER)


def content(folder):
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode & 0o7777)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def beside(folder):
    return sorted(path.name for path in folder.parent.iterdir())


def test_what_is_written_is_read_back(tmp_path):
    written = write(planned(), tmp_path / "b")
    found = open_bundle(tmp_path / "b")
    assert found == written
    assert (found.environment, found.verifier) == (ENVIRONMENT, VERIFIER)
    assert beside(tmp_path / "b") == ["b"]


def test_equal_plans_have_equal_bytes_and_digests(tmp_path):
    first, second = write(planned(), tmp_path / "a"), write(planned(), tmp_path / "b")
    assert content(tmp_path / "a") == content(tmp_path / "b")
    assert first.digest == second.digest
    assert write(planned("two"), tmp_path / "c").digest != first.digest


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_modes_don_t_depend_on_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        write(planned(), tmp_path / "b")
    finally:
        os.umask(before)
    modes = {name: mode for name, (_, mode) in content(tmp_path / "b").items()}
    assert modes["tests/test.sh"] == 0o755
    assert modes["task.toml"] == 0o644
    folders = {
        path.stat().st_mode & 0o777
        for path in [tmp_path / "b", *(tmp_path / "b").rglob("*")]
        if path.is_dir()
    }
    assert folders == {0o755}


def test_a_bundle_is_replaced_whole(tmp_path):
    write(planned(more=PlannedFile(b"gone")), tmp_path / "b")
    write(planned("two"), tmp_path / "b")
    assert not (tmp_path / "b" / "more").exists()
    assert (tmp_path / "b" / "deep/er/a.txt").read_text() == "two"
    assert beside(tmp_path / "b") == ["b"]


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "b").mkdir()
    write(planned(), tmp_path / "b")
    open_bundle(tmp_path / "b")


def test_what_aespec_did_not_write_is_left_alone(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "thesis.tex").write_text("years")
    with pytest.raises(BundleError, match="did not write") as refused:
        write(planned(), tmp_path / "b")
    assert refused.value.remedy
    assert content(tmp_path / "b") == {"thesis.tex": (b"years", 0o644)}


def test_a_file_or_a_link_at_the_target_is_left_alone(tmp_path):
    write(planned(), tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "file").write_text("x")
    for name in ("link", "file"):
        with pytest.raises(BundleError, match="no folder"):
            write(planned("two"), tmp_path / name)
    assert (tmp_path / "real/deep/er/a.txt").read_text() == "one"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("is_replacing", [False, True])
def test_a_failing_disk_leaves_the_old_and_says_so(tmp_path, monkeypatch, code, is_replacing):
    if is_replacing:
        write(planned(), tmp_path / "b")
    before = content(tmp_path / "b") if is_replacing else None
    calls = iter(range(100))

    def fchmod(descriptor, mode):
        if next(calls) == 2:
            raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fchmod", fchmod)
    with pytest.raises(BundleError) as failed:
        write(planned("two"), tmp_path / "b")
    if code in (errno.ENOSPC, errno.EDQUOT):
        assert "no space" in str(failed.value)
        assert failed.value.remedy
    assert beside(tmp_path / "b") == (["b"] if is_replacing else [])
    if is_replacing:
        assert content(tmp_path / "b") == before


@pytest.mark.needs("root", "userns")
def test_a_full_disk_is_told(tmp_path):
    program = textwrap.dedent("""
        import sys
        from pathlib import Path
        from tests.bundle.test_writing import planned, PlannedFile, write, BundleError
        try:
            write(planned(big=PlannedFile(bytes(4_000_000))), Path(sys.argv[1]) / "b")
        except BundleError as error:
            print(error, error.remedy, sorted(Path(sys.argv[1]).iterdir()))
    """)
    script = 'mount -t tmpfs -o size=1m none "$1" && exec "$2" -c "$3" "$1"'
    command = ["unshare", "--mount", "sh", "-c", script, "sh", str(tmp_path), sys.executable, program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path.cwd(), check=False)
    assert "no space left" in done.stdout, done.stderr
    assert done.stdout.strip().endswith("[]")


# One process forks a child for each moment: an interpreter of its own for each would take seconds.
KILLED = """
import json, os, signal, sys
from pathlib import Path
from tests.bundle.test_writing import content, open_bundle, planned, write
EVENTS = {"open", "os.rename", "os.mkdir", "os.chmod", "os.rmdir", "os.remove", "ctypes.dlsym", "os.scandir"}
folder = Path(sys.argv[1])
write(planned("two"), folder / "new")
new = content(folder / "new")
write(planned("one"), folder / "b")
old = content(folder / "b")
plan = planned("two")
for stop_at in range(1, 400):
    child = os.fork()
    if child == 0:
        calls = 0
        def trace(event, args):
            global calls
            calls += event in EVENTS
            if calls == stop_at and event in EVENTS:
                os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(trace)
        write(plan, folder / "b")
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    found = content(folder / "b")
    open_bundle(folder / "b")
    print(json.dumps([status, "old" if found == old else "new" if found == new else "broken"]), flush=True)
    if status == 0:
        break
    write(planned("one"), folder / "b")
"""


def test_a_kill_at_any_moment_leaves_the_old_or_the_new(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], check=True, capture_output=True, text=True
    )
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    assert seen[0] == [-signal.SIGKILL, "old"]
    assert seen[-1] == [0, "new"], "the last run wasn't let through"
    assert {state for _, state in seen} == {"old", "new"}
    assert len(seen) > 20, "the writing has fewer moments than expected: is it traced?"


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    left, young, other = (
        tmp_path / name for name in (f".b.{'0a' * 6}.part", f".b.{'0b' * 6}.part", ".b.x.part")
    )
    for folder in (left, young, other):
        folder.mkdir()
        (folder / "file").write_text("x")
    os.utime(left, (0, 0))
    os.utime(other, (0, 0))
    write(planned(), tmp_path / "b")
    assert sorted(path.name for path in tmp_path.iterdir()) == [young.name, other.name, "b"]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: (path / "task.toml").write_text("x = 2\n"), "task.toml was changed"),
        (lambda path: (path / "task.toml").unlink(), "task.toml is missing"),
        (lambda path: (path / "conftest.py").write_text(""), "conftest.py was added"),
        (lambda path: (path / "tests/test.sh").chmod(0o644), "tests/test.sh has another mode"),
        (lambda path: os.mkfifo(path / "pipe"), "pipe was added"),
        (lambda path: (path / "new").mkdir() or (path / "new/x").write_text(""), "new/x was added"),
    ],
)
def test_a_changed_bundle_is_refused(tmp_path, spoil, said):
    write(planned(), tmp_path / "b")
    spoil(tmp_path / "b")
    with pytest.raises(BundleError, match=said):
        open_bundle(tmp_path / "b")
    assert is_bundle(tmp_path / "b"), "it may still be replaced"


def test_a_link_is_never_followed(tmp_path):
    write(planned(), tmp_path / "b")
    same = (tmp_path / "b/task.toml").read_bytes()
    (tmp_path / "elsewhere").write_bytes(same)
    (tmp_path / "b/task.toml").unlink()
    (tmp_path / "b/task.toml").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BundleError, match="no regular file"):
        open_bundle(tmp_path / "b")


def test_a_changed_manifest_is_refused(tmp_path):
    write(planned(), tmp_path / "b")
    where = tmp_path / "b" / MANIFEST_PATH
    manifest = json.loads(where.read_text())
    manifest["files"].pop("task.toml")
    where.write_text(json.dumps(manifest))
    with pytest.raises(BundleError, match="manifest has been changed"):
        open_bundle(tmp_path / "b")
    manifest["schema"] = 2
    where.write_text(json.dumps(manifest))
    with pytest.raises(BundleError, match="schema 2"):
        open_bundle(tmp_path / "b")


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b"null", b'{"schema": 1}', b"[" * 100_000])
def test_a_folder_with_another_manifest_is_no_bundle(tmp_path, data):
    (tmp_path / "b/aespec").mkdir(parents=True)
    (tmp_path / "b" / MANIFEST_PATH).write_bytes(data)
    with pytest.raises(BundleError):
        open_bundle(tmp_path / "b")
    assert not is_bundle(tmp_path / "b")
    with pytest.raises(BundleError, match="did not write"):
        write(planned(), tmp_path / "b")


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "a//b", "./a", "", "a/"])
def test_a_plan_never_writes_outside_its_folder(tmp_path, path):
    with pytest.raises(ValueError, match="no path inside"):
        write_module_function(planned(**{path: PlannedFile(b"x")}), tmp_path / "b")
    assert list(tmp_path.iterdir()) == []
