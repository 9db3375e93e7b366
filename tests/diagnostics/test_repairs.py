"""Suggestions, fixes and explanations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aespec.diagnostics import (
    Diagnostic,
    Explanation,
    Fix,
    Severity,
    TextEdit,
    apply_fixes,
    join_explanations,
    read_explanation,
    read_explanations,
    render_explanation,
    suggest,
)
from aespec.diagnostics.suggest import edit_distance
from aespec.source import Source, Span

PREDICATES = ("file", "json", "table", "text", "unchanged", "program", "function")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("jsn", "json"),
        ("jsno", "json"),
        ("Json", "json"),
        ("TEXT", "text"),
        ("unchaged", "unchanged"),
        ("un_changed", "unchanged"),
        ("programme", "program"),
        ("tabel", "table"),
        ("xyz", None),
        ("j", None),
        ("", None),
        ("completely-else", None),
    ],
)
def test_suggest(name, expected):
    assert suggest(name, PREDICATES) == expected


def test_suggest_prefers_case_then_distance_and_never_the_order():
    assert suggest("Ab", ["aB", "Abc"]) == "aB"
    assert suggest("min-rows", ["min_rows", "min-row"]) == "min_rows"
    assert suggest("cat", ["car", "bat"]) == suggest("cat", ["bat", "car"]) == "bat"
    assert suggest("json", ["json"]) is None
    assert suggest("totl", ["a", "totals"]) is None
    assert suggest("totl", ["totals"]) == "totals"
    assert suggest("ab", ["xy"]) is None
    assert suggest("a", ["b"]) is None


def slow_distance(left, right):
    """The same, written out: insertions, deletions, replacements and swaps of neighbours."""
    import functools

    @functools.cache
    def go(i, j):
        if not i or not j:
            return i + j
        best = min(go(i - 1, j) + 1, go(i, j - 1) + 1, go(i - 1, j - 1) + (left[i - 1] != right[j - 1]))
        if i > 1 and j > 1 and left[i - 1] == right[j - 2] and left[i - 2] == right[j - 1]:
            best = min(best, go(i - 2, j - 2) + 1)
        return best

    return go(len(left), len(right))


@given(st.text("abc", max_size=7), st.text("abc", max_size=7), st.integers(0, 4))
def test_edit_distance(left, right, limit):
    assert edit_distance(left, right, limit) == min(slow_distance(left, right), limit + 1)


SOURCE = Source("x", "0123456789")


def mend(*edits, safe=True, source=SOURCE):
    edits = tuple(TextEdit(Span(source, start, end), text) for start, end, text in edits)
    return Diagnostic(
        "slug", Severity.ERROR, f"{edits}", edits[0].span if edits else None, fix=Fix("mend", edits, safe)
    )


def test_fixes_are_applied_from_the_end():
    assert apply_fixes(SOURCE, [mend((1, 2, "abc")), mend((5, 5, "-")), mend((8, 10, ""))]) == "0abc234-567"


def test_a_fix_is_whole_or_not_at_all():
    assert apply_fixes(SOURCE, [mend((1, 3, "a")), mend((2, 4, "b"), (7, 8, "c"))]) == "0a3456789"
    assert apply_fixes(SOURCE, [mend((1, 3, "a"), (7, 8, "c")), mend((8, 9, "b"))]) == "0a3456c89"


def test_two_insertions_at_one_place_wait_for_each_other():
    assert apply_fixes(SOURCE, [mend((4, 4, "a")), mend((4, 4, "b"))]) == "0123a456789"


def test_what_is_not_applied():
    assert (
        apply_fixes(
            SOURCE, [mend((1, 2, "a"), safe=False), mend(), mend((1, 2, "x"), source=Source("y", "abc"))]
        )
        == SOURCE.text
    )
    assert apply_fixes(SOURCE, [mend((1, 2, "a"), safe=False)], with_unsafe=True) == "0a23456789"


PAGE = """A title
## What
It is so.
## Why
It is bad.
## Bad
```aes
a = ;
```
## Good
    a = 1
"""


def test_an_explanation_is_read_from_a_page():
    explanation = read_explanation("some-slug", PAGE)
    assert explanation == Explanation("some-slug", "A title", "It is so.", "It is bad.", "a = ;", "    a = 1")
    text = render_explanation(explanation)
    assert text.startswith("# some-slug: A title\n\n## What\nIt is so.\n\n## Why\n")
    assert text.endswith("## Good\n```\n    a = 1\n```")
    assert read_explanation("some-slug", text) == explanation


def test_a_page_that_lacks_a_part_is_refused():
    for part in ("## What", "## Why", "## Bad", "## Good"):
        with pytest.raises(ValueError, match="some-slug"):
            read_explanation("some-slug", PAGE.replace(part, ""))
    with pytest.raises(ValueError):
        read_explanation("Some Slug", PAGE)


def test_many_explanations_on_one_page():
    pages = f"# one: {PAGE}\n# two: {PAGE}"
    assert [(e.slug, e.title) for e in read_explanations(pages)] == [("one", "A title"), ("two", "A title")]
    assert list(join_explanations(read_explanations(pages), ())) == ["one", "two"]
    with pytest.raises(ValueError):
        join_explanations(read_explanations(pages), read_explanations(pages))


def test_fences_in_examples_are_kept_apart():
    explanation = Explanation("a", "t", "w", "y", "```\nx\n```", "good")
    assert read_explanation("a", render_explanation(explanation)) == explanation
