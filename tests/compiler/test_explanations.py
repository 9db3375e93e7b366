"""Every message of bundles and targets is explained, once, and told by a test."""

import re
from pathlib import Path

from aespec.bundle.explanations import EXPLANATIONS as BUNDLE
from aespec.targets.explanations import EXPLANATIONS as TARGETS

ROOT = Path(__file__).parents[2]
MADE = re.compile(r'(?:error|warning|RepositoryError)\(\s*"([a-z]+(?:-[a-z]+)+)"|slug="([a-z-]+)"')
EARLIER = {"branch-name", "swap-not-once", "unchanged-outside-artifacts", "unknown-branch", "wrong-type"}
"""A rule or the resolver explains them: the same fault, seen only once values are known, or in a task that
was never a text."""


def made(package):
    text = "".join(path.read_text() for path in (ROOT / "aespec" / package).glob("*.py"))
    return {first or second for first, second in MADE.findall(text)}


def test_every_slug_is_explained_where_it_is_made():
    assert {item.slug for item in BUNDLE} == made("bundle") - made("targets") - EARLIER
    assert {item.slug for item in TARGETS} == made("targets") - EARLIER


def test_every_slug_is_in_a_test():
    folders = (ROOT / "tests" / "bundle", ROOT / "tests" / "compiler")
    text = "".join(path.read_text() for folder in folders for path in folder.glob("test_*.py"))
    told = set(re.findall(r'"([a-z]+(?:-[a-z]+)+)"', text))
    assert made("bundle") | made("targets") <= told


def test_what_is_said_is_joined_without_a_clash():
    from aespec.cli.explanations import all_explanations

    assert {item.slug for item in (*BUNDLE, *TARGETS)} <= set(all_explanations())
