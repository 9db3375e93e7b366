"""What the laws call a violation breaks the claim, what they call a variant keeps it, and nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aespec import predicates
from aespec.model.chooser import SeededChooser
from aespec.model.edits import edit_from_json, edit_to_json
from aespec.operators.states import edit_state
from aespec.runtime.memory import MemoryState
from tests.predicates import samples
from tests.predicates.samples import Sample


class DrawnChooser:
    """Draws from Hypothesis."""

    def __init__(self, data):
        self.data = data

    def integer(self, low, high):
        return self.data.draw(st.integers(low, high))

    def pick(self, items):
        return self.data.draw(st.sampled_from(items))

    def subset(self, items):
        return tuple(item for item in items if self.data.draw(st.booleans()))


def agree(sample: Sample, chooser) -> int:
    """Checks all violations and variants of a sample; how many there were."""
    predicate = predicates.find(sample.predicate)
    state, count = sample.state, 0
    assert predicate.holds(state, sample.args).is_held
    for edits in predicate.laws.violations(sample.args, state, chooser):
        count += 1
        changed = edit_state(state, [edit_from_json(edit_to_json(edit)) for edit in edits])
        assert not predicate.holds(changed, sample.args).is_held, edits
    for edits in predicate.laws.variants(sample.args, state, chooser):
        count += 1
        verdict = predicate.holds(edit_state(state, edits), sample.args)
        assert verdict.is_held, (edits, verdict.reason)
    return count


@pytest.mark.parametrize("sample", samples.ALL, ids=samples.name)
def test_laws_on_the_samples(sample):
    count = sum(agree(sample, SeededChooser(seed)) for seed in range(8))
    assert count >= 20 or sample.args.get("kind") in ("folder", "link", "absent")


@pytest.mark.parametrize("sample", samples.ALL, ids=samples.name)
def test_words(sample):
    laws = predicates.laws(sample.predicate)
    sentence = laws.says(sample.args)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    path = sample.args["path"].partition("#")[0]
    assert f"`{path}`" in sentence
    assert all(promise.endswith(".") for promise in laws.promises(sample.args))
    assert path in laws.literals(sample.args)
    assert all(read.startswith(path) for read in laws.reads(sample.args))
    assert laws.faults(sample.args) == ()
    assert "bytes" in laws.needs(sample.args)
    assert list(laws.violations(sample.args, sample.state, SeededChooser(1)))


def test_no_sentence_shows_what_is_expected():
    secret = "q7zx81"
    claims = [
        ("json", {"path": "/a", "equals": {"k": secret}}),
        ("json", {"path": "/a", "equals": [secret]}),
        ("text", {"path": "/a", "equals": secret, "contains_line": [secret], "lacks_line": secret}),
        ("file", {"path": "/a", "content": secret}),
        ("table", {"path": "/a", "equals": [{"k": secret}]}),
        ("command", {"argv": ["/a"], "stdout": secret, "stdout_json": secret, "creates": {"/b": secret}}),
        ("function", {"path": "/a.py", "name": "f", "cases": [{"args": [secret], "returns": secret}]}),
    ]
    for name, args in claims:
        laws = predicates.laws(name)
        told = [laws.says(args), *laws.promises(args), *map(str, laws.literals(args))]
        assert not [text for text in told if secret in text]


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.floats(-1e6, 1e6, allow_nan=False),
    st.text(st.characters(codec="utf-8"), max_size=6),
)
keys = st.text("abcXYZ_/~", min_size=1, max_size=3)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=50, deadline=None)
@given(documents, st.data())
def test_laws_of_json(document, data):
    import json

    args = {"path": "/x", "equals": document}
    if data.draw(st.booleans()):
        args["unordered"] = data.draw(st.sampled_from([[""], ["/*"], ["", "/*", "/*/*"]]))
    if data.draw(st.booleans()):
        args["tolerance"] = data.draw(st.sampled_from([0.001, 0.5, 3]))
    if data.draw(st.booleans()):
        args["extra_keys"] = "allowed"
    if data.draw(st.integers(0, 3)) == 0:
        args["free"] = ["/a", "/*/b"]
    agree(Sample("json", args, {"/x": json.dumps(document).encode()}), DrawnChooser(data))


lines = st.lists(st.text("ab 1é-", max_size=5).map(str.strip), max_size=5)


@settings(max_examples=50, deadline=None)
@given(lines, st.data())
def test_laws_of_text(found, data):
    text = "\n".join(found)
    kinds = {
        "equals": {"equals": text, "trim": data.draw(st.sampled_from(["lines", "final", "all", "none"]))},
        "lines": {
            "lines": [line for line in found if line],
            "order": data.draw(st.sampled_from(["any", "given"])),
        },
        "count": {"count": len(text.rstrip("\n").split("\n")) if text.rstrip("\n") else 0},
    }
    kind = data.draw(st.sampled_from(sorted(kinds)))
    content = "\n".join(line for line in found if line) if kind == "lines" else text
    agree(Sample("text", {"path": "/x", **kinds[kind]}, {"/x": content.encode()}), DrawnChooser(data))


cells = {
    "text": st.text("ab,\"'1 \né", max_size=4),
    "number": st.integers(-1000, 1000) | st.floats(-1e4, 1e4, allow_nan=False),
    "boolean": st.booleans(),
}


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_laws_of_table(data):
    kinds = data.draw(st.lists(st.sampled_from(sorted(cells)), min_size=1, max_size=3))
    columns = [f"c{index}" for index in range(len(kinds))]
    rows = data.draw(st.lists(st.tuples(*(cells[kind] for kind in kinds)), min_size=1, max_size=4))
    args = {"path": "/x.csv", "equals": [dict(zip(columns, row, strict=True)) for row in rows]}
    if data.draw(st.booleans()):
        args |= {"columns": columns, "column_order": data.draw(st.sampled_from(["any", "given"]))}
    args["order"] = data.draw(st.sampled_from(["any", "given"]))
    args["extra_columns"] = data.draw(st.sampled_from(["allowed", "forbidden"]))
    if data.draw(st.booleans()):
        args["tolerance"] = 0.5
    agree(Sample("table", args, {"/x.csv": written(columns, rows)}), DrawnChooser(data))


def written(columns, rows):
    import csv
    import io

    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(columns)
    writer.writerows([str(cell).lower() if isinstance(cell, bool) else cell for cell in row] for row in rows)
    return out.getvalue().encode()


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=20), st.data())
def test_laws_of_file(content, data):
    import hashlib

    args = {"path": "/x", "sha256": hashlib.sha256(content).hexdigest()}
    agree(Sample("file", args, {"/x": content}), DrawnChooser(data))


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=200) | documents.map(repr).map(str.encode), st.sampled_from(samples.ALL))
def test_no_content_makes_a_predicate_raise(content, sample):
    """Whatever a solver writes, the answer is yes or no."""
    predicate = predicates.find(sample.predicate)
    path = sample.args["path"].partition("#")[0]
    predicate.holds(MemoryState.of({path: content}, baseline=samples.BASELINE), sample.args)
