"""Every slug of the resolver, the domains and the rules is explained, shown on a page, and tested."""

import re
from pathlib import Path

import pytest

from aespec.diagnostics.explanations import join_explanations
from aespec.resolve.explanations import EXPLANATIONS as RESOLVE
from aespec.rules.explanations import EXPLANATIONS as RULES
from aespec.syntax.explanations import EXPLANATIONS as SYNTAX

ROOT = Path(__file__).parents[2]
BY_TEST = {
    "broken-domain",
    "large-asset",
    "too-deep",
    "too-large",
    "too-many-errors",
    "unreadable-asset",
}
"""Slugs that need a file, a plug-in or a long text, and have tests of their own in this folder."""

_MADE = re.compile(
    r"(?:findings\.(?:error|unknown)|FileFault|Diagnostic)\(\s*\"([a-z-]+)\""
    r"|\"(wrong-unit)\" if is_unit else \"(?:wrong-type)\""
    r"|\"(missing-argument)\" if parameter in"
)
_SHOWN = re.compile(r"^(?:error|warning|advice)\[([a-z-]+)\]", re.MULTILINE)


def made():
    """The slugs that the code of the resolver and the domains makes."""
    found = set()
    for folder in ("resolve", "domains"):
        for path in (ROOT / "aespec" / folder).glob("*.py"):
            for match in _MADE.finditer(path.read_text()):
                found.add(next(group for group in match.groups() if group))
    return found


def shown(phase):
    pages = (ROOT / "tests" / "mdtest" / phase).glob("*.md")
    return {slug for page in pages for slug in _SHOWN.findall(page.read_text())}


def test_every_slug_is_explained_once():
    joined = join_explanations(SYNTAX, RESOLVE, RULES)
    # The parser explains too-many-errors, for both.
    assert {item.slug for item in RESOLVE} == made() - {"too-many-errors"} | {"missing-attribute"}
    assert shown("resolve") | shown("rules") <= set(joined)


def test_every_slug_is_shown_on_a_page_or_tested_here():
    assert {item.slug for item in RESOLVE} - shown("resolve") <= BY_TEST
    tests = "".join(
        path.read_text() for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__)
    )
    assert {slug for slug in BY_TEST if f'"{slug}"' not in tests} == set()
    assert {item.slug for item in RULES} - shown("rules") == set()


@pytest.mark.parametrize("item", [*RESOLVE, *RULES], ids=lambda item: item.slug)
def test_an_explanation_is_whole_and_reads_after_allow(item):
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", item.slug)
    assert not item.title.endswith(".")
    for text in (item.what, item.why, item.bad, item.good):
        assert text.strip()
    assert item.bad != item.good
