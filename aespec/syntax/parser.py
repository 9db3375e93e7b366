"""Tokens to the tree, by the tables of `grammar/aes.lark`, going on after each mistake.

The parser never raises on a text: the tree holds what could be read, the diagnostics say what could not.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.records import dataclass
from aespec.source import Source, Span
from aespec.syntax.automaton import Automaton, MisfitError
from aespec.syntax.lexer import REPORTS_MAX, Lexer
from aespec.syntax.nodes import Statement, TaskSyntax
from aespec.syntax.tokens import CLOSERS, END, OPENERS, Token, Words

DEPTH_MAX = 64
"""How many brackets may be open at once: far beyond any spec, and well within Python's own recursion."""

FAILURES_MAX = 8 * REPORTS_MAX
"""How often reading goes on after a token that doesn't fit, reported or not: each time has its cost."""

TEXT_MAX = 1 << 20
"""How many characters a spec may have; fixtures of that size are files beside the spec."""


def parse(source: Source) -> tuple[TaskSyntax, tuple[Diagnostic, ...]]:
    """The tree of a text, and all that is wrong with it, in order of place.

    Without an error among the diagnostics the tree is the whole text; else it lacks what could not be read.
    """
    if len(source.text) > TEXT_MAX:
        report = Diagnostic(
            "file-too-large",
            Severity.ERROR,
            f"the spec has more than {TEXT_MAX} characters",
            Span(source, 0, 0),
            why="A spec is read whole and by people; large fixtures don't belong into it.",
            help="Put large content into a file beside the spec (`asset`) or have a program make it "
            "(`generate`).",
        )
        return TaskSyntax((), source=source), (report,)
    words = Lexer(source).read()
    driver = Driver(words)
    statements = driver.run()
    reports = sorted(
        driver.reports, key=lambda d: (d.span.start, d.span.end, d.slug) if d.span else (0, 0, d.slug)
    )
    if sum(report.is_error for report in reports) >= REPORTS_MAX:
        last = reports[REPORTS_MAX - 1].span
        reports = [*reports[:REPORTS_MAX], _too_many(source, last)]
    return TaskSyntax(statements, tuple(words.comments), source=source), tuple(reports)


def _too_many(source: Source, last: Span | None) -> Diagnostic:
    at = last.end if last else 0
    return Diagnostic(
        "too-many-errors",
        Severity.ERROR,
        f"reading stopped after {REPORTS_MAX} errors",
        Span(source, at, at),
        why="What is this far from a spec has no useful further errors.",
        help="Mend the errors above, then run this again.",
    )


@dataclass(frozen=True, slots=True)
class Bracket:
    """An open bracket: its token, and how many states were on the stack before it."""

    token: Token
    depth: int
    is_body: bool


