"""A sample to take a rate from: uniform over leaf and family, nothing twice, whole files rare."""

from collections import Counter

from aespec.model.chooser import SeededChooser
from aespec.operators.sampling import draw_sample, state_digest
from aespec.operators.scene import make_scene, state_of
from aespec.operators.states import edit_state
from aespec.runtime.memory import Node
from tests.operators import making


def scene_of(text="alpha 1\nbeta 2\ngamma 3\n"):
    return make_scene({}, {"/app/x.txt": Node(data=text.encode())}, {}, "Write /app/x.txt.")


def test_no_end_state_is_drawn_twice_and_whole_files_are_at_most_a_tenth():
    scene = making.fixed_scene()
    sample = draw_sample(scene, SeededChooser(1), 100)
    assert len(sample.mutants) == 100
    states = {state_digest(edit_state(state_of(scene), mutant.edits)) for mutant in sample.mutants}
    assert len(states) == 100
    assert sum("#" not in mutant.leaf for mutant in sample.mutants) <= 10
    assert {mutant.polarity for mutant in sample.mutants} == {"wrong"}
    assert sum(sample.strata.values()) == 100


def test_equal_seeds_draw_alike():
    scene = scene_of()
    assert draw_sample(scene, SeededChooser(4), 20) == draw_sample(scene, SeededChooser(4), 20)
    assert draw_sample(scene, SeededChooser(4), 20) != draw_sample(scene, SeededChooser(5), 20)


def test_a_small_space_is_taken_whole():
    scene = make_scene({}, {"/app/x.txt": Node(data=b"7\n")})
    sample = draw_sample(scene, SeededChooser(1), 1_000)
    assert sample.is_whole
    assert all(sample.strata[mutant.family] for mutant in sample.mutants)
    assert not draw_sample(scene, SeededChooser(1), 2).is_whole


def test_a_stratum_without_a_draw_is_told():
    sample = draw_sample(scene_of(), SeededChooser(1), 1)
    assert len(sample.mutants) == 1
    assert 0 in sample.strata.values()


def test_leaves_are_drawn_alike_however_many_mutants_they_have():
    """A leaf with many mutants is not drawn more often than one with few."""
    scene = scene_of("word 12345\nword\n")
    drawn = Counter(
        draw_sample(scene, SeededChooser(seed), 1).mutants[0].leaf.partition("#")[2] for seed in range(300)
    )
    families = {
        leaf: len(
            {
                mutant.family
                for mutant in draw_sample(scene, SeededChooser(1), 10_000).mutants
                if mutant.leaf.endswith(leaf)
            }
        )
        for leaf in ("#1", "#2")
    }
    expected = families["#1"] / families["#2"]
    assert 0.6 * expected < drawn["1"] / drawn["2"] < 1.6 * expected
