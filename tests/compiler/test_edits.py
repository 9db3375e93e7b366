"""Edits: what each does, that one that doesn't fit is an error, and that JSON gives them back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aespec.model.edit import Edit
from aespec.model.edits import EditError, apply_edit, apply_edits, edit_from_json, edit_mode, edit_to_json
from tests.compiler.schemas import validate

JSON_FILE = b'{\n  "a": [1, 2],\n  "b/c": {"~": null}\n}\n'
TABLE = b'id,name\n1,Ann\n2,"Bob, jr"\n'


def edit(path, pointer, operation, value=None):
    return Edit(path, pointer, operation, value)


@pytest.mark.parametrize(
    ("pointer", "operation", "value", "expected"),
    [
        ("/a/0", "set", 5, {"a": [5, 2], "b/c": {"~": None}}),
        ("/a/2", "insert", 3, {"a": [1, 2, 3], "b/c": {"~": None}}),
        ("/a/0", "insert", 0, {"a": [0, 1, 2], "b/c": {"~": None}}),
        ("/a/1", "remove", None, {"a": [1], "b/c": {"~": None}}),
        ("/b~1c/~0", "set", "x", {"a": [1, 2], "b/c": {"~": "x"}}),
        ("/b~1c", "remove", None, {"a": [1, 2]}),
        ("/a", "rename", "z", {"z": [1, 2], "b/c": {"~": None}}),
        ("/new", "set", {"k": True}, {"a": [1, 2], "b/c": {"~": None}, "new": {"k": True}}),
        ("", "set", [], []),
    ],
)
def test_a_leaf_of_json_is_changed_and_nothing_else(pointer, operation, value, expected):
    found = apply_edit(JSON_FILE, edit("/a.json", pointer, operation, value))
    assert json.loads(found) == expected
    assert list(json.loads(found)) == list(expected), "keys keep their order"


@pytest.mark.parametrize(
    ("pointer", "operation", "value", "expected"),
    [
        ("1/name", "set", "Eve", "id,name\n1,Ann\n2,Eve\n"),
        ("0", "remove", None, 'id,name\n2,"Bob, jr"\n'),
        ("2", "insert", ["3", "C"], 'id,name\n1,Ann\n2,"Bob, jr"\n3,C\n'),
        ("0", "set", ["9", "Z"], 'id,name\n9,Z\n2,"Bob, jr"\n'),
        ("name", "rename", "who", 'id,who\n1,Ann\n2,"Bob, jr"\n'),
    ],
)
def test_a_cell_a_row_or_a_header_is_changed(pointer, operation, value, expected):
    assert apply_edit(TABLE, edit("/t.csv", pointer, operation, value)).decode() == expected


def test_line_ends_and_tabs_of_a_table_stay():
    assert apply_edit(b"a\tb\r\n1\t2\r\n", edit("/t.tsv", "0/b", "set", 3)) == b"a\tb\r\n1\t3\r\n"


def test_escapes_of_a_document_stay_where_nothing_else_can_be_written():
    data = b'{"half": "\\ud800", "a": "\\u00e9"}'
    assert apply_edit(data, edit("/a", "/b", "set", 1)) == b'{"half": "\\ud800", "a": "\\u00e9", "b": 1}'
    assert apply_edit('{"a": "é"}'.encode(), edit("/a", "/b", "set", 1)) == '{"a": "é", "b": 1}'.encode()


def test_whole_files():
    files = {"/a": b"one two", "/b": b"x"}
    changed = apply_edits(
        files,
        [
            edit("/a", "", "swap", {"old": "two", "new": "three"}),
            edit("/b", "", "delete"),
            edit("/c", "", "put", {"text": "ü\n", "mode": 0o755}),
            edit("/d", "", "put", {"base64": "AP8="}),
            edit("/e", "", "link", "/a"),
            edit("/f", "", "folder"),
        ],
    )
    assert changed == {"/a": b"one three", "/c": "ü\n".encode(), "/d": b"\x00\xff"}
    assert files == {"/a": b"one two", "/b": b"x"}
    assert edit_mode(edit("/c", "", "put", {"text": "", "mode": 0o755})) == 0o755
    assert edit_mode(edit("/c", "", "put", {"text": ""})) is None


def test_where_a_link_or_a_folder_is_made_there_is_no_file_any_more():
    files = {"/a": b"x", "/b": b"y", "/c": b"z"}
    assert apply_edits(files, [edit("/a", "", "link", "nowhere"), edit("/b", "", "folder")]) == {"/c": b"z"}
    with pytest.raises(EditError, match="no file"):
        apply_edits(files, [edit("/a", "", "folder"), edit("/a", "", "swap", {"old": "x", "new": "y"})])


@pytest.mark.parametrize(
    ("data", "change"),
    [
        (b"aaa", edit("/a", "", "swap", {"old": "aa", "new": "b"})),  # stands there twice, overlapping
        (b"abc", edit("/a", "", "swap", {"old": "x", "new": "b"})),
        (b"abc", edit("/a", "", "swap", {"old": "", "new": "b"})),
        (b"abc", edit("/a", "", "swap", {"old": "a"})),
        (None, edit("/a", "", "swap", {"old": "a", "new": "b"})),
        (None, edit("/a", "", "delete")),
        (None, edit("/a", "/x", "set", 1)),
        (b"abc", edit("/a", "/x", "delete")),
        (b"abc", edit("/a", "", "put", {"text": "", "base64": ""})),
        (b"abc", edit("/a", "", "put", {"base64": "!"})),
        (b"abc", edit("/a", "", "link")),
        (b"abc", edit("/a", "", "link", "")),
        (b"abc", edit("/a", "", "link", "a\0b")),
        (b"abc", edit("/a", "", "link", {"target": "/b"})),
        (b"abc", edit("/a", "/x", "link", "/b")),
        (b"abc", edit("/a", "/x", "folder")),
        (b"abc", edit("/a", "", "explode")),
        (b"{", edit("/a", "/x", "set", 1)),
        (b"[" * 100_000, edit("/a", "/x", "set", 1)),
        (b"\xff", edit("/a", "/x", "set", 1)),
        (b"{}", edit("/a", "/x", "remove")),
        (b"{}", edit("/a", "/x/y", "set", 1)),
        (b"[1]", edit("/a", "/1", "set", 1)),
        (b"[1]", edit("/a", "/-1", "set", 1)),
        (b"[1]", edit("/a", "/²", "set", 1)),
        (b"[1]", edit("/a", "/2", "insert", 1)),
        (b"[1]", edit("/a", "/0", "rename", "x")),
        (b'{"a": 1, "b": 2}', edit("/a", "/a", "rename", "b")),
        (b"3", edit("/a", "/a", "set", 1)),
        (b"{}", edit("/a", "", "remove")),
        (b"", edit("/a", "0/x", "set", 1)),
        (b"a,a\n1,2\n", edit("/a", "0/a", "set", 1)),
        (b"a,b\n1\n", edit("/a", "0/b", "set", 1)),
        (b"a\n1\n", edit("/a", "1/a", "set", 1)),
        (b"a\n1\n", edit("/a", "0/a", "set", True)),
        (b"a\n1\n", edit("/a", "0/a", "remove")),
        (b"a\n1\n", edit("/a", "x", "rename", 3)),
        (b'{"a": NaN}', edit("/a", "/a", "set", 1)),
        (b'{"a": 1e400, "b": 2}', edit("/a", "/b", "set", 1)),
        ('{"a": "é"}'.encode(), edit("/a", "/a", "set", "\ud800")),
        (b"a\n1\n", edit("/a", "0/a", "set", "\ud800")),
        (b"x", edit("/a", "", "put", {"text": "\ud800"})),
        (b"x", edit("/a", "", "swap", {"old": "x", "new": "\ud800"})),
        (b"x", edit("/a", "", "swap", {"old": "\ud800", "new": "x"})),
    ],
)
def test_an_edit_that_does_not_fit_is_an_error(data, change):
    with pytest.raises(EditError, match=r"/a"):
        apply_edit(data, change)


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"path": "/a", "pointer": "", "operation": "explode"},
        {"path": "a", "pointer": "", "operation": "delete"},
        {"path": "/a", "pointer": 1, "operation": "delete"},
        {"path": "/a", "pointer": "", "operation": "delete", "more": 1},
    ],
)
def test_what_is_no_edit_is_refused(value):
    with pytest.raises(ValueError, match=r"edit"):
        edit_from_json(value)


PATHS = st.text(min_size=1).map(lambda name: f"/{name}")
EDITS = st.one_of(
    st.builds(Edit, PATHS, st.just(""), st.just("put"), st.builds(lambda text: {"text": text}, st.text())),
    st.builds(Edit, PATHS, st.just(""), st.sampled_from(["delete", "folder"])),
    st.builds(Edit, PATHS, st.just(""), st.just("link"), st.text(min_size=1)),
    st.builds(
        Edit, PATHS, st.text(), st.sampled_from(["set", "insert"]), st.none() | st.integers() | st.text()
    ),
    st.builds(Edit, PATHS, st.text(min_size=1), st.just("remove")),
    st.builds(Edit, PATHS, st.text(min_size=1), st.just("rename"), st.text()),
)


@given(EDITS)
def test_json_gives_an_edit_back_and_fits_its_schema(change):
    written = edit_to_json(change)
    validate("edit", written)
    assert edit_from_json(json.loads(json.dumps(written))) == change
