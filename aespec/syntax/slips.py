"""What no terminal of the grammar matches: each habit from another language gets its own report.

After a report the lexer goes on as if the right thing stood there, so that one mistake is one report.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from aespec.diagnostics.diagnostic import Diagnostic, Fix, Label, Severity, TextEdit
from aespec.syntax import heredoc_slips, text_slips, yaml_slips
from aespec.syntax.nodes import Number
from aespec.syntax.text_slips import text_at
from aespec.syntax.tokens import JUNK
from aespec.syntax.words import write_text

if TYPE_CHECKING:
    from aespec.syntax.lexer import Lexer

forgotten_end = heredoc_slips.forgotten_end
report_forgotten_end = heredoc_slips.report_forgotten_end
report_triple_quotes = text_slips.report_triple_quotes

_FENCE = re.compile(r"^[ \t]*(?:```+|~~~+)[\w.+-]*[ \t]*\r?\n", re.MULTILINE)
_ASSIGN = re.compile(r":=|\+=|:")
_OPERATOR = re.compile(r"[!<>=]=|&&|\|\||->|[-+*/<>&|!^?%]")
_PATH = re.compile(r"~?/?[A-Za-z0-9_.@:%+-]*(?:/[A-Za-z0-9_.@:%+*-]*)+|[:@][A-Za-z0-9_.@:/-]+")
_ADDRESS = re.compile(r"[^\s\"',(){}\[\]]+")
_BRACES = re.compile(r"\{\{[ \t]*([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)[ \t]*\}\}")
_KNOWN = re.compile(r"[A-Za-z0-9_\s\"'#=,(){}\[\]<>:;]")


def check_whole_text(lexer: Lexer) -> None:
    """What is wrong with a file as a whole: JSON, or a Markdown page around the spec."""
    text = lexer.text
    if text[:1] == "\ufeff":
        lexer.report(
            "unknown-character",
            "the file begins with a byte order mark",
            0,
            1,
            help="Remove it.",
            fix=("remove the byte order mark", ""),
        )
        lexer.position = 1
    begin = text.lstrip()
    if begin[:1] in {"{", "["}:
        at = len(text) - len(begin)
        lexer.report(
            "json-text",
            "this is JSON, not a spec",
            at,
            at + 1,
            why="A spec is a list of statements, `name = value` and `keyword label { … }`, in no braces.",
            help='Write `aes = 1` and `task "name" { … }`; names have no quotes, `=` stands for `:`, '
            "and no commas stand between statements.",
        )
        lexer.position = len(text)
        return
    fence = _FENCE.search(text)
    if fence and "<<<" not in text[: fence.start()]:
        _report_fences(lexer, fence)


def _report_fences(lexer: Lexer, first: re.Match[str]) -> None:
    """Read what stands between the fences; the text around them is part of the one mistake."""
    later = list(_FENCE.finditer(lexer.text, first.end()))
    last = later[-1] if later else None
    start, end = first.start(), first.end()
    edits = [TextEdit(lexer.span(0, end), "")]
    related: tuple[Label, ...] = ()
    if last is not None and not lexer.text[last.end() :].strip().startswith(">>>"):
        edits.append(TextEdit(lexer.span(last.start(), len(lexer.text)), ""))
        related = (Label(lexer.span(last.start(), last.end() - 1), "and ends here"),)
        lexer.text = lexer.text[: last.start()]
    lexer.words.diagnostics.append(
        Diagnostic(
            "markdown-fence",
            Severity.ERROR,
            "the spec stands in a Markdown code block",
            lexer.span(start, end - 1),
            why="A spec file holds the spec alone, without fences and without words around it.",
            help="Remove the fences and what stands outside them.",
            related=related,
            fix=Fix("remove the fences and what stands outside them", tuple(edits)),
        )
    )
    lexer.position = end


def report_unknown(lexer: Lexer) -> None:
    """Report what stands at the lexer's position, which is no token, and move on."""
    char = lexer.text[lexer.position]
    for starts, handle in _HANDLERS:
        if char in starts and handle(lexer):
            return
    _report_character(lexer)


def report_braces(lexer: Lexer, start: int) -> None:
    """`{{ p.x }}` outside a text: there a name stands bare."""
    found = _BRACES.match(lexer.text, start)
    if found is None:
        return
    lexer.words.tokens.pop()
    lexer.report(
        "braces-outside-text",
        f"`{found[0]}` stands outside a text",
        start,
        found.end(),
        why="Double braces put a value into a text. As a value, a name stands bare.",
        help=f"Write `{found[1]}`.",
        fix=("take the braces off", found[1]),
    )
    kind = "PATH" if "." in found[1] else "NAME"
    lexer.emit(kind, start + found.start(1), start + found.end(1))
    lexer.position = found.end()


