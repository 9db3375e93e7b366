"""Scenes: what a solution changed, the outputs that matter first."""

import os
import subprocess
import sys

from aespec.operators.scene import make_scene, state_of
from aespec.runtime.memory import Node


def test_outputs_are_what_is_new_changed_or_gone():
    before = {"/app/a": Node(data=b"1"), "/app/same": Node(data=b"2"), "/app/gone": Node(data=b"3")}
    after = {
        "/app/a": Node(data=b"9"),
        "/app/same": Node(data=b"2"),
        "/app/gone": None,
        "/app/link": Node("link", target="a"),
        "/app/new.json": Node(data=b"{}"),
    }
    scene = make_scene(before, after, {"/app/in": b"x"}, "Do it.")
    assert {output.path: output.kind for output in scene.outputs} == {
        "/app/a": "text",
        "/app/gone": "deleted",
        "/app/link": "link",
        "/app/new.json": "json",
    }
    assert state_of(scene).read("/app/in") == b"x"
    assert state_of(scene).stat("/app/gone") is None
    assert scene.instruction == "Do it."


def test_what_the_instruction_names_comes_first_and_by_products_last():
    paths = [
        "/app/__pycache__/a.pyc",
        "/root/.cache/x",
        "/usr/lib/y",
        "/app/z",
        "/app/b.txt",
        "/app/out/r.json",
    ]
    told = "Write r.json and /app/z."
    scene = make_scene({}, {path: Node(data=b"x") for path in paths}, {}, told)
    ordered = [output.path for output in scene.outputs]
    assert ordered[:3] == ["/app/z", "/app/out/r.json", "/app/b.txt"]
    assert set(ordered[3:]) == set(paths[:3])


def test_a_mode_alone_makes_an_output():
    scene = make_scene({"/app/a": Node(data=b"x")}, {"/app/a": Node(data=b"x", mode=0o755)})
    assert [output.path for output in scene.outputs] == ["/app/a"]


def test_mutants_are_the_same_whatever_the_hash_seed():
    program = (
        "from itertools import islice\n"
        "from aespec.model.chooser import SeededChooser\n"
        "from aespec.operators.registry import all_operators\n"
        "from tests.operators import making\n"
        "scene = making.fixed_scene()\n"
        "for output in scene.outputs:\n"
        "    for operator, propose in all_operators():\n"
        "        for mutant in islice(propose(output, scene, SeededChooser(1)), 2):\n"
        "            print(mutant)\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1
    assert told.pop()
