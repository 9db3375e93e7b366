"""Fixes carried out: safe ones mend what they are for and nothing else, unsafe ones take the suggestion."""

import pytest

from aespec.diagnostics.fixes import apply_fixes
from aespec.resolve import resolve
from aespec.rules import check
from aespec.source import Source
from aespec.syntax import parse
from tests.resolve.specs import sample


def reports(text):
    source = Source("task.aes", text)
    tree, faults = parse(source)
    task, more = resolve(tree)
    faults += more
    return source, task, faults if task is None else faults + check(task)[1]


WHOLE = sample(
    check='json("/app/out", type = string)', setup='file "/app/a" (mode = "644") <<<text\n    x\n  >>>'
)


@pytest.mark.parametrize(
    ("slug", "broken"),
    [
        ("missing-version", WHOLE.removeprefix("aes = 1\n")),
        ("wrong-type", WHOLE.replace("type = string", 'type = "string"')),
        ("wrong-type", WHOLE.replace('mode = "644"', "mode = 644")),
    ],
)
def test_a_safe_fix_mends_what_it_is_for(slug, broken):
    source, task, faults = reports(broken)
    assert task is None
    assert slug in {fault.slug for fault in faults}
    assert apply_fixes(source, faults) == WHOLE


def test_an_unused_allow_is_removed_safely():
    line = '  allow(agent-root, because = "it was root once")\n'
    source, task, faults = reports(WHOLE.removesuffix("}\n") + line + "}\n")
    assert task is not None
    mended = apply_fixes(source, [fault for fault in faults if fault.slug == "unused-allow"])
    assert "allow" not in mended
    assert reports(mended)[1].allows == ()


def test_a_suggestion_is_taken_only_when_asked_for():
    source, _, faults = reports(WHOLE.replace("domain =", "domian =").replace("json(", "jsn("))
    assert apply_fixes(source, faults) == source.text
    assert apply_fixes(source, faults, with_unsafe=True) == WHOLE
