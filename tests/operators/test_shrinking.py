"""The smallest edits that still pass are found, within the tries, and the same ones each time."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aespec.model.chooser import SeededChooser
from aespec.model.edit import Edit
from aespec.model.edit_forms import delete, put
from aespec.operators.registry import all_operators
from aespec.operators.scene import make_scene, state_of
from aespec.operators.shrinking import shrink
from aespec.operators.states import edit_state
from aespec.runtime.memory import Node
from tests.operators import making


def scene_of(**files):
    return make_scene({}, {f"/app/{name.replace('_', '.')}": Node(data=data) for name, data in files.items()})


def passing(scene, holds):
    """A verifier that lets an end state pass, given its files; counts how often it is asked."""

    def survives(edits):
        survives.calls += 1
        state = edit_state(state_of(scene), edits)
        return holds({path: node.data for path, node in state.nodes.items()})

    survives.calls = 0
    return survives


def test_edits_that_change_nothing_for_the_verdict_are_dropped():
    scene = scene_of(a=b"1", b=b"2", c=b"3")
    survives = passing(scene, lambda files: files["/app/b"] != b"2")
    edits = [put("/app/a", b"x"), put("/app/b", b"y"), delete("/app/c")]
    assert shrink(edits, scene, survives) == (put("/app/b", b"y"),)


def test_a_whole_document_is_led_back_to_the_one_value_that_matters():
    document = {"total": 3, "names": ["ann", "bob"], "ok": True}
    junk = {"total": 8, "names": ["xyz", "pqr"], "ok": False}
    scene = scene_of(x_json=json.dumps(document).encode())
    survives = passing(scene, lambda files: json.loads(files["/app/x.json"])["total"] != 3)
    edits = [put("/app/x.json", json.dumps(junk))]
    (found,) = shrink(edits, scene, survives)
    assert (found.pointer, found.operation) == ("/total", "set")


def test_lines_and_letters_are_led_back():
    scene = scene_of(x_txt=b"one\ntwo\nthree\nfour\n")
    survives = passing(scene, lambda files: b"four" not in files["/app/x.txt"])
    found = shrink([put("/app/x.txt", b"uno\ndos\ntres\nfive\n")], scene, survives)
    text = edit_state(state_of(scene), found).nodes["/app/x.txt"].data.decode()
    assert text.startswith("one\ntwo\nthree\nf")
    assert sum(one != other for one, other in zip("four", text[14:18], strict=True)) == 1


def test_rows_of_a_table_are_led_back():
    scene = scene_of(x_csv=b"a,b\n1,2\n3,4\n5,6\n")
    survives = passing(scene, lambda files: b"5,6" not in files["/app/x.csv"])
    found = shrink([put("/app/x.csv", b"a,b\n9,9\n9,9\n9,9\n")], scene, survives)
    state = edit_state(state_of(scene), found)
    assert state.nodes["/app/x.csv"].data.startswith(b"a,b\n1,2\n3,4\n")


def test_values_become_simple():
    scene = scene_of(x_json=b'{"a": "long words", "b": 1}')
    survives = passing(scene, lambda files: "a" in json.loads(files["/app/x.json"]))
    found = shrink([Edit("/app/x.json", "/a", "set", "other long words")], scene, survives)
    assert found == (Edit("/app/x.json", "/a", "set", None),)


def test_what_is_gone_stays_gone():
    scene = scene_of(x_txt=b"one\n")
    edits = (delete("/app/x.txt"),)
    assert shrink(edits, scene, passing(scene, lambda files: True)) == edits


@pytest.mark.parametrize("calls", [0, 1, 5])
def test_no_more_tries_are_made_than_allowed(calls):
    scene = scene_of(x_txt=b"".join(b"line %d\n" % number for number in range(50)))
    survives = passing(scene, lambda files: b"line 7\n" not in files["/app/x.txt"])
    edits = [put("/app/x.txt", b"".join(b"word %d\n" % number for number in range(50)))]
    found = shrink(edits, scene, survives, calls=calls)
    assert survives.calls <= calls
    assert survives(found), "what is found always survives"


@settings(max_examples=15)
@given(st.sampled_from(sorted(making.FIXED)), st.integers(0, 99), st.integers(0, 7))
def test_what_is_found_survives_and_is_no_larger(path, seed, modulus):
    """With an arbitrary verdict, on mutants of every kind together."""
    scene = making.fixed_scene()
    output = next(item for item in scene.outputs if item.path == path)
    mutants = []
    for _, propose in all_operators():
        mutants += [mutant for mutant in [next(propose(output, scene, SeededChooser(seed)), None)] if mutant]
    mutant = mutants[seed % len(mutants)]
    other = delete("/app/picture") if path != "/app/picture" else delete("/app/nothing")
    edits = (*mutant.edits, other)
    size = len(str(edits))

    def survives(tried):
        state = edit_state(state_of(scene), tried)
        node = state.nodes.get(path)
        return tried == edits or (node is not None and sum(node.data) % 8 >= modulus)

    found = shrink(edits, scene, survives, calls=40)
    assert survives(found)
    assert len(str(found)) <= size or len(found) <= len(edits)
    assert found == shrink(edits, scene, survives, calls=40)
    assert edit_state(state_of(scene), found).nodes != state_of(scene).nodes
