"""The grammar as a file that several engines read, and its tables as they are kept."""

import functools
import json
import logging
import os
import re
import subprocess
import sys

import lark
import pytest
from hypothesis import given

from aespec.resources import folder
from aespec.source import Source
from aespec.syntax import grammar, parse
from aespec.syntax.builder import NodeBuilder
from aespec.syntax.lexer import Lexer
from aespec.syntax.tokens import END
from tests.syntax import texts


def conflicts(text, caplog):
    """What lark says about choices that the tables had to make."""
    from lark import logger

    logger.addHandler(caplog.handler)
    try:
        with caplog.at_level(logging.DEBUG, logger=logger.name):
            lark.Lark(text, parser="lalr", lexer="basic", debug=True)
    finally:
        logger.removeHandler(caplog.handler)
    return [record.getMessage() for record in caplog.records if "onflict" in record.getMessage()]


def test_the_tables_have_no_conflict(caplog):
    assert conflicts(grammar.grammar_text(), caplog) == []


def test_a_conflict_would_be_seen(caplog):
    assert conflicts('start: a "x"*\na: "y" "x"*\n', caplog)


def test_the_grammar_needs_nothing_that_other_engines_lack():
    text = "\n".join(line for line in grammar.grammar_text().splitlines() if not line.startswith("//"))
    for forbidden in (
        r"\(\?",
        r"[*+?}]\?",
        r"%import",
        r"%extend",
        r"^\w+\.\d",
        r"->",
        r"^\w+\{",
        r"\\[1-9]",
    ):
        assert not re.search(forbidden, text, re.MULTILINE), forbidden


def lexed_by_lark(text):
    return [
        (t.type, t.start_pos, t.end_pos)
        for t in texts.plain_parser().lex(text if text.endswith("\n") else text + "\n")
    ]


def lexed_by_us(text):
    return [(t.type, t.span.start) for t in Lexer(Source("x", text)).read().tokens if t.type != END]


@given(texts.trees)
def test_our_tokens_are_larks(tree):
    from aespec.syntax import print_syntax

    text = print_syntax(tree)
    assert lexed_by_us(text) == [(kind, start) for kind, start, _ in lexed_by_lark(text)]


@pytest.mark.parametrize("name", texts.SAMPLES)
def test_our_tokens_are_larks_on_samples(name):
    text = texts.SAMPLES[name]
    assert lexed_by_us(text) == [(kind, start) for kind, start, _ in lexed_by_lark(text)]


LOADED = """
import sys
from aespec.source import Source
from aespec.syntax import parse
assert len(parse(Source("x", "a = 1"))[0].statements) == 1
later = [f"aespec.syntax.{name}" for name in ("slips", "mistakes", "printer")]
print([name for name in ("lark", "hypothesis", "docker", *later) if name in sys.modules])
"""


@pytest.fixture
def tables_of(monkeypatch, tmp_path):
    """Loads the tables from a folder with these two files; None leaves one out."""

    def load(text, kept):
        (tmp_path / grammar.GRAMMAR_FILE).write_text(text)
        (tmp_path / grammar.TABLES_FILE).unlink(missing_ok=True)
        if kept is not None:
            (tmp_path / grammar.TABLES_FILE).write_text(kept)
        monkeypatch.setattr(grammar, "folder", lambda name: tmp_path)
        return grammar.load_tables.__wrapped__()

    return load


def test_the_kept_tables_are_those_that_lark_makes():
    text = grammar.grammar_text()
    made = grammar.tables_to_json(grammar.make_tables(text), text)
    place = folder("grammar") / grammar.TABLES_FILE
    if os.environ.get("AESPEC_UPDATE") == "1":
        place.write_text(made)
    assert place.read_text() == made, "AESPEC_UPDATE=1 writes the tables anew"


def test_tables_are_read_back_as_they_were_made():
    tables = grammar.make_tables(grammar.grammar_text())
    assert grammar.tables_from_json(json.loads(grammar.tables_to_json(tables, ""))) == tables


def test_tables_of_another_grammar_or_broken_ones_are_made_again(tables_of):
    text = grammar.grammar_text()
    kept = (folder("grammar") / grammar.TABLES_FILE).read_text()
    tables = tables_of(text, kept)
    changed = text.replace('EQUALS: "="', 'EQUALS: ":"')
    assert changed != text
    assert tables_of(changed, kept) != tables
    assert re.fullmatch(tables_of(changed, kept).pattern, ":").lastgroup == "EQUALS"
    for broken in (None, "", kept[: len(kept) // 2], "[]", "{}", kept.replace('"rules"', '"roles"')):
        assert tables_of(text, broken) == tables


def test_every_rule_has_its_method():
    named = {rule.method for rule in grammar.load_tables().rules} - {""}
    assert named == {name for name in vars(NodeBuilder) if not name.startswith("_")}


@given(texts.trees)
def test_our_rules_are_carried_out_as_by_lark(tree):
    """Lark's tree builder, given our callbacks and our tokens."""
    from aespec.syntax import print_syntax

    source = Source("x", print_syntax(tree))
    parser = lark_with_our_nodes().parse_interactive()
    end = None
    for token in Lexer(source).read().tokens:
        end = parser.parser_state.feed_token(token, token.type == END)
    assert end == parse(source)[0].statements


@functools.cache
def lark_with_our_nodes():
    return lark.Lark(
        grammar.grammar_text(),
        parser="lalr",
        lexer="basic",
        maybe_placeholders=True,
        transformer=NodeBuilder(),
    )


def test_reading_a_right_text_imports_no_lark():
    run = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.strip() == "[]"
