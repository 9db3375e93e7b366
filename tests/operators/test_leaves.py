"""Leaves: where they stand, what they weigh, and that setting one changes it and nothing else."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aespec.model.edits import apply_edit
from aespec.operators.api import Scene
from aespec.operators.leaves import leaves_of, leaves_of_scene, set_leaf
from aespec.operators.scene import make_scene
from aespec.runtime.memory import Node
from tests.operators import making


@pytest.mark.parametrize(
    ("path", "selectors"),
    [
        ("/app/rows.jsonl", ["/0/a", "/0/b", "/1/a", "/1/b", "/2/a", "/2/b"]),
        ("/app/amounts.csv", [f"{row}/{name}" for row in range(3) for name in ("id", "name", "amount")]),
        ("/app/list.txt", ["1", "2", "3"]),
        ("/app/conf.yaml", ["/name", "/ports/0", "/ports/1", "/env/debug", "/env/level"]),
        ("/app/conf.toml", ["/a/x", "/a/y", "/b/z/0", "/b/z/1", "/b/on"]),
        ("/app/data.xml", ["/a/@id", "/a/@kind", "/a/b", "/a/b/2", "/a/c/@on"]),
        ("/app/pack.zip", ["x/a.txt", "b.bin"]),
        ("/app/picture", [""]),
    ],
)
def test_the_leaves_of_each_kind(path, selectors):
    output = making.output(path, making.FIXED[path])
    assert [leaf.selector for leaf in leaves_of(output)] == selectors


def test_the_leaves_of_a_database_are_cells():
    output = making.output("/app/shop.db", making.DATABASE)
    assert {leaf.selector: leaf.value for leaf in leaves_of(output)}["orders/2/name"] == "Bob"


def test_weights_are_shares_of_the_file():
    for output in making.fixed_scene().outputs:
        weights = [leaf.weight for leaf in leaves_of(output)]
        assert all(0 < weight <= 1 for weight in weights), output.path
        assert sum(weights) <= 1 + 1e-9, output.path


def test_an_address_is_the_path_alone_for_a_whole_file():
    scene = make_scene({}, {"/app/a": Node(data=b"\0"), "/app/b.txt": Node(data=b"x\n")})
    assert [leaf.address for leaf in leaves_of_scene(scene)] == ["/app/a", "/app/b.txt#1"]


@pytest.mark.parametrize(
    "files",
    [making.json_files, making.line_files, making.table_files, making.toml_files, making.xml_files],
    ids=lambda made: made.__name__,
)
@settings(max_examples=30)
@given(st.data())
def test_a_leaf_that_is_set_is_another_one_and_the_others_stay(files, data):
    path, content = data.draw(files())
    output = making.output(path, content)
    leaves = [leaf for leaf in leaves_of(output) if leaf.selector and leaf.raw not in ("[]", "{}")]
    assume(leaves)
    leaf = data.draw(st.sampled_from(leaves))
    value = data.draw(
        st.sampled_from(["q'\"<&r", "", "plain", "12"] if output.kind != "xml" else ["q'\"<&r", "12"])
    )
    edit = set_leaf(output, leaf, value)
    assume(edit is not None)
    changed = making.output(path, apply_edit(content, edit))
    assert changed.kind == output.kind
    told = {found.selector: found.value for found in leaves_of(changed)}
    assert str(told.pop(leaf.selector)) == value
    assert told == {
        found.selector: found.value for found in leaves_of(output) if found.selector != leaf.selector
    }


@settings(max_examples=30)
@given(making.yaml_files(), st.data())
def test_what_the_line_reader_takes_for_a_scalar_of_yaml_is_one(made, data):
    """Setting it changes the document as its own parser reads it, in one place."""
    path, content = made
    output = making.output(path, content)
    leaves = [leaf for leaf in leaves_of(output) if leaf.node is not None and output.kind == "yaml"]
    assume(leaves)
    leaf = data.draw(st.sampled_from(leaves))
    edit = set_leaf(output, leaf, "other words")
    changed = apply_edit(content, edit)
    before, after = (making.value_of("yaml", path, item) for item in (content, changed))
    assert differences(before, after) == 1, (content, leaf, changed)


def differences(one, other):
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return sum(differences(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return sum(map(differences, one, other))
    return int(one != other)


def test_nothing_has_no_leaves():
    assert leaves_of_scene(Scene(())) == ()
