"""What is wrong where a token doesn't fit, in the language's own words, and how reading goes on.

Each function returns the index at which to go on, or None where its mistake isn't the one made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aespec.diagnostics.diagnostic import Diagnostic, Fix, Label, Severity, TextEdit
from aespec.source import Span
from aespec.syntax.nodes import Heredoc, String
from aespec.syntax.tokens import CLOSERS, END, JUNK, OPENERS, Token

if TYPE_CHECKING:
    from aespec.syntax.parser import Driver

SPELLED = {
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "EQUALS": "`=`",
    "COMMA": "`,`",
    "NAME": "a name",
    "PATH": "a dotted name",
    "NUMBER": "a number",
    "STRING": 'a "text"',
    "RAW": "a 'raw text'",
    "HEREDOC": "a heredoc (`<<<tag`)",
    END: "the end of the file",
}
"""What a reader calls each terminal."""

_VALUES = {"NAME", "PATH", "NUMBER", "STRING", "RAW", "LSQB", "LBRACE"}
_VALUE_ENDS = {"NAME", "PATH", "NUMBER", "STRING", "RAW", "RPAR", "RSQB", "RBRACE", "HEREDOC"}


def recover(driver: Driver, index: int) -> int:
    """Report what is wrong at the token that didn't fit; the index at which to go on."""
    token = driver.tokens[index]
    if token.type == JUNK or (driver.words.is_cut and token.type == END):
        return _finish(driver) if token.type == END else driver.skip(index + 1)
    for diagnose in _ORDER:
        next_index = diagnose(driver, index, token)
        if next_index is not None:
            return next_index
    return _unexpected(driver, index, token)


def misplaced_label(driver: Driver, token: Token) -> None:
    """A keyword at the end of its line, which the grammar lets take the next line's name for its label."""
    keyword = driver.fed[-1]
    if token.line_indent <= keyword.line_indent:
        driver.report(_bare_name(keyword.span))
        driver.undo()
        return
    driver.report(
        _error(
            "missing-brace",
            f"`{{` is missing after {_shown(keyword)}",
            keyword.span,
            why="The next line is indented as in a block, and a label stands on the line of its keyword.",
            help=f"Write {_shown(keyword)[:-1]} {{`, and `}}` where the block ends.",
            fix=_insertion("write `{`", keyword.span, " {", is_safe=False),
        )
    )
    driver.insert("LBRACE", keyword.span.end)


def _bare_name(span: Span) -> Diagnostic:
    name = span.text
    return _error(
        "bare-name",
        f"`{name}` says nothing by itself",
        span,
        why="A statement is a keyword with a label on its line, arguments, a value, a block or a text.",
        help=f"Remove it, or write `{name} = …`, `{name}(…)` or `{name} {{ … }}`.",
    )


def deep_nesting(span: Span) -> Diagnostic:
    """Too many brackets are open."""
    from aespec.syntax.parser import DEPTH_MAX

    return _error(
        "deep-nesting",
        f"more than {DEPTH_MAX} brackets are open here",
        span,
        why="No spec needs that; programs that read it would run out of stack.",
        help="Close some of them; a structure of that depth goes into a heredoc or a file beside the spec.",
    )


def _error(
    slug: str,
    headline: str,
    span: Span,
    *,
    why: str = "",
    help: str = "",
    related: tuple[Label, ...] = (),
    fix: Fix | None = None,
) -> Diagnostic:
    return Diagnostic(slug, Severity.ERROR, headline, span, why=why, help=help, related=related, fix=fix)


def _insertion(title: str, span: Span, text: str, *, is_safe: bool = True) -> Fix:
    return Fix(title, (TextEdit(Span(span.source, span.end, span.end), text),), is_safe)


def _shown(token: Token) -> str:
    """The token as a headline shows it, cut where it is long."""
    if token.type == END:
        return "the end of the file"
    first = token.text.split("\n", 1)[0]
    return f"`{first[:40]}{'…' if len(first) > 40 or first != token.text else ''}`"


def _first_line(token: Token) -> Span:
    """The token's place as far as it stands on the line where it begins."""
    span = token.span
    return Span(span.source, span.start, span.start + len(span.text.split("\n", 1)[0]))


