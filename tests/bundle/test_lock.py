"""Locks: written, read back, and refused where they are none."""

import json

import pytest

from aespec.bundle.lock import lock_digest, lock_from_json, lock_path, lock_to_json, read_lock, write_lock
from aespec.model.lock import Lock, LockedImage
from tests.compiler.schemas import validate

LOCK = Lock(
    spec="tiny.aes",
    images={"debian:bookworm-slim": LockedImage("sha256:" + "a" * 64, "registry")},
    apt={"git": "1:2.39.5-0+deb12u2"},
    pip={"pytest": "8.3.4"},
    assets={"data.csv": "b" * 64},
    evaluator={"base": "debian:bookworm-slim", "digest": "c", "python": "3.11.2"},
    made_on="2026-11-30",
)


def test_a_lock_is_read_back(tmp_path):
    spec = tmp_path / "tiny.aes"
    lock_path(spec).write_bytes(write_lock(LOCK))
    assert lock_path(spec).name == "tiny.aes.lock"
    assert read_lock(lock_path(spec)) == (LOCK, ())
    validate("lock", lock_to_json(LOCK))


def test_no_lock_is_no_fault(tmp_path):
    assert read_lock(tmp_path / "none.lock") == (None, ())


def test_the_date_is_no_part_of_what_is_pinned():
    value = lock_to_json(LOCK)
    assert lock_digest(lock_from_json({**value, "made_on": "2030-01-01"})) == lock_digest(LOCK)
    assert lock_digest(lock_from_json({**value, "apt": {"git": "2"}})) != lock_digest(LOCK)


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"schema": None},
        {"spec": 3},
        {"images": {"x": {"digest": "latest", "source": "registry"}}},
        {"images": {"x": {"digest": "sha256:" + "a" * 64, "source": "hearsay"}}},
        {"images": []},
        {"apt": {"git": 2}},
        {"apt": {"git; rm -rf /": "1"}},
        {"apt": {"git": "1 && reboot"}},
        {"pip": {"pytest": "1\n--index-url=x"}},
        {"assets": {"a": None}},
        {"evaluator": "python"},
    ],
)
def test_what_is_no_lock_is_a_diagnostic(tmp_path, change):
    path = tmp_path / "a.lock"
    path.write_text(json.dumps({**lock_to_json(LOCK), **change}))
    lock, (found,) = read_lock(path)
    assert lock is None
    assert (found.slug, found.is_error) == ("lock-unreadable", True)
    assert found.help


@pytest.mark.parametrize("data", [b"", b"null", b"\xff\xfe", b"[" * 100_000, b" " * (5 * 1024 * 1024)])
def test_any_bytes_are_a_diagnostic(tmp_path, data):
    path = tmp_path / "a.lock"
    path.write_bytes(data)
    lock, (found,) = read_lock(path)
    assert lock is None
    assert found.slug == "lock-unreadable"


def test_a_folder_in_its_place_is_a_diagnostic(tmp_path):
    lock, (found,) = read_lock(tmp_path)
    assert lock is None
    assert found.slug == "lock-unreadable"
