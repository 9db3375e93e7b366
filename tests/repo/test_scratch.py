"""Temporary folders: gone at the end, and gone soon after a process that was killed."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aespec import scratch

HOLD = """
import sys, time
from aespec.scratch import scratch_folder
with scratch_folder("test") as folder:
    (folder / "deep").mkdir()
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def age(folder):
    then = time.time() - 2 * scratch.YOUNG_S
    os.utime(folder, (then, then))


def test_it_is_gone_at_the_end_also_of_an_error(place):
    def fail():
        with scratch.scratch_folder("test") as folder:
            (folder / "file").write_text("x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not list(place.iterdir())


def test_what_a_killed_process_left_is_removed_by_the_next(place):
    env = {**os.environ, "TMPDIR": str(place)}
    holder = subprocess.Popen([sys.executable, "-c", HOLD], env=env, stdout=subprocess.PIPE, text=True)
    left = Path(holder.stdout.readline().strip())
    age(left)
    with scratch.scratch_folder("test"):
        assert left.is_dir(), "its process lives"
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with scratch.scratch_folder("test"):
        assert not left.exists()


def test_nothing_else_is_touched(place):
    others = [place / "aespec-other", place / f"{scratch.PREFIX}young", place / "target"]
    for folder in others:
        folder.mkdir()
    link = place / f"{scratch.PREFIX}link"
    link.symlink_to(place / "target")
    age(others[0])
    age(others[2])
    (place / f"{scratch.PREFIX}file").write_text("x")
    with scratch.scratch_folder("test"):
        assert all(folder.is_dir() for folder in others)
        assert link.is_symlink()