def _bad_value(driver: Driver, index: int, token: Token) -> int | None:
    """`name =` with nothing after it."""
    equals = driver.previous()
    if equals is not None and equals.type == "EQUALS":
        if token.type == "EQUALS":
            glued = token.span.start == equals.span.end
            driver.report(
                _error(
                    "infix-operator" if glued else "unexpected-token",
                    "`==` is no part of the language: there are no operators"
                    if glued
                    else "`=` stands twice",
                    Span(token.span.source, equals.span.start, token.span.end),
                    why="A value is set by one `=`; comparing is what predicates do." if glued else "",
                    help='Write one `=`, or use a predicate: `json("/f", equals = 3)`.',
                )
            )
            return index + 1
        return _missing_value(driver, equals, index) if token.type in {*CLOSERS, "COMMA", END} else None
    name, before = driver.previous(1), driver.previous(2)
    is_swallowed = (
        name is not None
        and before is not None
        and before.type == "EQUALS"
        and name.type in {"NAME", "PATH"}
        and name.is_first_on_line
        and name.line != before.line
        and token.type in {"EQUALS", "STRING", "LBRACE", "LSQB", "NUMBER", "HEREDOC", "RAW"}
    )
    if is_swallowed and before is not None:
        driver.undo()
        return _missing_value(driver, before, index - 1)
    return None


def _missing_value(driver: Driver, equals: Token, index: int) -> int:
    driver.report(
        _error(
            "missing-value",
            "`=` has no value after it",
            equals.span,
            help='Write a value: a "text", a number, a name, `[a, b]`, `{ a = 1 }` or a heredoc.',
        )
    )
    return index if driver.insert("NAME", equals.span.end) else driver.skip(index)


def _closer(driver: Driver, index: int, token: Token) -> int | None:
    """A closing bracket that closes nothing, or not the one opened last."""
    if token.type not in CLOSERS:
        return None
    wanted = CLOSERS[token.type]
    if all(bracket.token.type != wanted for bracket in driver.brackets):
        if driver.closed_late and not driver.brackets:
            token = driver.closed_late[0]
        driver.report(
            _error(
                "unmatched-bracket",
                f"{SPELLED[token.type]} closes nothing",
                token.span,
                why="No bracket of its kind is open here.",
                help="Remove it, or open its bracket before.",
            )
        )
        return index + 1
    top = driver.brackets[-1].token
    if top.type == wanted:
        return None
    return _unclosed(driver, index, token)


def _unclosed(driver: Driver, index: int, found: Token) -> int:
    """The innermost bracket should have been closed before `found`: close it."""
    top = driver.brackets[-1].token
    previous = driver.previous() or top
    closer = OPENERS[top.type]
    mark = SPELLED[closer].strip("`")
    driver.report(
        _error(
            "unclosed-bracket",
            f"{SPELLED[top.type]} is not closed",
            top.span,
            why=f"{_shown(found)} can't stand inside of it.".replace("the end", "The end", 1),
            help=f"Write {SPELLED[closer]} where it should end.",
            related=(Label(_first_line(found), f"{SPELLED[closer]} should stand before this"),),
            fix=_insertion(f"write {SPELLED[closer]}", previous.span, mark, is_safe=False),
        ),
        found.line,
    )
    return index if driver.insert(closer, previous.span.end) else driver.skip(index)


def _end(driver: Driver, index: int, token: Token) -> int | None:
    """The file ends while brackets are open."""
    if token.type != END or not driver.brackets:
        return None
    top = (driver.closed_early or [driver.brackets[-1].token])[0]
    driver.report(
        _error(
            "unclosed-bracket",
            f"{SPELLED[top.type]} is not closed",
            top.span,
            why="The file ends before it is."
            if not driver.closed_early
            else "A `}` further left closes it, so that one more stays open to the end of the file.",
            help=f"Write {SPELLED[OPENERS[top.type]]} where it should end.",
        )
    )
    return _finish(driver)


