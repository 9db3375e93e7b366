"""The words of a text, and what stands between them."""

from __future__ import annotations

from dataclasses import field

from aespec.diagnostics.diagnostic import Diagnostic
from aespec.records import dataclass
from aespec.source import Span
from aespec.syntax.nodes import Comment, Heredoc, Number, String

END = "$END"
"""The type of the last token, as Lark calls it."""

JUNK = "JUNK"
"""The type of a token that was reported when it was read; no rule of the grammar takes it."""

OPENERS = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
"""The terminals that open a bracket, and what closes each."""

CLOSERS = {closer: opener for opener, closer in OPENERS.items()}
"""The terminals that close a bracket, and what opens each."""


@dataclass(slots=True)
class Token:
    """A word of the text: `type` is its terminal in the grammar, `leaf` its node where it is a literal."""

    type: str
    span: Span
    leaf: String | Number | Heredoc | None = None

    @property
    def text(self) -> str:
        """The word as written."""
        return self.span.text

    @property
    def line(self) -> int:
        """The line on which it begins, counted from 1."""
        return self.span.position[0]

    @property
    def is_first_on_line(self) -> bool:
        """Whether only blanks stand before it."""
        return not self.margin_text.strip(" \t")

    @property
    def margin_text(self) -> str:
        """What stands before it on its line."""
        text = self.span.source.text
        return text[text.rfind("\n", 0, self.span.start) + 1 : self.span.start]

    @property
    def line_indent(self) -> int:
        """How many blanks the line begins with on which it stands."""
        line = self.span.source.line_text(self.line)
        return len(line) - len(line.lstrip(" \t"))


@dataclass(slots=True)
class Words:
    """All tokens, the last of type END, with the comments and the reports made on the way.

    `is_cut` where the rest of the file was swallowed or given up, so that what is open stays open.
    """

    tokens: list[Token] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    is_cut: bool = False