def report_malformed_number(lexer: Lexer, start: int, end: int) -> None:
    """Digits with more glued to them: a version, a date, an address."""
    end = max(end, lexer.position)
    whole = lexer.text[start:end]
    text = whole.rstrip(".:+/-")
    if re.fullmatch(r"-?[0-9]+", text):
        lexer.report(
            "malformed-number",
            f"`{whole}` is no number",
            start,
            end,
            why="A number has digits on both sides of its point.",
            help=f"Write `{text}`.",
            fix=(f"write `{text}`", text),
        )
        lexer.emit("STRING", start, end, text_at(lexer, text, start, end))
        lexer.position = end
        return
    text = text or whole
    lexer.report(
        "malformed-number",
        f"`{text}` is no number",
        start,
        end,
        why="A number is `-3`, `0.5` or `1e-9`, with a unit after it where one is due: `30s`, `2GiB`, `1%`.",
        help=f'If it is a version, a date or an address, put it in quotes: `"{text}"`.',
        fix=("put it in quotes", f'"{text}"'),
    )
    lexer.emit("STRING", start, end, text_at(lexer, text, start, end))
    lexer.position = end


def report_leading_zero(lexer: Lexer, start: int, text: str) -> None:
    """`0644`: a file mode in another language, six hundred and forty-four in this one."""
    lexer.report(
        "leading-zero",
        f"`{text}` begins with a zero",
        start,
        start + len(text),
        why="Some languages read such a number in base eight. Here numbers have base ten.",
        help=f'For a file mode write `"{text}"` in quotes; for a number, leave the zero out.',
    )


def _colon(lexer: Lexer) -> bool:
    """`name: value` and `name := value`; but `image:tag` is a text that lacks its quotes."""
    start, text = lexer.position, lexer.text
    glued_before = start > 0 and not text[start - 1].isspace()
    glued_after = not text[start + 1].isspace()
    if text[start] == ":" and glued_before and glued_after and text[start + 1] != "=" and _unquoted(lexer):
        return True
    found = _ASSIGN.match(text, start)
    if found is None:
        return False
    lexer.report(
        "colon-for-equals",
        f"`{found[0]}` stands where `=` belongs",
        start,
        found.end(),
        why="One way to say one thing: a value is set by `name = value`, and a block has no colon.",
        help="Write `=`, or nothing before a block's `{`.",
        fix=("write `=`", " =" if glued_before else "="),
    )
    lexer.position = found.end()
    ahead = text[lexer.position :].lstrip(" \t")[:1]
    if ahead != "{" or not lexer.words.tokens or lexer.words.tokens[-1].type == "STRING":
        lexer.emit("EQUALS", start, found.end())
    return True


def _unquoted(lexer: Lexer) -> bool:
    """`/app/x`, `debian:bookworm`, `https://…` without quotes, with what was read of it already."""
    start, text = lexer.position, lexer.text
    found = _PATH.match(text, start)
    if found is None or found.end() == start + 1 or not any(c.isalnum() for c in found[0]):
        return False
    tokens = lexer.words.tokens
    begin = start
    if tokens and tokens[-1].span.end == start and tokens[-1].type in {"NAME", "PATH", "NUMBER"}:
        begin = tokens.pop().span.start
    end = found.end()
    if "://" in found[0]:
        end = start + len(_ADDRESS.match(text, start)[0])  # type: ignore[index]  # it begins as found does
    whole = text[begin:end]
    lexer.report(
        "unquoted-text",
        f"`{whole}` needs quotes",
        begin,
        end,
        why="Paths, images and addresses are texts; only names, numbers and units stand bare.",
        help=f'Write `"{whole}"`.',
        fix=("put it in quotes", f'"{whole}"'),
    )
    lexer.emit("STRING", begin, end, text_at(lexer, whole, begin, end))
    lexer.position = end
    return True


def _separator(lexer: Lexer) -> bool:
    at = lexer.position
    lexer.report(
        "separator",
        "`;` separates nothing here",
        at,
        at + 1,
        why="Statements need no separator: a statement ends where the next one begins.",
        help="Remove it.",
        fix=("remove it", ""),
    )
    lexer.position += 1
    return True


