"""The parser on texts that are wrong: it never raises, and one mistake is one report."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aespec.diagnostics import apply_fixes, render_jsonl, render_sarif, render_text
from aespec.source import Source
from aespec.syntax import format_source, parse, read_source
from aespec.syntax.explanations import EXPLANATIONS
from aespec.syntax.lexer import REPORTS_MAX, Lexer
from aespec.syntax.parser import DEPTH_MAX, TEXT_MAX
from tests.syntax import texts


def spans(diagnostic):
    yield diagnostic.span
    for label in diagnostic.related:
        yield label.span
    for edit in diagnostic.fix.edits if diagnostic.fix else ():
        yield edit.span


def check(text):
    """What holds for any text at all; returns the reports."""
    source = Source("x.aes", text)
    _tree, diagnostics = parse(source)
    for diagnostic in diagnostics:
        assert diagnostic.slug in {e.slug for e in EXPLANATIONS}
        assert diagnostic.headline
        assert diagnostic.help
        for span in spans(diagnostic):
            assert span.source is source
            assert 0 <= span.start <= span.end <= len(text)
    slugs = {d.slug for d in diagnostics if d.is_error}
    if texts.grammar_takes(text):
        # What follows a heredoc taken for unclosed is read as statements, which the grammar doesn't do.
        assert slugs <= texts.BEYOND_THE_GRAMMAR or "unclosed-heredoc" in slugs
    else:
        assert slugs
    for render in (render_text, render_jsonl, render_sarif):
        render(diagnostics).encode()
    assert (format_source(source)[0] is None) == bool(slugs)
    apply_fixes(source, diagnostics, with_unsafe=True)
    return diagnostics


@given(texts.damaged())
@example("a { }\n\nb {\n  c <<<python\n    d    >>>\n  }\n  e <<<python\n    f\n  >>>\n}\n}\n")
def test_damaged_specs(text):
    check(text)


@given(st.text(st.one_of(st.sampled_from("abc =,(){}[]\"'<>\n\t#;:.-1 \\\r"), st.characters()), max_size=60))
@example("")
@example("\r")
@example("<<<")
@example("a <<<")
@example("a <<<\n")
@example('"')
@example("a = \\")
@example("{{")
@example("a ```\n")
@example("\ufeffa = 1")
@example("a = -")
@example("x\n")
@example("a 1 1")
@example('a """')
def test_any_text(text):
    check(text)


@given(st.lists(st.sampled_from(texts.PIECES), max_size=25).map("".join))
def test_any_row_of_pieces(text):
    check(text)


