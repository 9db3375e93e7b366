"""Text to tokens: the terminals of the grammar, each literal with its node, and reports for the rest."""

from __future__ import annotations

import re
from decimal import Decimal
from types import ModuleType

from aespec.diagnostics.diagnostic import Diagnostic, Fix, Severity, TextEdit
from aespec.source import Source, Span
from aespec.syntax.grammar import token_pattern
from aespec.syntax.heredoc import read_heredoc
from aespec.syntax.nodes import Comment, Number, String
from aespec.syntax.tokens import END, Token, Words
from aespec.syntax.words import DIGITS_MAX, EXPONENT_MAX, unescape

REPORTS_MAX = 25
"""After so many errors the rest of a file is left unread: by then it is no spec with slips."""

_NUMBER = re.compile(r"(-?)([0-9]+)(\.[0-9]+)?(?:[eE]([+-]?[0-9]+))?")
_GLUED = re.compile(r"[A-Za-z0-9_.:+/-]+")


class Lexer:
    """One pass over a text. `slips` takes over where no terminal matches, and moves `position` on."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text if source.text.endswith("\n") else source.text + "\n"
        self.position = 0
        self.words = Words()

    def read(self) -> Words:
        """All tokens of the text."""
        begin = self.text.lstrip()[:1]
        if begin in {"{", "[", "\ufeff"} or "```" in self.text or "~~~" in self.text:
            self.slips.check_whole_text(self)
        match = token_pattern().match
        text, words, source = self.text, self.words, self.source
        while self.position < len(text) and len(words.diagnostics) < REPORTS_MAX:
            found = match(text, self.position)
            if found is None:
                self.slips.report_unknown(self)
                continue
            kind = found.lastgroup
            start, self.position = self.position, found.end()
            if kind == "BLANK":
                continue
            if kind == "COMMENT":
                words.comments.append(Comment(found[0].rstrip(), span=self.span(start, found.end())))
            elif kind in _LITERALS:
                _LITERALS[kind](self, start, found[0])
            else:
                words.tokens.append(Token(str(kind), Span(source, start, found.end())))
                if kind == "LBRACE" and text.startswith("{", found.end()):
                    self.slips.report_braces(self, start)
        if self.position < len(text):
            words.is_cut = True
        end = len(source.text)
        words.tokens.append(Token(END, Span(source, end, end)))
        return words

    @property
    def slips(self) -> ModuleType:
        """What reads on where no terminal matches; imported only then, as its patterns take time to make."""
        from aespec.syntax import slips

        return slips

    def span(self, start: int, end: int) -> Span:
        """A span within the file; the line end that was added to the text is not in it."""
        size = len(self.source.text)
        return Span(self.source, min(start, size), min(end, size))

    def emit(self, kind: str, start: int, end: int, leaf: String | Number | None = None) -> None:
        """Add a token."""
        self.words.tokens.append(Token(kind, self.span(start, end), leaf))

    def report(
        self,
        slug: str,
        headline: str,
        start: int,
        end: int,
        *,
        why: str = "",
        help: str = "",
        fix: tuple[str, str] | None = None,
    ) -> None:
        """Add an error at a place; `fix` is its title and the text that should stand there."""
        span = self.span(start, end)
        repair = Fix(fix[0], (TextEdit(span, fix[1]),)) if fix else None
        self.words.diagnostics.append(
            Diagnostic(slug, Severity.ERROR, headline, span, why=why, help=help, fix=repair)
        )

    def read_string(self, start: int, text: str) -> None:
        """A quoted text; three quotes in a row are another language's."""
        if text == '""' and self.text.startswith('"', self.position):
            self.slips.report_triple_quotes(self, start)
            return
        span = self.span(start, self.position)
        self.words.tokens.append(Token("STRING", span, String(unescape(text[1:-1]), span=span)))

    def read_raw(self, start: int, text: str) -> None:
        """A raw text."""
        if text == "''" and self.text.startswith("'", self.position):
            self.slips.report_triple_quotes(self, start)
            return
        span = self.span(start, self.position)
        self.words.tokens.append(Token("RAW", span, String(text[1:-1], is_raw=True, span=span)))

    def read_number(self, start: int, text: str) -> None:
        """A number with its unit, kept exact."""
        glued = _GLUED.match(self.text, self.position)
        if glued and not text.endswith("%"):
            self.slips.report_malformed_number(self, start, glued.end())
            return
        parts = _NUMBER.match(text)
        assert parts is not None, "a NUMBER token begins with a number"
        span = self.span(start, self.position)
        exponent = parts[4] or "0"
        if len(text) > DIGITS_MAX or len(exponent) > 5 or abs(int(exponent)) > EXPONENT_MAX:
            self.report(
                "oversized-number",
                "this number has too many digits or too large an exponent",
                start,
                self.position,
                why=f"Numbers are kept exact, with at most {DIGITS_MAX} characters and exponents to "
                f"{EXPONENT_MAX} either way.",
                help='Write a shorter number, or the digits as a "text" if they are an identifier.',
            )
            self.emit("NUMBER", start, self.position, Number(Decimal(0), span=span))
            return
        if len(parts[2]) > 1 and parts[2][0] == "0":
            self.slips.report_leading_zero(self, start, text)
        number = Number(Decimal(parts[0]), text[parts.end() :], span=span)
        self.words.tokens.append(Token("NUMBER", span, number))

    def read_heredoc(self, start: int, text: str) -> None:
        """A literal text, which may have swallowed what follows it if its end was forgotten."""
        if "<<<" in text[4:]:
            resume = self.slips.forgotten_end(self, start, self.position)
            if resume is not None:
                self.slips.report_forgotten_end(self, start, resume)
                return
        heredoc, diagnostics = read_heredoc(self.source, start, text)
        self.words.diagnostics.extend(diagnostics)
        self.words.tokens.append(Token("HEREDOC", heredoc.span, heredoc))


_LITERALS = {
    "STRING": Lexer.read_string,
    "RAW": Lexer.read_raw,
    "NUMBER": Lexer.read_number,
    "HEREDOC": Lexer.read_heredoc,
}
