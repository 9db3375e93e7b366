"""Every report of this package is explained, by examples that are true."""

import ast
import re
from pathlib import Path

import pytest

import aespec.syntax
from aespec.source import Source
from aespec.syntax import parse
from aespec.syntax.explanations import EXPLANATIONS

NOT_TEXT = {
    "missing-file", "irregular-file", "unreadable-file", "file-too-large", "wrong-encoding", "nul-byte",
    "too-many-errors", "control-character", "mixed-indentation", "deep-nesting",
}  # fmt: skip
"""What is reported on files, or has an example that Markdown can't show; each has a test elsewhere."""


def reported():
    """The slugs that stand as first arguments of reports in the package's code."""
    found = set()
    for path in Path(aespec.syntax.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = (
                    node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                )
                if name in {"report", "_error", "_report", "Diagnostic"} and node.args:
                    found |= {
                        leaf.value
                        for leaf in ast.walk(node.args[0])
                        if isinstance(leaf, ast.Constant)
                        and isinstance(leaf.value, str)
                        and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", leaf.value)
                    }
    return found


def test_each_report_is_explained_and_nothing_else():
    slugs = [explanation.slug for explanation in EXPLANATIONS]
    assert len(slugs) == len(set(slugs))
    assert set(slugs) == reported()


@pytest.mark.parametrize("explanation", EXPLANATIONS, ids=lambda e: e.slug)
def test_examples(explanation):
    assert explanation.title
    assert explanation.what
    assert explanation.why
    if explanation.slug in NOT_TEXT - {"mixed-indentation", "deep-nesting", "control-character"}:
        return
    assert parse(Source("good", explanation.good))[1] == ()
    if explanation.slug not in NOT_TEXT:
        assert [d.slug for d in parse(Source("bad", explanation.bad))[1]] == [explanation.slug]


def test_the_examples_that_no_page_shows():
    assert [d.slug for d in parse(Source("x", 'a = "\x1b"'))[1]] == ["control-character"]
    assert [d.slug for d in parse(Source("x", "a <<<\n  x\n\ty\n>>>"))[1]] == ["mixed-indentation"]