@given(data=st.binary(max_size=200))
def test_any_bytes(data, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.aes"
    path.write_bytes(data)
    source, diagnostics = read_source(path)
    assert (source is None) == any(d.is_error for d in diagnostics)
    render_text(diagnostics)
    if source is not None:
        check(source.text)


def test_seeded_mistakes_are_reported_once_each():
    reports = check(texts.MISTAKES)
    assert [(d.slug, d.span.position[0]) for d in reports] == [
        ("unclosed-bracket", 2),
        ("colon-for-equals", 3),
        ("unclosed-string", 4),
        ("missing-equals", 5),
        ("separator", 6),
        ("unquoted-text", 7),
        ("leading-zero", 9),
        ("shallow-heredoc-line", 11),
        ("infix-operator", 13),
        ("unknown-escape", 14),
        ("unclosed-bracket", 17),
        ("missing-comma", 18),
        ("bare-name", 19),
        ("unclosed-heredoc", 23),
    ]


@pytest.mark.parametrize("name", texts.SAMPLES)
def test_one_lost_token_is_hardly_ever_two_reports(name):
    text = texts.SAMPLES[name]
    counts = []
    for token in Lexer(Source("x", text)).read().tokens[:-1]:
        damaged = text[: token.span.start] + text[token.span.end :]
        counts.append(len(parse(Source("x", damaged))[1]))
    assert sum(count > 1 for count in counts) <= len(counts) / 50
    assert max(counts) <= 3


@pytest.mark.parametrize("name", texts.SAMPLES)
def test_safe_fixes_mend_what_they_say(name):
    """Slips whose repair is plain: after their fixes the text is the same spec again."""
    text = texts.SAMPLES[name]
    tree, _ = parse(Source("x", text))
    for old, new in (
        (" = ", ": "),
        ("\n  title", ";\n  title"),
        ("  limits { ", "  limits { , "),
        ("= 1\n", "= {{ x }}\n"),
    ):
        damaged = Source("x", text.replace(old, new, 1))
        assert damaged.text != text
        diagnostics = parse(damaged)[1]
        assert len(diagnostics) == 1
        mended = apply_fixes(damaged, diagnostics)
        again, rest = parse(Source("x", mended))
        assert rest == ()
        assert again == tree or "x }}" in new


@pytest.mark.parametrize(
    ("damaged", "meant"),
    [
        ("a =\n  - x\n  - 'y z',\n  - 2\n", "a = [\"x\", 'y z', 2]\n"),
        ("a:\n- x\nb = 1\n", 'a = ["x"]\nb = 1\n'),
        ("s {\n  a\n    - x: 1\n}\n", None),
        ("s {\n  a\n    - x\n    - y\n}\n", 's {\n  a = ["x", "y"]\n}\n'),
        ("a = [\n  - x y\n  - -3\n]\n", 'a = [\n  "x y",\n  -3\n]\n'),
        ("breaks =\n  - x\n  - y.z\n", "breaks = [x, y.z]\n"),
        ("v {\n  - c x {\n  }\n  - d = 1\n}\n", "v {\n  c x {\n  }\n  d = 1\n}\n"),
    ],
)
def test_a_list_of_yaml_is_told_once_and_read_as_it_was_meant(damaged, meant):
    source = Source("x", damaged)
    tree, diagnostics = parse(source)
    slugs = [d.slug for d in diagnostics if d.slug != "colon-for-equals"]
    assert set(slugs) == {"yaml-list"}
    if meant is None:
        assert len(slugs) == 1
        return
    assert len(slugs) == max(1, meant.count("c x") * 2)
    # A fix that touches another one, as `:` does a list, waits for the next run.
    mended = Source("x", apply_fixes(source, diagnostics, with_unsafe=True))
    mended = Source("x", apply_fixes(mended, parse(mended)[1], with_unsafe=True))
    assert mended.text == meant
    assert parse(mended) == (tree, ())


def test_brackets_in_each_other_have_a_limit():
    for left, right in (("[", "]"), ("f(", ")"), ("{ a = ", "}")):
        inside = "x = " + left * DEPTH_MAX + "1" + right * DEPTH_MAX
        assert parse(Source("x", inside))[1] == ()
        assert format_source(Source("x", inside))[0]
        beyond = "x = " + left * (DEPTH_MAX + 1) + "1" + right * (DEPTH_MAX + 1)
        assert [d.slug for d in check(beyond)] == ["deep-nesting"]
    blocks = "a { " * DEPTH_MAX + "}" * DEPTH_MAX
    assert format_source(Source("x", blocks))[0]
    for deep in ("[" * 100_000, "a {" * 100_000, "x = " + "f(" * 100_000):
        _tree, diagnostics = parse(Source("x", deep))
        assert {d.slug for d in diagnostics} <= {"deep-nesting", "json-text"}


def test_large_texts_are_refused_at_once():
    tree, (report,) = parse(Source("x", "a = 1\n" * 2_000_000))
    assert report.slug == "file-too-large"
    assert tree.statements == ()


@pytest.mark.parametrize(
    "piece",
    [
        "<<<\n",
        "a <<<\n  x\n",
        "$ ",
        "`",
        '"',
        "'",
        "a = \n",
        "( ",
        ") ",
        ">>>\n",
        "- a\n",
        "a =\n- b\n",
        "“",
        "=",
        "a: 1\n",
        "/* ",
        '"""',
        "{{",
        "<<EOF\n",
        "a\n",
        "-",
        "@@",
        "a.",
        "1.",
        "\t\n",
        ">>> }\n",
        "```\n",
        "a <<<\n  x\nb <<<\n",
    ],
)
def test_no_text_takes_quadratic_time(piece):
    """A sixteenth of the limit of each: a quadratic step would take minutes, so that a wide bound will do."""
    text = piece * (TEXT_MAX // 16 // len(piece))
    start = time.process_time()
    parse(Source("x", text))
    assert time.process_time() - start < 10


def test_reading_stops_after_many_errors():
    reports = parse(Source("x", "a = ;\n" * 500))[1]
    assert len(reports) == REPORTS_MAX + 1
    assert reports[-1].slug == "too-many-errors"
