"""The grammar as a file that several engines read, and its tables as they are kept."""

import logging
import re
import subprocess
import sys

import lark
import pytest
from hypothesis import given

from aespec.source import Source
from aespec.syntax import grammar
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


PARSE = """
from aespec.source import Source
from aespec.syntax import parse
print(len(parse(Source("x", "a = 1"))[0].statements))
"""
LOADED = """
import sys, aespec.diagnostics, aespec.syntax
print([name for name in ("lark", "hypothesis", "docker", "aespec.syntax.slips") if name in sys.modules])
"""


def parse_elsewhere(environment, code=PARSE):
    import os

    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_the_tables_are_kept_and_read_again(tmp_path):
    home = {"XDG_CACHE_HOME": str(tmp_path)}
    assert parse_elsewhere(home) == "1"
    (kept,) = (tmp_path / "aespec").iterdir()
    stamp = kept.stat().st_mtime_ns
    assert kept.name.startswith("grammar-")
    assert kept.stat().st_size > 1000
    assert parse_elsewhere(home) == "1"
    assert [path.stat().st_mtime_ns for path in (tmp_path / "aespec").iterdir()] == [stamp]


def test_half_a_kept_file_is_passed_over(tmp_path):
    home = {"XDG_CACHE_HOME": str(tmp_path)}
    parse_elsewhere(home)
    (kept,) = (tmp_path / "aespec").iterdir()
    for data in (b"", kept.read_bytes()[: kept.stat().st_size // 2], b"\x80garbage"):
        kept.write_bytes(data)
        assert parse_elsewhere(home) == "1"


def test_somebody_elses_file_is_never_unpickled(tmp_path):
    """A file that others may write to would run their code when read."""
    home = {"XDG_CACHE_HOME": str(tmp_path)}
    parse_elsewhere(home)
    (kept,) = (tmp_path / "aespec").iterdir()
    kept.write_bytes(b"cos\nsystem\n(S'touch " + str(tmp_path / "ran").encode() + b"'\ntR.")
    kept.chmod(0o666)
    assert parse_elsewhere(home) == "1"
    assert not (tmp_path / "ran").exists()


def test_no_cache_folder_is_no_trouble(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    for place in (str(blocked), "/proc/nowhere", "relative"):
        assert parse_elsewhere({"XDG_CACHE_HOME": place, "HOME": str(tmp_path)}) == "1"


def test_many_at_once(tmp_path):
    code = "from aespec.syntax.grammar import load_parser; load_parser()"
    import os

    runs = [
        subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)})
        for _ in range(4)
    ]
    assert [run.wait(timeout=120) for run in runs] == [0] * 4
    assert len(list((tmp_path / "aespec").iterdir())) == 1
    assert parse_elsewhere({"XDG_CACHE_HOME": str(tmp_path)}) == "1"


def test_importing_the_package_imports_no_lark():
    assert parse_elsewhere({}, LOADED) == "[]"
