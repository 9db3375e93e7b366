"""Faults found while a bundle is planned, gathered so that several are reported at once."""

from __future__ import annotations

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.model.expressions import Text, Values
from aespec.model.rendering import MissingValueError, render
from aespec.source import Span


class Faults:
    """Diagnostics in the order found. One fault at one place is reported once."""

    def __init__(self) -> None:
        """Start with none."""
        self._found: dict[tuple[str, str, Span | None], Diagnostic] = {}

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was found."""
        return tuple(self._found.values())

    @property
    def has_errors(self) -> bool:
        """Whether something gates."""
        return any(item.is_error for item in self._found.values())

    def error(self, slug: str, headline: str, span: Span | None, *, why: str = "", help: str = "") -> None:
        """Note an error."""
        self._add(Diagnostic(slug, Severity.ERROR, headline, span, why, help))

    def warning(self, slug: str, headline: str, span: Span | None, *, why: str = "", help: str = "") -> None:
        """Note a warning."""
        self._add(Diagnostic(slug, Severity.WARNING, headline, span, why, help))

    def render(self, text: Text, values: Values) -> str:
        """The text with its values; "" and an error where a value is missing or no text."""
        try:
            return self.encodable(render(text, values), text.span)
        except MissingValueError as missing:
            self.error(
                "value-missing", str(missing), missing.ref.span, help="Give the declaration that value."
            )
            return ""

    def encodable(self, text: str, span: Span | None) -> str:
        """The text, if it is Unicode: half of a surrogate pair comes out of a program's JSON and is none."""
        try:
            text.encode()
        except UnicodeEncodeError:
            self.error(
                "text-not-unicode",
                "a value holds half of a surrogate pair, which is no character",
                span,
                why="Files of a bundle are UTF-8, and UTF-8 can't hold it.",
                help="Emit whole characters from the program that makes the value.",
            )
            return ""
        return text

    def _add(self, item: Diagnostic) -> None:
        self._found.setdefault((item.slug, item.headline, item.span), item)
