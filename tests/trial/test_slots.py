"""Edits carried out on what stands in a slot, and examples read back from a bundle."""

import json
import tarfile
import time

import pytest

from aespec.bundle import Bundle, BundleError, Recipe
from aespec.model.edit import Edit
from aespec.model.edits import EditError
from aespec.sandbox import open_sandbox
from aespec.sandbox.api import SandboxLimits
from aespec.sandbox.tars import Entry, pack
from aespec.trial.acting import edit_slot, edit_text
from aespec.trial.archives import iterate_members, read_files
from aespec.trial.examples import read_examples
from tests.trial.making import SPEC, FakeSlot, compile_text


@pytest.fixture
def slot():
    made = FakeSlot(lambda program, files: None)
    made.files = {"/app/a": b"one two", "/app/d/b": b"x", "/app/d/e/c": b"y", "/app/dd": b"z"}
    return made


def test_files_are_put_swapped_and_deleted(slot):
    edit_slot(slot, Edit("/app/new", "", "put", {"text": "n"}))
    edit_slot(slot, Edit("/app/a", "", "swap", {"old": "one", "new": "1"}))
    edit_slot(slot, Edit("/app/dd", "", "delete"))
    assert slot.files == {"/app/a": b"1 two", "/app/d/b": b"x", "/app/d/e/c": b"y", "/app/new": b"n"}


@pytest.mark.parametrize("operation", ["delete", "swap"])
def test_what_is_not_there_is_an_error(slot, operation):
    with pytest.raises(EditError):
        edit_slot(slot, Edit("/app/none", "", operation, {"old": "a", "new": "b"}))


@pytest.mark.needs("userns")
def test_in_a_real_slot(tmp_path):
    sandbox = open_sandbox("fork")
    bundle = compile_text(SPEC, tmp_path, sandbox)
    image = sandbox.prepare(bundle.environment, bundle.path / "environment")
    with sandbox.open(image, SandboxLimits()) as slot:
        slot.put(pack([Entry("/app/d", None, 0o755), Entry("/app/d/b", b"x"), Entry("/app/l", target="d")]))
        for path in ("/app/l", "/app/d"):
            edit_slot(slot, Edit(path, "", "delete"))
        before = int(time.time())
        edit_slot(slot, Edit("/app/numbers.txt", "", "swap", {"old": read_numbers(slot), "new": "1\n"}))
        found = {member.name: member for member, _ in iterate_members(slot.get(["/app"]))}
    assert found.keys() == {"app", "app/numbers.txt"}, "a folder goes with all below it, a link alone"
    assert found["app/numbers.txt"].mtime >= before, "programs such as make see that it is new"


@pytest.mark.needs("userns")
def test_links_folders_and_files_take_each_others_place(tmp_path):
    sandbox = open_sandbox("fork")
    bundle = compile_text(SPEC, tmp_path, sandbox)
    image = sandbox.prepare(bundle.environment, bundle.path / "environment")
    with sandbox.open(image, SandboxLimits()) as slot:
        slot.put(pack([Entry("/app/d", None, 0o755), Entry("/app/d/b", b"x"), Entry("/app/f", b"y")]))
        edit_slot(slot, Edit("/app/d", "", "link", "f"))
        edit_slot(slot, Edit("/app/f", "", "folder"))
        edit_slot(slot, Edit("/app/numbers.txt", "", "link", "/nowhere"))
        edit_slot(slot, Edit("/app/numbers.txt", "", "put", {"text": "1\n"}))
        edit_slot(slot, Edit("/app/new", "", "folder"))
        edit_slot(slot, Edit("/app/new", "", "put", {"text": "n"}))
        found = {member.name: member for member, _ in iterate_members(slot.get(["/app"]))}
    kinds = {name: (member.type, member.linkname) for name, member in found.items()}
    assert kinds == {
        "app": (tarfile.DIRTYPE, ""),
        "app/d": (tarfile.SYMTYPE, "f"),
        "app/f": (tarfile.DIRTYPE, ""),
        "app/new": (tarfile.REGTYPE, ""),
        "app/numbers.txt": (tarfile.REGTYPE, ""),
    }


def read_numbers(slot):
    return read_files(slot.get(["/app/numbers.txt"]))["/app/numbers.txt"].decode()


def test_a_text_that_stands_twice_by_overlapping_is_not_swapped():
    assert edit_text("abab", (("bab", ""),)) == "a"
    with pytest.raises(BundleError, match="2 times"):
        edit_text("ababab", (("abab", ""),))


def test_examples_of_a_newer_schema_are_refused(tmp_path):
    place = tmp_path / "aespec" / "examples.json"
    place.parent.mkdir()
    bundle = Bundle(tmp_path, "t", "harbor", "", {}, Recipe("b", (), "e"), Recipe("b", (), "t"))
    told = {"schema": 1, "oracle": {"interpreter": "sh", "text": "true"}, "examples": []}
    place.write_text(json.dumps(told))
    assert read_examples(bundle).oracle.text == "true"
    place.write_text(json.dumps({**told, "schema": 2}))
    with pytest.raises(BundleError, match="schema 2"):
        read_examples(bundle)
