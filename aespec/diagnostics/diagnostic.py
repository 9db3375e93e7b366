"""The one type for everything aespec says about a spec without running it."""

from __future__ import annotations

from enum import Enum

from aespec.records import dataclass
from aespec.source import Span


class Severity(Enum):
    """An error gates, a warning asks for a decision, advice may be passed over."""

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"


@dataclass(frozen=True, slots=True)
class Label:
    """A further place that explains the diagnostic, with a few words."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replace what stands at `span` by `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair: `is_safe` means that it never changes what a right spec means."""

    title: str
    edits: tuple[TextEdit, ...]
    is_safe: bool = True


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What is wrong, where, why, and what to do about it (`help`: an action on the spec).

    `slug` is the only identifier; it must read after the word "allow". `span` is None only for
    what has no place in a text (an unreadable file).
    """

    slug: str
    severity: Severity
    headline: str
    span: Span | None
    why: str = ""
    help: str = ""
    related: tuple[Label, ...] = ()
    fix: Fix | None = None

    @property
    def is_error(self) -> bool:
        """Whether it gates."""
        return self.severity is Severity.ERROR
