"""Each case of each page: what is reported on its source is what the page shows."""

import os

import pytest

from aespec.diagnostics import render_text
from aespec.source import Source
from tests.mdtest import pages

CASES = pages.all_cases()


def check_syntax(source):
    """What the parser reports."""
    from aespec.syntax import parse

    return parse(source)[1]


def check_resolve(source):
    """What the resolver reports on a text that parses."""
    from aespec.resolve import resolve
    from aespec.syntax import parse

    tree, diagnostics = parse(source)
    assert not any(d.is_error for d in diagnostics), "the source of a page on resolving has to parse"
    return (*diagnostics, *resolve(tree)[1])


def check_rules(source):
    """What the rules report on a text that resolves."""
    from aespec.resolve import resolve
    from aespec.rules import check
    from aespec.syntax import parse

    tree, diagnostics = parse(source)
    task, more = resolve(tree)
    diagnostics = (*diagnostics, *more)
    assert task is not None, "the source of a page on rules has to resolve:\n" + render_text(diagnostics)
    return (*diagnostics, *check(task)[1])


CHECKS = {"syntax": check_syntax, "resolve": check_resolve, "rules": check_rules}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_page(case, tmp_path):
    for name, text in case.files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    source = Source(pages.TASK, case.files[pages.TASK], tmp_path / pages.TASK)
    rendered = render_text(CHECKS[case.phase](source)) or pages.NOTHING
    if os.environ.get("AESPEC_UPDATE"):
        if case.expected is None or case.expected.text != rendered:
            pages.rewrite(case, rendered)
        return
    assert case.expected is not None, "the case shows no report; AESPEC_UPDATE=1 writes it"
    assert rendered == case.expected.text


def test_every_page_is_of_a_known_phase():
    assert {case.phase for case in CASES} <= set(CHECKS)


def test_a_broken_page_is_told(tmp_path):
    page = tmp_path / "page.md"
    for text in ("# no case\n", "## no source\n\n```text\nx\n```\n", "## open\n\n```aes\na = 1\n"):
        page.write_text(text)
        with pytest.raises(ValueError):
            pages.cases_of(page)


def test_a_page_is_rewritten_in_its_place_only(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# P\n\n## one\n\n```aes\n## not a case\n```\n\n## two\n````aes\n```\n````\n```text\nold\n```\nend\n"
    )
    one, two = pages.cases_of(page)
    assert (one.files, two.files) == ({"task.aes": "## not a case\n"}, {"task.aes": "```\n"})
    pages.rewrite(one, "a\nb\n")
    pages.rewrite(two, "new\n")
    assert [case.expected.text for case in pages.cases_of(page)] == ["a\nb\n", "new\n"]
    assert page.read_text().startswith("# P\n\n## one\n")
    assert page.read_text().endswith("```\nend\n")
