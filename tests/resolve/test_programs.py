"""What a program names: found in the text, with its place, and only as far as it is sure."""

import pytest

from aespec.resolve.programs import ProgramFault, read_program
from tests.resolve.specs import resolve_text, sample


def mentions(text):
    names = read_program(text)
    return [(item.prefix, item.name, text[item.start : item.end]) for item in names.mentions]


def test_names_by_attribute_and_by_key_with_their_places():
    text = '"ä"; x = p.rows\nif x:\n    print(let["total"], p\n      .name)\n'
    assert mentions(text) == [
        ("p", "rows", "p.rows"),
        ("let", "total", 'let["total"]'),
        ("p", "name", "p\n      .name"),
    ]


def test_decorators_formatted_texts_and_nested_functions():
    text = '@p.one\ndef f(a=p.two):\n    return f"""\n    {p.three:>{p.four}}"""\n\n'
    text += "class A:\n    x = [p.five for i in p.six]\n"
    assert sorted(name for _, name, _ in mentions(text)) == ["five", "four", "one", "six", "three", "two"]


def test_mentions_in_texts_and_comments_are_none():
    assert mentions('# p.rows\nx = "p.rows let.x"\n') == []


@pytest.mark.parametrize(
    "text",
    [
        "for p in []: p.x",
        "def f(p): p.x",
        "import a as p\np.x",
        "lambda p: p.x",
        "match 1:\n  case p: p.x",
        "p = 3",
    ],
)
def test_a_variable_of_the_programs_own(text):
    assert "p" in read_program(text).bound


def test_a_prefix_as_a_whole():
    assert read_program("print(dict(p), sorted(let))").whole == {"p", "let"}
    assert read_program("print(p.x)").whole == set()


@pytest.mark.parametrize("text", ["x = (", "a b", "\tx\n  y", "x = 1\0", "9" * 5000, "é = '\ud800'"])
def test_what_python_refuses_is_a_fault_with_a_place(text):
    fault = read_program(text)
    if isinstance(fault, ProgramFault):
        assert 0 <= fault.start <= fault.end <= len(text)
        assert "\n" not in fault.text
    else:
        assert text == "é = '\ud800'"


def uses(program, task="", sources="", kind="let"):
    declared = f"param rows = int(1, 9)\n  let total = 3\n  hidden world = 1\n  {task}\n"
    text = sample(task=f"{declared}  {kind} x {sources} <<<python\n    {program}\n  >>>")
    found, faults = resolve_text(text)
    assert faults == ()
    program = next(item for item in found.declarations if item.name == "x").body
    return {f"{ref.kind.value}.{ref.name}" for ref in program.uses}


def test_uses_of_a_program():
    assert uses("emit(p.rows)") == {"p.rows"}
    assert uses("emit(1)") == set()
    assert uses("emit(world + let.total)", sources="(from = [hidden.world])") == {"hidden.world", "let.total"}
    assert uses("emit(dict(p))") == {"p.rows"}
    assert uses("emit(list(p.items()))") == {"p.rows"}
    assert uses("emit(sum(p.rows for p in []))") == {"p.rows"}