def _finish(driver: Driver) -> int:
    """Close all that is open, without a word, to keep what could be read."""
    end = driver.tokens[-1]
    driver.skip(len(driver.tokens) - 1)
    while driver.brackets and driver.insert(OPENERS[driver.brackets[-1].token.type], end.span.end):
        pass
    return len(driver.tokens) if driver.brackets else len(driver.tokens) - 1


def _comma(driver: Driver, index: int, token: Token) -> int | None:
    """A comma where none belongs."""
    if token.type != "COMMA":
        return None
    previous = driver.previous()
    if driver.is_after_label and previous is driver.tokens[index - 1] and token.line == previous.line:
        return _missing_parenthesis(driver, index, previous)
    if driver.in_body:
        why = "Statements need no separator: a statement ends where the next one begins."
        headline = "`,` separates nothing here"
    elif previous is not None and previous.type in {"COMMA", "LPAR", "LSQB", "LBRACE"}:
        why = "A comma stands after a value; one after the last value may stay."
        headline = "nothing stands before this `,`"
    else:
        return None
    fix = Fix("remove it", (TextEdit(token.span, ""),))
    driver.report(_error("separator", headline, token.span, why=why, help="Remove it.", fix=fix))
    return index + 1


def _missing_parenthesis(driver: Driver, index: int, label: Token) -> int:
    """`predicate "/path", name = 1`: arguments without their parentheses; the label was the first of them."""
    driver.undo()
    keyword = driver.fed[-1]
    driver.report(
        _error(
            "missing-parenthesis",
            f"`(` is missing after {_shown(keyword)}",
            Span(keyword.span.source, keyword.span.start, label.span.end),
            why="Arguments, which commas separate, stand in parentheses.",
            help=f"Write {_shown(keyword)[:-1]}(…)`.",
            fix=_insertion("write `(`", keyword.span, "(", is_safe=False),
        )
    )
    return index - 1 if driver.insert("LPAR", keyword.span.end) else driver.skip(index)


def _heredoc_inside(driver: Driver, index: int, token: Token) -> int | None:
    """A heredoc in a list, a map or arguments: it ends a statement, so it can't stand there."""
    if token.type != "HEREDOC" or driver.in_body:
        return None
    top = driver.brackets[-1].token
    previous = driver.previous()
    if previous is not None and previous.type in _VALUE_ENDS and driver.brackets[-1].token.type == "LPAR":
        return _unclosed(driver, index, token)
    driver.report(
        _error(
            "heredoc-inside-brackets",
            "a heredoc can't stand inside brackets",
            Span(token.span.source, token.span.start, min(token.span.start + 3, token.span.end)),
            why="A heredoc ends its statement.",
            help="Put it after the closing bracket, as the statement's text: `keyword(…) <<<tag`. For a "
            "short text use quotes and `\\n`.",
            related=(Label(top.span, "this bracket is still open"),),
        )
    )
    text = token.leaf.text if isinstance(token.leaf, Heredoc) else ""
    driver.tokens[index] = Token("STRING", token.span, String(text, span=token.span))
    return index


def _value_after_value(driver: Driver, index: int, token: Token) -> int | None:
    """In a list, a map or arguments: a comma, a `=` or the closing bracket is missing."""
    previous = driver.previous()
    if driver.in_body or previous is None or token.type not in _VALUES:
        return None
    top = driver.brackets[-1].token
    if top.type == "LBRACE":
        return _missing_equals(driver, index) if driver.accepted() == {"EQUALS"} else None
    if previous.type not in _VALUE_ENDS:
        return None
    if token.type == "LBRACE" or (token.is_first_on_line and token.line_indent <= top.line_indent):
        return _unclosed(driver, index, token)
    prefix = _string_prefix(driver, index, token)
    if prefix is not None:
        return prefix
    is_named = previous.type == "NAME" and token.type not in {"NAME", "PATH"} and token.line == previous.line
    if is_named and "EQUALS" in driver.accepted():
        return _missing_equals(driver, index)
    # `answer.rows[0]` is an index from elsewhere; a comma would make two values of it.
    is_index = token.type == "LSQB" and previous.type == "PATH" and token.span.start == previous.span.end
    way_out = f"Write `,` between {_shown(previous)} and {_shown(token)}."
    if is_index:
        way_out = "Only parts with names can be named: make the item a `let` or `answer` of its own."
    driver.report(
        _error(
            "missing-comma",
            "`,` is missing",
            Span(token.span.source, previous.span.end, token.span.start or 1),
            why="The values of a list and the arguments of a call are separated by commas.",
            help=way_out,
            fix=None if is_index else _insertion("write `,`", previous.span, ","),
        )
    )
    return index if driver.insert("COMMA", previous.span.end) else driver.skip(index)


