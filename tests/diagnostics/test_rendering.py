"""The three forms of a diagnostic: what a person reads, what a proposer reads, what a code host reads."""

import json

from hypothesis import given
from hypothesis import strategies as st

from aespec.diagnostics import (
    Diagnostic,
    Explanation,
    Fix,
    Label,
    Severity,
    TextEdit,
    in_order,
    render_jsonl,
    render_sarif,
    render_text,
)
from aespec.source import Source, Span

SOURCE = Source("task.aes", 'aes = 1\n\ttitle = "T"\nwide = "漢字" x\nlast')


def make(start=0, end=3, slug="odd-name", severity=Severity.ERROR, source=SOURCE, **parts):
    return Diagnostic(slug, severity, "a headline", Span(source, start, end), **parts)


def full():
    title = SOURCE.text.index("title")
    return make(
        0,
        3,
        why="Because.\nTwo lines.",
        help="Do this.",
        related=(Label(Span(SOURCE, title, title + 5), "and here"),),
        fix=Fix("mend it", (TextEdit(Span(SOURCE, 0, 3), "AES"),)),
    )


def test_the_text_form():
    assert render_text([full()]) == (
        "error[odd-name]: a headline\n"
        " --> task.aes:1:1\n"
        "  |\n"
        "1 | aes = 1\n"
        "  | ^^^\n"
        '2 |     title = "T"\n'
        "  |     ----- and here\n"
        "  why: Because.\n"
        "       Two lines.\n"
        "  help: Do this.\n"
        "  fix: mend it\n"
    )


def test_nothing_is_nothing():
    assert (render_text([]), render_jsonl([])) == ("", "")
    assert json.loads(render_sarif([]))["runs"][0]["results"] == []


def test_severities_and_unsafe_fixes():
    fix = Fix("mend it", (), is_safe=False)
    text = render_text([make(severity=Severity.WARNING, fix=fix), make(slug="b", severity=Severity.ADVICE)])
    assert "warning[odd-name]" in text
    assert "advice[b]" in text
    assert "fix: mend it (look at the result)" in text


def test_without_a_place():
    assert (
        render_text([Diagnostic("a", Severity.ERROR, "no file", None, help="Look.")])
        == "error[a]: no file\n  help: Look.\n"
    )


def test_carets_stand_under_wide_letters_and_tabs():
    at = SOURCE.text.index("x", SOURCE.text.index("wide"))
    lines = render_text([make(at, at + 1)]).split("\n")
    assert lines[3:5] == ['3 | wide = "漢字" x', "  | " + " " * 14 + "^"]


def test_an_empty_place_and_the_end_of_the_file():
    end = len(SOURCE.text)
    assert "4 | last\n  |     ^\n" in render_text([make(end, end)])
    assert "1 |\n  | ^\n" in render_text([make(0, 0, source=Source("x", ""))])


def test_a_place_of_many_lines_shows_its_ends():
    source = Source("x", "a {\n" + "  b = 1\n" * 20 + "}\n")
    assert render_text([make(0, len(source.text) - 1, source=source)]).split("\n")[2:] == [
        "   |", " 1 | a {", "   | ^^^", "   …", "22 | }", "   | ^", "",
    ]  # fmt: skip


def test_a_long_line_is_cut_around_its_place():
    source = Source("x", "a = " + "b" * 5000 + "HERE" + "c" * 5000)
    text = render_text([make(5004 - 0, 5008, source=source)])
    line, carets = text.split("\n")[3:5]
    assert len(line) < 220
    assert line[carets.index("^") :].startswith("HERE")
    assert carets.endswith("^^^^")


def test_another_file_is_shown_apart():
    other = Source("lib.aes", "fragment = 1\n")
    text = render_text([make(related=(Label(Span(other, 0, 8), "used here"),))])
    assert " ::: lib.aes:1:1\n  |\n1 | fragment = 1\n  | -------- used here\n" in text


