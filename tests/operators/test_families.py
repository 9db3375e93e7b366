"""What operators propose: it fits, it changes something, and a reader of its own agrees with its polarity."""

import json
import os
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aespec.model.chooser import SeededChooser
from aespec.model.edits import edit_from_json, edit_to_json
from aespec.operators.api import FILE_KINDS, KINDS, POLARITIES, Scene
from aespec.operators.registry import all_operators
from aespec.operators.scene import state_of
from aespec.operators.states import edit_state
from tests.compiler.schemas import validate
from tests.operators import making

COUNTS = Path(__file__).with_name("counts.md")


def mutants_of(output, scene, chooser, limit=3):
    for operator, propose in all_operators():
        for mutant in islice(propose(output, scene, chooser), limit):
            assert (mutant.operator, mutant.family, mutant.polarity) == (
                operator.name,
                operator.family,
                operator.polarity,
            )
            yield mutant


def check(mutant, output, scene):
    """The edits survive being written down, fit, change the state, and mean what the polarity says."""
    told = json.loads(json.dumps([edit_to_json(edit) for edit in mutant.edits]))
    before = state_of(scene)
    after = edit_state(before, [edit_from_json(edit) for edit in told])
    assert after.nodes != before.nodes
    assert mutant.leaf.partition("#")[0] == output.path
    assert mutant.says
    assert "\n" not in mutant.says
    old, new = before.nodes.get(output.path), after.nodes.get(output.path)
    if mutant.polarity == "depends" or old is None or new is None or old.kind != "file" or new.kind != "file":
        assert mutant.polarity != "right"
        return
    is_same = making.value_of(output.kind, output.path, old.data) == making.value_of(
        output.kind, output.path, new.data
    )
    assert is_same == (mutant.polarity == "right"), (mutant, old.data, new.data)


@pytest.mark.parametrize("files", making.EVERY_KIND, ids=lambda made: made.__name__)
@settings(max_examples=20)
@given(st.data())
def test_each_mutant_is_what_its_polarity_says(files, data):
    path, content = data.draw(files())
    output = making.output(path, content)
    scene = Scene((output,), {"/app/in.txt": b"delta 41\n"}, data.draw(st.sampled_from(["", "Sort it."])))
    for mutant in mutants_of(output, scene, SeededChooser(data.draw(st.integers(0, 99)))):
        check(mutant, output, scene)


@pytest.mark.parametrize("instruction", ["Write it.", "Sort it."])
def test_each_mutant_of_the_fixed_outputs_is_what_its_polarity_says(instruction):
    scene = making.fixed_scene(instruction)
    for output in scene.outputs:
        for mutant in mutants_of(output, scene, SeededChooser(3), limit=8):
            check(mutant, output, scene)
            for edit in mutant.edits:
                validate("edit", edit_to_json(edit))


@settings(max_examples=20)
@given(st.binary(max_size=64), st.binary(max_size=64))
def test_any_bytes_are_taken(content, before):
    output = making.output("/app/x", content, before)
    scene = Scene((output,))
    for mutant in mutants_of(output, scene, SeededChooser(1)):
        after = edit_state(state_of(scene), mutant.edits)
        assert after.nodes != state_of(scene).nodes


def test_equal_draws_give_equal_mutants():
    scene = making.fixed_scene()

    def drawn(seed):
        return [
            mutant for output in scene.outputs for mutant in mutants_of(output, scene, SeededChooser(seed))
        ]

    assert drawn(5) == drawn(5)
    assert drawn(5) != drawn(6)


def test_every_operator_proposes_something():
    scenes = [making.fixed_scene(text) for text in ("Write it.", "Sort it.")]
    outputs = [(scene, output) for scene in scenes for output in scene.outputs]
    locked = making.output("/app/key", b"secret\n", mode=0o600)
    marked = making.output("/app/run", b"#!/bin/sh\nls\n", mode=0o755)
    outputs += [(Scene((output,)), output) for output in (locked, marked)]
    silent = [
        operator.name
        for operator, propose in all_operators()
        if not any(next(propose(output, scene, SeededChooser(1)), None) for scene, output in outputs)
    ]
    assert not silent


def test_names_are_slugs_of_their_own_and_kinds_are_known():
    names = [operator.name for operator, _ in all_operators()]
    assert len(set(names)) == len(names)
    for operator, _ in all_operators():
        assert operator.polarity in POLARITIES
        assert set(operator.kinds) <= set(KINDS)
        assert operator.name.replace("-", "").isalpha()


def test_every_kind_of_file_can_be_made_wrong():
    for kind in KINDS:
        families = {
            operator.family
            for operator, _ in all_operators()
            if kind in operator.kinds and operator.polarity == "wrong"
        }
        assert len(families) >= (2 if kind in FILE_KINDS else 1), kind


def test_how_many_mutants_of_each_family_the_fixed_outputs_have():
    """A table to be read: a family that lost its mutants is seen in the diff."""
    scene = making.fixed_scene()
    counts = Counter()
    for output in scene.outputs:
        for _, propose in all_operators():
            for mutant in islice(propose(output, scene, SeededChooser(1)), 24):
                counts[output.path, mutant.family, mutant.polarity] += 1
    families = sorted({key[1:] for key in counts})
    paths = [output.path for output in scene.outputs]
    lines = ["# Mutants of the fixed outputs, at most 24 of an operator", ""]
    names = [path.rpartition("/")[2] for path in paths]
    lines += [f"| family | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for family, polarity in families:
        cells = [str(counts[path, family, polarity] or "") for path in paths]
        lines.append(f"| {family} ({polarity}) | {' | '.join(cells)} |")
    text = "\n".join([*lines, ""])
    if os.environ.get("AESPEC_UPDATE"):
        COUNTS.write_text(text)
    assert COUNTS.read_text() == text
