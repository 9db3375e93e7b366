"""Edits of a state in memory do what they do on disk."""

import pytest

from aespec.model.edit import Edit
from aespec.model.edits import EditError
from aespec.operators.states import edit_state
from aespec.runtime.memory import MemoryState, Node


def test_a_link_takes_the_place_of_a_file_and_is_followed():
    state = edit_state(MemoryState.of({"/a": b"x", "/b": b"y"}), [Edit("/a", "", "link", "b")])
    assert state.stat("/a").kind == "link"
    assert state.read("/a") == b"y"


def test_a_folder_takes_the_place_of_all_that_stood_there():
    state = MemoryState.of({"/d/e/f": b"x", "/d/g": b"y"})
    changed = edit_state(state, [Edit("/d", "", "folder")])
    assert changed.names("/d") == []
    assert state.names("/d") == ["e", "g"], "the given state stays"


def test_a_file_takes_the_place_of_a_link_and_its_mode_is_that_of_a_new_file():
    state = MemoryState({"/a": Node("link", mode=0o777, target="/nowhere")})
    changed = edit_state(state, [Edit("/a", "", "put", {"text": "x"})])
    assert changed.stat("/a") == ("file", 1, 0o644, 0, 0)


@pytest.mark.parametrize("value", [None, "", "a\0b", 3, {"target": "/b"}])
def test_a_link_needs_a_path(value):
    with pytest.raises(EditError):
        edit_state(MemoryState.of({"/a": b"x"}), [Edit("/a", "", "link", value)])
