"""Every place in a text is pointed at where it stands in the file."""

from hypothesis import given, settings
from hypothesis import strategies as st

from aespec.resolve.context import Context
from aespec.resolve.scope import Scope
from aespec.resolve.texts import resolve_text
from aespec.source import Source
from aespec.syntax import parse

LINES = st.lists(
    st.text(st.characters(blacklist_characters="\n\r{}\0<>", blacklist_categories=["Cs", "Cc"]), max_size=12),
    max_size=6,
)


def faults_of(text):
    source = Source("a.aes", text)
    tree, found = parse(source)
    assert found == ()
    statement = tree.statements[0]
    context = Context(source)
    resolve_text(context, statement.heredoc or statement.value, Scope())
    return [fault.span for fault in context.findings.sorted()]


@settings(max_examples=50, deadline=None)
@given(
    LINES,
    st.integers(0, 8),
    st.sampled_from([" ", "\t"]),
    st.lists(st.integers(0, 5), min_size=1, max_size=3),
)
def test_places_in_a_heredoc(lines, width, blank, numbers):
    body = [f"a{line}" for line in lines] + [
        f"{'b' * number}{{{{ p.x{at} }}}}" for at, number in enumerate(numbers)
    ]
    indented = "".join(f"{blank * width}{line}\n" for line in ["first", "", *body])
    spans = faults_of(f'file "/app/a" <<<text\n{indented}>>>\n')
    assert [span.text for span in spans] == [f"p.x{at}" for at in range(len(numbers))]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["a", "ä", '\\"', "\\\\", "\\n", "\\u00e9", "{", "}}"]), max_size=12))
def test_places_in_a_quoted_text(parts):
    spans = faults_of(f'let x = "{"".join(parts)}{{{{ p.x }}}}"\n')
    assert spans[-1].text == "p.x"


def test_places_in_a_raw_text():
    assert [span.text for span in faults_of(r"let x = '\n\{{ p.x }}'" + "\n")] == ["p.x"]