def test_order_and_doubles():
    a, b, c = make(8, 9), make(0, 1, slug="z"), make(0, 1, slug="a", severity=Severity.ADVICE)
    nowhere = Diagnostic("q", Severity.ADVICE, "h", None)
    assert in_order([a, c, b, nowhere, a]) == (nowhere, b, c, a)


ESCAPES = "\x1b[31m \x07 \x9b \r \u202e \u200b \x00"


def test_nothing_that_a_terminal_obeys_comes_through():
    source = Source(f"n{ESCAPES}.aes", f"a = '{ESCAPES}' b")
    text = render_text(
        [
            Diagnostic(
                "slug", Severity.ERROR, f"head {ESCAPES}", Span(source, 0, 5), why=ESCAPES, help=ESCAPES,
                related=(Label(Span(source, 5, 9), ESCAPES),), fix=Fix(ESCAPES, ()),
            )
        ]
    )  # fmt: skip
    assert "\\x1b[31m" in text
    assert "\\u202e" in text
    assert not [
        c for c in text if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u200b")
    ]


@given(st.text(max_size=60), st.data())
def test_any_text_is_shown_harmlessly(text, data):
    source = Source(text[:10], text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    item = Diagnostic(
        "slug", Severity.ERROR, text, Span(source, start, end), why=text,
        related=(Label(Span(source, 0, len(text)), text),),
        fix=Fix(text, (TextEdit(Span(source, start, end), text),)),
    )  # fmt: skip
    shown = render_text([item])
    assert not [c for c in shown if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0)]
    shown.encode()
    for line in render_jsonl([item]).splitlines():
        json.loads(line)
    json.loads(render_sarif([item]).encode())


def test_color_is_ours_alone():
    colored = render_text([full()], color=True)
    import re

    assert colored != render_text([full()])
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == render_text([full()])


def place(line, column, end_column, offset):
    """A place on one line as a record has it."""
    return {
        "file": "task.aes",
        "line": line,
        "column": column,
        "end_line": line,
        "end_column": end_column,
        "offset": offset,
        "end_offset": offset + end_column - column,
    }


def test_json_lines():
    (record,) = map(json.loads, render_jsonl([full()]).splitlines())
    assert record == {
        "schema": 1,
        "slug": "odd-name",
        "severity": "error",
        "headline": "a headline",
        "place": place(1, 1, 4, 0),
        "why": "Because.\nTwo lines.",
        "help": "Do this.",
        "related": [{"text": "and here", "place": place(2, 2, 7, 9)}],
        "fix": {"title": "mend it", "safe": True, "edits": [{"place": place(1, 1, 4, 0), "text": "AES"}]},
    }
    assert json.loads(render_jsonl([Diagnostic("a", Severity.ADVICE, "h", None)]))["place"] is None


def test_sarif():
    explanation = Explanation("odd-name", "a title", "What.", "Why.", "bad", "good")
    log = json.loads(
        render_sarif(
            [full(), Diagnostic("z", Severity.ADVICE, "h", None)], version="1.2", explanations=[explanation]
        )
    )
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["version"] == "1.2"
    assert run["columnKind"] == "unicodeCodePoints"
    assert [rule["id"] for rule in rules] == ["odd-name", "z"]
    assert rules[0]["shortDescription"] == {"text": "a title"}
    nowhere, result = run["results"]
    assert (nowhere["ruleIndex"], nowhere["level"], "locations" in nowhere) == (1, "note", False)
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("odd-name", 0, "error")
    place = result["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "task.aes"},
        "region": {
            "startLine": 1,
            "startColumn": 1,
            "endLine": 1,
            "endColumn": 4,
            "charOffset": 0,
            "charLength": 3,
        },
    }
    assert result["relatedLocations"][0]["message"] == {"text": "and here"}
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"] == {"text": "AES"}


def test_file_names_become_addresses():
    log = json.loads(render_sarif([make(source=Source("my tasks/ä#1%.aes", "abc"))]))
    uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "my%20tasks/%C3%A4%231%25.aes"
