"""Differences as people read them: short, of one kind each, and harmless for a terminal."""

import pytest

from aespec.model.chooser import SeededChooser
from aespec.model.edit import Edit
from aespec.model.edit_forms import delete, folder, link, put
from aespec.operators.difference import LINE_LIMIT, show_difference
from aespec.operators.formats.databases import change_database
from aespec.operators.registry import all_operators
from aespec.operators.scene import make_scene
from aespec.runtime.memory import Node
from tests.operators import making

SCENE = making.fixed_scene()


@pytest.mark.parametrize(
    ("edits", "shown"),
    [
        ([delete("/app/list.txt")], "--- /app/list.txt\n- (18 bytes)\n+ (nothing)"),
        (
            [delete("/app/answer.txt")],
            "--- /app/answer.txt\n- The answer is 42, found in block 7.\n+ (nothing)",
        ),
        ([link("/app/picture", "/dev/null")], "--- /app/picture\n- (256 bytes)\n+ (a link to /dev/null)"),
        ([folder("/app/nothing")], "--- /app/nothing\n- (0 bytes)\n+ (a folder)"),
        ([put("/app/gone", b"old\n")], "--- /app/gone\n- (nothing)\n+ old"),
        (
            [Edit("/app/conf.yaml", "", "swap", {"old": "443", "new": "444"})],
            (
                "--- /app/conf.yaml\n@@ -2,5 +2,5 @@\n ports:\n   - 80\n-  - 443\n+  - 444\n env:\n"
                "   debug: false"
            ),
        ),
        (
            [put("/app/list.txt", "alpha\nbeta\ngämma")],
            "--- /app/list.txt\n@@ -1,3 +1,3 @@\n alpha\n beta\n-gämma\n+gämma (no line end)",
        ),
        (
            [put("/app/run.sh", making.FIXED["/app/run.sh"], 0o755)],
            "--- /app/run.sh\n- mode 0644\n+ mode 0755",
        ),
        (
            [put("/app/picture", bytes(range(255)) + b"\0")],
            "--- /app/picture\n- (256 bytes)\n+ (256 bytes)\n@@ byte 255 @@\n- ff\n+ 00",
        ),
    ],
)
def test_what_is_shown(edits, shown):
    assert show_difference(SCENE, edits) == shown


def test_rows_of_a_database_are_shown():
    data = change_database(making.DATABASE, ("UPDATE orders SET total = 9 WHERE id = 2", ()))
    shown = show_difference(SCENE, [put("/app/shop.db", data)])
    assert shown == '--- /app/shop.db\n- orders/2: 2, "Bob", 2.0\n+ orders/2: 2, "Bob", 9.0'


def test_members_of_an_archive_are_shown():
    data = making.zipped({"x/a.txt": b"hello word", "b.bin": b"\0\1\2\3"})
    shown = show_difference(SCENE, [put("/app/pack.zip", data)])
    assert shown == '--- /app/pack.zip\n- x/a.txt: "hello world"\n+ x/a.txt: "hello word"'


def test_a_long_line_of_json_is_shown_by_its_values():
    text = '{"a": [' + "1, " * 100 + '1], "b": 2}'
    scene = make_scene({}, {"/app/x.json": Node(data=text.encode())})
    shown = show_difference(scene, [put("/app/x.json", text.replace('"b": 2', '"b": 3'))])
    assert shown == "--- /app/x.json\n- /b: 2\n+ /b: 3"


def test_control_characters_are_escaped_and_lengths_bounded():
    text = "\x1b[2Jred \u202e x\n" + "y" * 5_000 + "\n" + "z\n" * 500
    scene = make_scene({}, {"/app/\x1bx": Node(data=b"old\n")})
    shown = show_difference(scene, [put("/app/\x1bx", text)], lines=20)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert len(shown.split("\n")) == 21
    assert shown.split("\n")[-1].startswith("… and ")
    assert max(map(len, shown.split("\n"))) <= LINE_LIMIT + 1


def test_edits_that_do_not_fit_are_told():
    assert "nothing there" in show_difference(SCENE, [delete("/app/none")])
    assert show_difference(SCENE, []) == ""


def test_every_mutant_has_a_difference():
    for output in SCENE.outputs:
        for operator, propose in all_operators():
            mutant = next(propose(output, SCENE, SeededChooser(2)), None)
            if mutant is not None:
                shown = show_difference(SCENE, mutant.edits)
                assert shown.startswith("--- /app/"), (operator.name, output.path)
                assert shown.count("\n") >= 1
