"""Blind policies: what they put in the outputs' place, and that none is the right end state by chance."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aespec.fuzz.audit.policies import blind_policies
from aespec.operators.formats.containers import read_container
from aespec.operators.formats.databases import read_database
from aespec.operators.scene import make_scene
from aespec.runtime.memory import Node
from tests.operators import making


def scene_of(after, before=None, inputs=None, instruction=""):
    nodes = {path: Node(data=data, mode=0o644) for path, data in after.items()}
    old = {path: Node(data=data) if data is not None else None for path, data in (before or {}).items()}
    return make_scene({**dict.fromkeys(nodes), **old}, nodes, inputs or {}, instruction)


def states(scene):
    """By the policy's name what it puts, by path."""
    found = {}
    for policy in blind_policies(scene):
        assert policy.probe.base == "start"
        found[policy.name] = {edit.path: content(edit) for edit in policy.probe.edits}
    return found


def content(edit):
    if edit.operation == "delete":
        return None
    value = edit.value
    return value["text"].encode() if "text" in value else base64.b64decode(value["base64"])


def test_files_of_every_shape_are_destroyed():
    after = {
        "/app/o.json": b'{"total": 1200, "name": "rent", "paid": true, "rows": [1, 2]}',
        "/app/t.csv": b"id,name\n7,Ann\n8,Bob\n",
        "/app/p.txt": b"seven of 9\n",
        "/app/b.bin": b"\0\1\2\3",
    }
    found = states(scene_of(after, inputs={"/app/in.csv": b"a,b\n"}, instruction="Do it."))
    assert set(found["emptied"].values()) == {b""}
    assert json.loads(found["defaults"]["/app/o.json"]) == {
        "total": 0,
        "name": "",
        "paid": False,
        "rows": [0, 0],
    }
    assert found["defaults"]["/app/t.csv"] == b"id,name\n0,\n0,\n"
    assert found["headers"]["/app/t.csv"] == b"id,name\n"
    assert json.loads(found["headers"]["/app/o.json"]).keys() == {"total", "name", "paid", "rows"}
    assert found["zeros"]["/app/b.bin"] == b"\0" * 4
    assert len(found["junk"]["/app/p.txt"]) == len(after["/app/p.txt"])
    scrambled = json.loads(found["scrambled"]["/app/o.json"])
    assert scrambled.keys() == {"total", "name", "paid", "rows"}
    assert scrambled["name"] != "rent"
    assert found["scrambled"]["/app/t.csv"].startswith(b"id,name\n")
    assert found["constant {}"]["/app/o.json"] == b"{}\n"
    assert found["instruction"]["/app/p.txt"] == b"Do it."
    assert found["copy of /app/in.csv"]["/app/p.txt"] == b"a,b\n"


def test_outputs_that_were_there_are_deleted_and_new_ones_left_out():
    found = states(scene_of({"/app/a": b"new\n", "/app/b": b"b\n"}, {"/app/a": b"old\n"}))
    assert found["deleted"] == {"/app/a": None}
    assert "deleted" not in states(scene_of({"/app/a": b"new\n"})), "that is what doing nothing leaves"


CODE = b"""\
import os
X = 3
class A:
    def __init__(self, x):
        self.x = x
    def f(self, x):
        return x
async def g(a, *, b=1):
    return a
def h():
    yield 1
if __name__ == '__main__':
    print(h())
"""


def test_functions_become_stubs_and_nothing_runs():
    found = states(scene_of({"/app/a.py": CODE}))
    text = found["stubs that return the first argument"]["/app/a.py"].decode()
    names = {}
    exec(compile(text, "a.py", "exec"), names)
    assert names["X"] == 3
    assert names["A"](5).f(9) == 9
    assert names["h"]() is None
    assert "print" not in text
    assert "return 0" in found["stubs that return 0"]["/app/a.py"].decode()
    shell = states(scene_of({"/app/a.sh": b"#!/bin/sh\necho 1\n"}))
    assert shell["stubs that return None"]["/app/a.sh"] == b"#!/bin/sh\nexit 0\n"


@pytest.mark.parametrize("after", [b"0\n", b"{}\n", b"{ }", b"", b"Do it."])
def test_a_policy_that_happens_to_be_right_is_no_policy(after):
    found = states(scene_of({"/app/o.json": after}, instruction="Do it."))
    kept = {name for name, made in found.items() if made["/app/o.json"] == after}
    assert not kept


def test_a_scene_without_files_has_no_policies():
    assert states(make_scene({"/app/a": Node(data=b"x")}, {"/app/a": None})) == {}
    assert states(make_scene({}, {})) == {}


def test_links_are_left_alone():
    scene = make_scene({}, {"/app/l": Node("link", target="x"), "/app/f": Node(data=b"text\n")})
    assert all(made.keys() == {"/app/f"} for made in states(scene).values())


@given(st.dictionaries(st.sampled_from(["/a/x.json", "/a/x.csv", "/a/x.py", "/a/x"]), st.binary(max_size=60)))
def test_policies_are_steady_and_all_different(after):
    scene = scene_of(after, dict.fromkeys(after))
    first = list(blind_policies(scene))
    assert first == list(blind_policies(scene))
    assert len({str(policy.probe.edits) for policy in first}) == len(first)
    for policy in first:
        assert policy.probe.edits


@given(st.text(max_size=80).map(str.encode))
def test_any_json_like_text_is_taken(data):
    states(scene_of({"/a/x.json": b'[{"a": ' + data + b"}]"}))


def test_archives_and_databases_keep_their_shape_and_lose_their_content():
    scene = scene_of({"/app/pack.zip": making.FIXED["/app/pack.zip"], "/app/shop.db": making.DATABASE})
    hollow = states(scene)["defaults"]
    container = read_container(hollow["/app/pack.zip"])
    assert {member.name: member.data for member in container.members} == {"x/a.txt": b"", "b.bin": b""}
    before, after = read_database(making.DATABASE), read_database(hollow["/app/shop.db"])
    assert [(rows.name, len(rows.cells)) for rows in after.tables] == [
        (rows.name, len(rows.cells)) for rows in before.tables
    ]
    cells = {type(cell): cell for rows in after.tables for row in rows.cells for cell in row}
    assert cells[str] == ""
