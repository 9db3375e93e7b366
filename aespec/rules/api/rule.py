"""What describes a rule."""

from __future__ import annotations

from aespec.diagnostics.diagnostic import Diagnostic, Fix, Label, Severity
from aespec.model.places import first_line
from aespec.records import dataclass
from aespec.source import Span


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. Warnings and advice may always be allowed; an error only if `is_allowable`, with a reason.

    Only what can be right in some task is allowable: the tool can't see what follows from what.
    """

    slug: str
    severity: Severity
    is_allowable: bool = False

    @property
    def may_be_allowed(self) -> bool:
        """Whether `allow(slug, because = …)` takes it away."""
        return self.is_allowable or self.severity is not Severity.ERROR

    def found(
        self,
        headline: str,
        span: Span | None,
        *,
        why: str,
        help: str,
        related: tuple[Label, ...] = (),
        fix: Fix | None = None,
    ) -> Diagnostic:
        """A finding of this rule."""
        decision = f' Where it is right all the same, `allow({self.slug}, because = "…")`.'
        way_out = help + (decision if self.is_allowable else "")
        place = first_line(span) if span is not None else None
        return Diagnostic(self.slug, self.severity, headline, place, why, way_out, related, fix)