class Driver:
    """Feeds the tokens to the parse tables; `mistakes` says what is wrong where they don't fit."""

    def __init__(self, words: Words) -> None:
        self.automaton = Automaton()
        self.table = self.automaton.table
        self.words = words
        self.tokens = words.tokens
        self.reports = list(words.diagnostics)
        self.fed: list[Token] = []
        self.brackets: list[Bracket] = []
        self.closed_early: list[Token] = []
        self.closed_late: list[Token] = []
        start = self.table[self.automaton.states[0]]
        self.keyword_states = {start["NAME"], start["PATH"]}
        self.labelled_state = start["keyword"]
        self.quiet_lines = {d.span.position[0] for d in words.diagnostics if d.span is not None}
        self.result: tuple[Statement, ...] = ()

    def run(self) -> tuple[Statement, ...]:
        """All statements that could be read."""
        index, furthest, stuck, failures = 0, -1, 0, 0
        while index < len(self.tokens):
            token = self.tokens[index]
            if self.is_after_keyword and token.type in {"NAME", "PATH"} and token.is_first_on_line:
                self.mistakes.misplaced_label(self, token)
            try:
                self.feed(token)
            except MisfitError:
                failures += 1
                if failures > FAILURES_MAX or len(self.reports) >= 2 * REPORTS_MAX:
                    return ()
                # Going on may mean reading a token again: only a failure further on is progress.
                stuck = stuck + 1 if index <= furthest else 0
                furthest = max(furthest, index)
                index = self.skip(furthest + 1) if stuck > 6 else self.mistakes.recover(self, index)
                continue
            index += 1
            if len(self.brackets) > DEPTH_MAX:
                self.report(self.mistakes.deep_nesting(token.span))
                return ()
        return self.result

    @property
    def mistakes(self) -> ModuleType:
        """What goes on after a token that doesn't fit; imported only then, as most texts have none."""
        from aespec.syntax import mistakes

        return mistakes

    def feed(self, token: Token) -> None:
        """Take one token in. Raises MisfitError, and then nothing was taken."""
        if token.type == END:
            self.result = self.automaton.finish()
        else:
            self.automaton.feed(token.type, token)
        if token.type in OPENERS:
            depth = len(self.automaton.states) - 1
            self.brackets.append(Bracket(token, depth, self.is_at_statement))
        elif token.type in CLOSERS:
            bracket = self.brackets.pop()
            if token.type == "RBRACE" and token.is_first_on_line:
                if token.line_indent < bracket.token.line_indent:
                    self.closed_early.append(bracket.token)
                elif token.line_indent > bracket.token.line_indent:
                    self.closed_late.append(token)
        self.fed.append(token)

    @property
    def is_at_statement(self) -> bool:
        """Whether a statement may begin here, with nothing half read."""
        return "statement" in self.table[self.automaton.states[-1]]

    @property
    def is_after_keyword(self) -> bool:
        """Whether the token taken in last is the keyword of a statement."""
        return self.automaton.states[-1] in self.keyword_states

    @property
    def is_after_label(self) -> bool:
        """Whether the token taken in last is the label of a statement."""
        states = self.automaton.states
        is_word = bool(self.fed) and self.fed[-1].type not in OPENERS
        return is_word and len(states) > 1 and states[-2] == self.labelled_state

    @property
    def in_body(self) -> bool:
        """Whether the innermost open bracket is a block's, or none is open."""
        return not self.brackets or self.brackets[-1].is_body

    def previous(self, back: int = 1) -> Token | None:
        """The token taken in last, or before it."""
        return self.fed[-back] if len(self.fed) >= back else None

    def accepted(self) -> frozenset[str]:
        """The terminals that could come next."""
        return self.automaton.accepted()

    def insert(self, kind: str, at: int) -> bool:
        """Take in a token that the text lacks; False where it doesn't fit either."""
        source = self.tokens[-1].span.source
        try:
            self.feed(Token(kind, Span(source, at, at)))
        except MisfitError:
            return False
        return True

    def report(self, diagnostic: Diagnostic, *lines: int) -> None:
        """Add a report, unless its line (or one of `lines`) has one already: that would be its echo."""
        line = diagnostic.span.position[0] if diagnostic.span else 0
        if not self.quiet_lines.intersection({line, *lines}):
            self.reports.append(diagnostic)
        self.quiet_lines.add(line)

    def undo(self) -> None:
        """Give back the token taken in last, which must not have been part of any rule yet."""
        self.automaton.states.pop()
        self.automaton.values.pop()
        self.fed.pop()

    def skip(self, index: int) -> int:
        """Drop the statement that is half read, and the tokens up to where the next may begin."""
        states, values = self.automaton.states, self.automaton.values
        dropped: Any = None
        while not (self.is_at_statement and len(states) <= self._depth() + 2):
            states.pop()
            dropped = values.pop()
            while self.brackets and self.brackets[-1].depth >= len(states):
                self.brackets.pop()
        pending = self._open_since(dropped, index)
        margin = dropped if isinstance(dropped, Token) else self.tokens[min(index, len(self.tokens) - 1)]
        while index < len(self.tokens) - 1:
            token = self.tokens[index]
            if token.type in {"NAME", "PATH"} and token.is_first_on_line:
                if not pending or token.line_indent <= margin.line_indent:
                    return index
            elif token.type in OPENERS:
                pending.append(token.type)
            elif token.type in CLOSERS:
                if CLOSERS[token.type] in pending:
                    while pending.pop() != CLOSERS[token.type]:
                        pass
                elif token.type == "RBRACE" and self.brackets:
                    return index
            index += 1
        return index

    def _depth(self) -> int:
        """How many states lie below the innermost block; on it lie its bracket and its statements."""
        return self.brackets[-1].depth if self.brackets else 0

    def _open_since(self, dropped: Any, index: int) -> list[str]:
        """The brackets that were opened in what was dropped and are not closed before `index`."""
        pending: list[str] = []
        if not isinstance(dropped, Token):
            return pending
        for token in self.tokens[:index]:
            if token.span.start < dropped.span.start:
                continue
            if token.type in OPENERS:
                pending.append(token.type)
            elif token.type in CLOSERS and CLOSERS[token.type] in pending:
                while pending.pop() != CLOSERS[token.type]:
                    pass
        return pending