def _missing_equals(driver: Driver, index: int) -> int:
    previous, token = driver.fed[-1], driver.tokens[index]
    driver.report(
        _error(
            "missing-equals",
            f"`=` is missing after {_shown(previous)}",
            Span(token.span.source, previous.span.start, token.span.end),
            why="A value is set by `name = value`.",
            help=f"Write `=` between {_shown(previous)} and {_shown(token)}.",
            fix=_insertion("write `=`", previous.span, " ="),
        )
    )
    return index if driver.insert("EQUALS", previous.span.end) else driver.skip(index)


def _string_prefix(driver: Driver, index: int, token: Token) -> int | None:
    """`f"…"`, `r"…"`: other languages' prefixes."""
    previous = driver.previous()
    is_prefix = (
        token.type in {"STRING", "RAW"}
        and previous is not None
        and previous.type == "NAME"
        and previous.span.end == token.span.start
        and previous.text.lower() in {"f", "r", "b", "u", "rb", "fr"}
    )
    if not is_prefix or previous is None:
        return None
    driver.report(
        _error(
            "string-prefix",
            f"`{previous.text}` before a text means nothing",
            previous.span,
            why="Values are put into any text by `{{ p.name }}`; a text in 'single quotes' has no escapes.",
            help="Remove it.",
            fix=Fix("remove it", (TextEdit(previous.span, ""),)),
        )
    )
    driver.undo()
    return index


def _in_statement(driver: Driver, index: int, token: Token) -> int | None:
    """After a keyword or label: `=` or everything is missing."""
    previous = driver.previous()
    if not driver.in_body or previous is None or driver.is_at_statement:
        return None
    prefix = _string_prefix(driver, index, token)
    if prefix is not None:
        return prefix
    if (
        previous.type in {"NAME", "PATH"}
        and driver.is_after_keyword
        and not (token.type in _VALUES and token.line == previous.line)
    ):
        driver.report(_bare_name(previous.span))
        return driver.skip(index)
    accepted = driver.accepted()
    is_listed = token.type in {"LSQB", "NUMBER", "PATH", "RAW"} and "EQUALS" in accepted
    if is_listed and token.line == previous.line and previous.type in {"NAME", "PATH"}:
        return _missing_equals(driver, index)
    return None


def _unexpected(driver: Driver, index: int, token: Token) -> int:
    """Everything else: what stands there, and what could."""
    accepted = driver.accepted()
    names = [SPELLED[kind] for kind in SPELLED if kind in accepted and kind != "PATH"]
    expected = ", ".join(names[:-1]) + (" or " if len(names) > 1 else "") + names[-1] if names else ""
    why = f"Here could stand {expected}." if expected else ""
    advice = "Remove it, or complete the statement before it."
    if driver.in_body and token.type in {"STRING", "RAW", "NUMBER", "LSQB", "LBRACE", "LPAR"}:
        why = "A statement begins with a keyword: `name = value`, `keyword label { … }` or `predicate(…)`."
        advice = "Name what it is: `name = …`, or remove it. A statement takes one label and one sentence."
    if token.type == "LPAR":
        advice = (
            "Parentheses hold the arguments of a call, right after its name: `name(…)`. They group nothing."
        )
    elif driver.brackets and driver.brackets[-1].token.type == "LSQB" and token.type == "EQUALS":
        advice = "A list holds values; a map is written `{ name = value }`."
    driver.report(
        _error(
            "unexpected-token", f"{_shown(token)} can't stand here", _first_line(token), why=why, help=advice
        )
    )
    return driver.skip(index)


_ORDER = (
    _bad_value,
    _in_statement,
    _closer,
    _end,
    _comma,
    _heredoc_inside,
    _value_after_value,
)