def _foreign_comment(lexer: Lexer) -> bool:
    start, text = lexer.position, lexer.text
    if text.startswith("//", start) or (
        text.startswith("--", start) and not text[text.rfind("\n", 0, start) + 1 : start].strip()
    ):
        end = text.index("\n", start)
        fix = ("write `#`", "#" + text[start + 2 : end])
    elif text.startswith("/*", start):
        close = text.find("*/", start)
        end = close + 2 if close >= 0 else len(text) - 1
        fix = None
    else:
        return False
    lexer.report(
        "foreign-comment",
        f"`{text[start : start + 2]}` doesn't begin a comment",
        start,
        end,
        help="A comment begins with `#` and goes to the end of its line.",
        fix=fix,
    )
    lexer.position = end
    return True


def _operator(lexer: Lexer) -> bool:
    start, text = lexer.position, lexer.text
    found = _OPERATOR.match(text, start)
    if found is None:
        return False
    tokens = lexer.words.tokens
    if text[start] == ">" and tokens and tokens[-1].type == "EQUALS" and tokens[-1].span.end == start:
        lexer.report(
            "colon-for-equals",
            "`=>` stands where `=` belongs",
            start - 1,
            start + 1,
            help="Write `=`.",
            fix=("write `=`", "="),
        )
        lexer.position = start + 1
        return True
    lexer.report(
        "infix-operator",
        f"`{found[0]}` is no part of the language: there are no operators",
        start,
        found.end(),
        why="A spec is data: values are written out, or computed by a program, or claimed by a predicate.",
        help="Say it with a predicate's named argument (`at_least = 3`), `any { }` or `not { }`, or compute "
        "it in a `let` program.",
    )
    lexer.emit(JUNK, start, found.end())
    lexer.position = text.index("\n", start)
    return True


def _backtick(lexer: Lexer) -> bool:
    start = lexer.position
    found = re.compile(r"`([^`\n]*)`").match(lexer.text, start)
    if found is None:
        return False
    straight = write_text(found[1])
    lexer.report(
        "unknown-character",
        "backticks mean nothing here",
        start,
        found.end(),
        why="They belong to Markdown, which stands in texts.",
        help=f"Texts stand in straight quotes, `{straight}`; names stand bare.",
    )
    lexer.emit("STRING", start, found.end(), text_at(lexer, found[1], start, found.end()))
    lexer.position = found.end()
    return True


def _dot(lexer: Lexer) -> bool:
    start, text = lexer.position, lexer.text
    found = re.compile(r"\.[0-9]+(?:[eE][+-]?[0-9]+)?(?:%|[A-Za-z]+)?").match(text, start)
    if found is None:
        return _unquoted(lexer) if text[start : start + 2] in {"./", ".."} else False
    lexer.report(
        "malformed-number",
        f"`{found[0]}` lacks its zero",
        start,
        found.end(),
        help=f"Write `0{found[0]}`.",
        fix=("write the zero", f"0{found[0]}"),
    )
    lexer.emit("NUMBER", start, found.end(), Number(Decimal(0), span=lexer.span(start, found.end())))
    lexer.position = found.end()
    return True


def _report_character(lexer: Lexer) -> None:
    """One report for a run of characters that mean nothing."""
    start, text = lexer.position, lexer.text
    end = start + 1
    while end < len(text) and not _KNOWN.match(text, end):
        end += 1
    run = text[start:end]
    shown = run if len(run) <= 20 and run.isprintable() else ""
    name = f"`{shown}` means nothing here" if shown else f"U+{ord(run[0]):04X} means nothing here"
    why = "Outside quotes and heredocs a spec is names, numbers, `=`, `,` and brackets."
    if run.isalpha():
        why = "Names are made of the letters a to z, digits, `_` and `-`."
    lexer.report(
        "unknown-character",
        name,
        start,
        end,
        why=why,
        help="Put it in quotes if it belongs to a text, else remove it.",
    )
    lexer.emit(JUNK, start, end)
    lexer.position = end


_HANDLERS = (
    ('"', text_slips.report_string),
    ("'", text_slips.report_raw),
    ("<>", heredoc_slips.report_heredoc),
    ("\u201c\u201d\u201e\u00ab\u2018\u2019\u201a", text_slips.report_curly),
    ("/-", _foreign_comment),
    ("-", yaml_slips.report_list),
    ("`", _backtick),
    ("/~@", _unquoted),
    (":+", _colon),
    (";", _separator),
    (".", _dot),
    ("!<>=&|-+*/^?%", _operator),
)
