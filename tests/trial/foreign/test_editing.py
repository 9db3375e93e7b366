"""Edits planned for a slot lead to the state that the same edits lead to in memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aespec.model.edit import Edit
from aespec.model.edits import EditError
from aespec.operators.states import edit_state
from aespec.runtime.memory import MemoryState, Node
from aespec.trial.foreign.editing import plan_edits

STATE = {
    "/app/a": Node(data=b"one two", mode=0o600, uid=7, gid=8),
    "/app/d/b": Node(data=b"b"),
    "/app/d/e/c": Node(data=b"c"),
    "/app/l": Node("link", mode=0o777, target="a"),
    "/app/j.json": Node(data=b'{"n": 1}'),
}
PATHS = st.sampled_from(
    ["/app/a", "/app/d", "/app/d/b", "/app/d/e", "/app/l", "/app/new", "/app/new/x", "/app/j.json"]
)
EDITS = st.one_of(
    st.builds(lambda path, text: Edit(path, "", "put", {"text": text}), PATHS, st.sampled_from(["", "x"])),
    st.builds(lambda path: Edit(path, "", "delete"), PATHS),
    st.builds(lambda path: Edit(path, "", "folder"), PATHS),
    st.builds(lambda path: Edit(path, "", "link", "elsewhere"), PATHS),
    st.builds(lambda path: Edit(path, "", "swap", {"old": "one", "new": "1"}), PATHS),
    st.just(Edit("/app/j.json", "/n", "set", 2)),
)


def read(paths):
    """What a slot would give: the nodes at and below the paths, folders too."""
    found = {
        path: node for path, node in STATE.items() if any((path + "/").startswith(at + "/") for at in paths)
    }
    for at in paths:
        if at not in found and any(path.startswith(at + "/") for path in STATE):
            found[at] = Node("folder", mode=0o755)
    return found


def carried_out(plan):
    """The state after a plan, as a slot carries it out."""
    state = MemoryState(dict(STATE)).with_nodes(dict.fromkeys(plan.gone))
    for entry in plan.entries:
        kind = "link" if entry.target else "folder" if entry.data is None else "file"
        state = state.with_nodes({entry.path: Node(kind, entry.data or b"", entry.mode, entry.target)})
    return contents(state)


def contents(state):
    return {
        path: (node.kind, node.data, node.target)
        for path, node in state.nodes.items()
        if node.kind != "folder" or not any(other.startswith(path + "/") for other in state.nodes)
    }


@given(st.lists(EDITS, min_size=1, max_size=4), st.booleans())
def test_a_plan_leads_where_the_edits_lead(edits, is_known):
    known = {path: STATE[path] for path in STATE} if is_known else {}
    try:
        expected = contents(edit_state(MemoryState(dict(STATE)), edits))
    except EditError:
        with pytest.raises(EditError):
            plan_edits(edits, known, read)
        return
    assert carried_out(plan_edits(edits, known, read)) == expected


def test_mode_and_owner_stay_those_of_the_file():
    (entry,) = plan_edits([Edit("/app/a", "", "put", {"text": "x"})], {}, read).entries
    assert (entry.mode, entry.uid, entry.gid) == (0o600, 7, 8)
    (entry,) = plan_edits([Edit("/app/z", "", "put", {"text": "x"})], {}, read).entries
    assert (entry.mode, entry.uid, entry.gid) == (0o644, 0, 0)


def test_what_is_known_is_not_read():
    asked = []

    def noting(paths):
        asked.extend(paths)
        return read(paths)

    edits = [Edit("/app/a", "", "swap", {"old": "one", "new": "1"}), Edit("/app/d", "", "delete")]
    plan_edits(edits, {"/app/a": STATE["/app/a"], "/app/d/b": STATE["/app/d/b"], "/app/gone": None}, noting)
    assert asked == []
    with pytest.raises(EditError):
        plan_edits([Edit("/app/gone", "", "delete")], {"/app/gone": None}, noting)
