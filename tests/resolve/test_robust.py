"""The resolver takes whatever the parser gives it: it says what is wrong, and never raises."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aespec.resolve import resolve
from aespec.resolve.blocks import BLOCKS
from aespec.resolve.findings import MOST
from aespec.rules import check
from aespec.source import Source
from aespec.syntax import parse
from tests.resolve.specs import LEDGER, resolve_text, sample, slugs
from tests.resolve.test_model import FULL

WORDS = sorted(
    {block.keyword for block in BLOCKS.values()}
    | {field.name for block in BLOCKS.values() for field in (*block.args, *block.attributes)}
    | {
        "p.rows",
        "answer.totals",
        "secret.x",
        "none",
        "true",
        "each",
        "use",
        "in",
        "json",
        "unchanged",
        "oracle",
    }
)
PIECES = [
    *WORDS,
    *'{}()[]=,"',
    '"/app/a"',
    "3",
    "1.5",
    "30s",
    "2GiB",
    "1%",
    "\n",
    "aes = 1\n",
    'task "a" {',
    "'x'",
]
PIECES += [
    "<<<python\n  p.x; emit(1)\n>>>\n",
    "<<<sh\n  {{ p.rows }} {{ x }}\n>>>\n",
    "int(1, 9)",
    "-1e300",
    "{ }",
]


def judge(text):
    """Resolve and check a text, holding what holds of every diagnostic."""
    source = Source("task.aes", text)
    tree, _ = parse(source)
    task, faults = resolve(tree)
    found = list(faults)
    assert (task is None) == any(fault.is_error for fault in faults)
    if task is not None:
        checked, more = check(task)
        assert (checked is None) == any(fault.is_error for fault in more)
        found += more
    for fault in found:
        assert fault.headline
        assert fault.help or fault.slug == "too-many-errors"
        if fault.span is not None:
            assert 0 <= fault.span.start <= fault.span.end <= len(fault.span.source.text)
    return found


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_random_pieces(pieces):
    judge(" ".join(pieces))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([LEDGER, FULL]), st.integers(0, 2**32), st.integers(1, 4))
def test_damaged_specs(text, seed, count):
    draw = random.Random(seed)
    for _ in range(count):
        start = draw.randrange(len(text))
        end = min(len(text), start + draw.choice([1, 2, 5, 40, 400]))
        text = text[:start] + draw.choice(["", " ", draw.choice(PIECES), text[end : end + 50]]) + text[end:]
    judge(text)


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["task", "setup", "check"]))
def test_any_text_in_a_value_a_path_and_a_program(text, place):
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    lines = "\n      ".join(text.splitlines())
    forms = {
        "task": f'let x = "{quoted}"\n  let y <<<python\n      emit(1)\n      {lines}\n  >>>',
        "setup": f'file "{quoted}" <<<text\n      x\n      {lines}\n    >>>',
        "check": f'file("{quoted}")  text("/app/x", matches = "{quoted}")',
    }
    judge(sample(**{place: forms[place]}))


def test_deep_nesting_is_told():
    depth = 60
    nested = "let x = " + "[" * depth + "]" * depth
    assert slugs(sample(task=nested)) == ["too-deep"]
    groups = 'any { file("/app/a") ' * depth + "}" * depth
    assert slugs(sample(check=groups)) == ["too-deep"]
    each = 'each x (in = ["a"]) { ' * depth + "}" * depth
    assert slugs(sample(setup=each)) == ["too-deep"]


def test_a_deeply_nested_program_is_told():
    for text in ("(" * 150 + ")" * 150, "-" * 30000 + "1", "[" * 90 + "]" * 90):
        found = judge(sample(task=f"let x <<<python\n    emit({text})\n  >>>"))
        assert {fault.slug for fault in found if fault.is_error} <= {"program-syntax"}


def test_repetitions_that_grow_as_a_product_are_cut():
    items = ", ".join(f'"{number}"' for number in range(30))
    inner = 'file "/app/{{ a }}/{{ b }}/{{ c }}/{{ d }}" <<<text\n  x\n>>>\n'
    text = inner
    for name in "abcd":
        text = f"each {name} (in = [{items}]) {{\n{text}}}\n"
    assert "too-large" in slugs(sample(setup=text))


GROWING = {
    "texts": '"{{ a }}{{ a }}{{ a }}"',
    "lists": "[a, a, a]",
    "maps": "{ x = a  y = a  z = a }",
    "mixed": '[{ x = "{{ a }}"  y = a }, a]',
}


@pytest.mark.parametrize("form", GROWING)
def test_arguments_that_grow_as_a_product_are_cut(form):
    # Each fragment hands its argument on threefold: 3^28 times what the first one was given.
    fragments = [
        f"fragment f{number} (a) {{ use f{number + 1} (a = {GROWING[form]}) }}" for number in range(28)
    ]
    fragments.append('fragment f28 (a) { json("/app/x", equals = a) }')
    text = sample(check='use f0 (a = "x")').replace("task ", "\n".join([*fragments, "task "]), 1)
    started = time.process_time()
    assert "too-large" in slugs(text)
    assert time.process_time() - started < 20  # a generous bound; without the cut it takes for ever


def test_rounds_without_statements_are_cut():
    items = ", ".join(["1"] * 3000)
    text = "".join(f"each {name} (in = [{items}]) {{ " for name in "abc") + "}}}"
    assert "too-large" in slugs(sample(setup=text))


def test_one_long_argument_may_be_used_often():
    text = "x" * 5000
    uses = "".join(
        f'each y (in = ["{number}"]) {{ file("/app/{{{{ y }}}}", content = a) }}' for number in range(200)
    )
    found = sample(check=f'use f (a = "{text}")').replace("task ", f"fragment f (a) {{ {uses} }}\ntask ", 1)
    assert "too-large" not in slugs(found)


def test_more_values_than_can_be_followed_are_cut():
    text = "\n".join(f"let l{number} = {f'let.l{number - 1}' if number else 1}" for number in range(3000))
    assert "too-large" in slugs(sample(task=text))


def test_many_errors_are_cut_and_counted():
    text = sample(task="\n".join(f"unknown{number} = {number}" for number in range(3 * MOST)))
    _, faults = resolve_text(text)
    assert len(faults) == MOST + 1
    assert (faults[-1].slug, faults[-1].headline) == ("too-many-errors", f"{2 * MOST} more not shown")


def test_ten_megabytes_are_told_and_not_worked_through():
    # The parser already refuses so much; what it gives back is taken as it is.
    tree, faults = parse(Source("task.aes", sample() + "# x\n" * 2_500_000))
    assert any(fault.is_error for fault in faults)
    resolve(tree)


def test_the_same_is_said_every_time():
    text = FULL.replace("p.rows", "p.rosw").replace("check totals", "check toal")
    assert resolve_text(text)[1] == resolve_text(text)[1]
