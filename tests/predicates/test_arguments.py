"""Laws take any arguments that fit the signature, and what doesn't fit is told before they are asked."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aespec import predicates
from aespec.predicates.arguments import misfits
from aespec.runtime.memory import MemoryState
from aespec.runtime.state import Missing, Trouble, Verdict

VALUES = [
    None,
    True,
    0,
    -1,
    3,
    1.5,
    "",
    "x",
    "/app/x",
    [],
    [1, 2],
    ["a", "a"],
    [[1]],
    [[]],
    [{}],
    [{"a": 1}, {"a": "x"}],
    [{"args": 3, "returns": 1}],
    [{"args": [], "kwargs": [1], "raises": 3}],
    [{"env": 3}, {"umask": "9"}],
    [{"copy_to": 5, "mtime": "x"}],
    {},
    {"a": 1},
    {"/app/x": {"sha256": 3}},
    {"/app/x": {"json": None}},
    {"a": [1]},
]
"""Values of every shape; of each kind those are taken that fit, and a few that are its own."""

OWN = {
    "path": ["/", "/app", "/app/out.json#total", "/app/out.json#/a/0", "/app/t.tsv"],
    "text": ["rwxr-xr-x", "0755", ";;", "\t", "# 1\n2"],
    "regex": ["(a+)+$", "x"],
    "texts": [["a\nb"], ["/a", "b"], [""]],
    "hidden-file": ["cases.json"],
}


def fitting(parameter, signature):
    choices = [*VALUES, *OWN.get(parameter.kind, []), *parameter.choices]
    return [value for value in choices if not misfits(signature, {parameter.name: value})]


def refused(holds, state, args):
    """Why a claim can't be judged; "" where it was."""
    try:
        assert isinstance(holds(state, args), Verdict)
    except (Missing, Trouble) as refusal:
        return str(refusal)
    return ""


@pytest.mark.parametrize("predicate", predicates.all_predicates(), ids=lambda item: item.name)
def test_laws_answer_for_all_arguments_that_fit(predicate):
    signature, laws = predicate.signature, predicate.laws
    offered = {item.name: fitting(item, signature) for item in signature.params}
    assert all(offered.values()), "every kind has values that fit"
    draw = random.Random(predicate.name)
    state = MemoryState.of({"/app/x": b"x\n", "/app/out.json": b"{}"}, hidden={"cases.json": b"[]"})
    sound = 0
    for _ in range(700):
        names = [item.name for item in signature.params if item.is_required]
        names += [item.name for item in signature.params if draw.random() < 0.4]
        args = {name: draw.choice(offered[name]) for name in names}
        for question in (laws.says, laws.promises, laws.reads, laws.literals, laws.needs, laws.faults):
            question(args)
        if laws.faults(args) or not all(set(group) & set(args) for group in signature.requires_one_of):
            continue
        sound += 1
        refusal = refused(predicate.holds, state, signature.complete(args))
        # Only what isn't there to be asked: programs, hidden files, a recorded start state.
        words = ("program", "hidden", "recorded", "cases")
        assert not refusal or any(word in refusal for word in words), (args, refusal)
    assert sound > 20


@pytest.mark.parametrize(
    ("predicate", "args", "word"),
    [
        ("text", {"path": "/a", "equals": 3}, "equals is a text, not 3"),
        ("text", {"path": "/a", "count": True}, "count is a whole number, not true"),
        ("text", {"path": "/a", "lines": []}, "lines is a text or a list of at least one, not a list of 0"),
        ("text", {"path": "/a", "matches": "("}, "matches is a pattern"),
        ("text", {"path": "a", "equals": ""}, "path is an absolute, normal path"),
        ("file", {"path": "/a/../b"}, "path is an absolute, normal path"),
        ("file", {"path": "/a//b"}, "path is an absolute, normal path"),
        ("file", {"path": "/a", "min_size": -1}, "min_size is a number of bytes"),
        ("file", {"path": "/a", "kind": "door"}, "kind is one of its choices"),
        ("command", {"argv": ["x"], "timeout": 0}, "timeout is a number of seconds above 0"),
        ("command", {"argv": ["x"], "creates": [1]}, "creates is a map, not a list of 1"),
        ("json", {"path": "/a", "equal": 1}, "there is no argument equal"),
    ],
)
def test_what_does_not_fit_is_told(predicate, args, word):
    told = misfits(predicates.find(predicate).signature, args)
    assert any(word in text for text in told), told


def test_paths_of_a_folder_and_of_a_leaf_fit():
    signature = predicates.find("unchanged").signature
    for path in ("/", "/app", "/app/", "/app/a.json#/x/../y"):
        assert misfits(signature, {"path": path}) == ()


@pytest.mark.parametrize(
    ("predicate", "args", "word"),
    [
        ("command", {"argv": ["/a"], "repeat": 0}, "nothing would be run"),
        ("command", {"argv": ["/a"], "repeat": -1}, "nothing would be run"),
        ("command", {"argv": ["/a"], "creates": {"/a": 3}}, "creates wants"),
        ("command", {"argv": ["/a"], "creates": {"a": "x"}}, "absolute"),
        ("command", {"argv": ["/a"], "same": ["/b"], "variations": [{"umask": "8"}]}, "umask"),
        ("file", {"path": "/a", "content": "x", "mode": "rwx"}, "mode in octal"),
        ("function", {"path": "/a", "name": "f", "cases": [{"args": 3, "returns": 1}]}, "args is no list"),
        ("table", {"path": "/a", "equals": None}, "not a list"),
        ("table", {"path": "/a", "columns": ["a"], "equals": 3}, "not a list"),
    ],
)
def test_arguments_that_make_no_sense_are_faults(predicate, args, word):
    assert any(word in fault for fault in predicates.laws(predicate).faults(args))


@pytest.mark.parametrize("repeat", [0, -1])
def test_a_command_that_would_not_be_run_never_holds(repeat):
    with pytest.raises(Trouble, match="nothing would be run"):
        predicates.find("command").holds(MemoryState.of({}), {"argv": ["/none"], "repeat": repeat})


WORDS = st.sampled_from(
    ["/app/x", "/x#/a", "/x#a[1]", "a", "any", "-", "", "[", "0644", "args", "returns", "raises", "kwargs"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats() | WORDS | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("predicate", predicates.all_predicates(), ids=lambda item: item.name)
@settings(max_examples=120, deadline=None)
@given(st.data())
def test_faults_are_told_of_any_json(predicate, data):
    """An answer may be anything; what is wrong with it is said, and nothing is raised."""
    args = {}
    for item in predicate.signature.params:
        if item.is_required or data.draw(st.booleans()):
            choices = st.sampled_from(item.choices) if item.choices else JSON
            args[item.name] = data.draw(JSON | choices | WORDS)
    found = predicate.laws.faults(args)
    assert all(isinstance(fault, str) and fault for fault in found)
    if misfits(predicate.signature, args):
        assert found
