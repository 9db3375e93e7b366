"""What a spec decided on by `allow(slug, because = …)`, honoured for what only certification can find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from aespec.fuzz.certificate import Finding, Property
from aespec.model.expressions import Json
from aespec.runtime.wording import counted

DECIDED_BY: Mapping[str, tuple[str, ...]] = {
    "answer-in-sight": ("answer-in-sight",),
    "cheating-oracle": ("oracle-knows-answer",),
    "unclean-ending": ("unclean-ending",),
    "untold-literal": ("untold-literal", "unstated-detail"),
    "untold-path": ("unstated-path",),
}
"""Findings of certification that a spec may decide on, and the `allow`s that do: by the finding's own slug,
or by that of the rule that asks the same of the text and may be allowed. All other findings stand."""

PROPERTIES_OF: Mapping[str, tuple[str, ...]] = {
    "answer-in-sight": ("leak-free",),
    "unclean-ending": ("solvable", "complete"),
    "untold-literal": ("stated",),
}
"""Where the findings come up that no rule can see coming: lint can't tell whether their `allow` is idle."""


@dataclass(slots=True)
class Decisions:
    """The reasons by slug, and the findings that they took away."""

    reasons: Mapping[str, str] = field(default_factory=dict)
    taken: list[tuple[str, Finding]] = field(default_factory=list)

    def of(self, slug: str) -> str | None:
        """The slug of the `allow` that decides on findings of a slug, or None."""
        return next((name for name in DECIDED_BY.get(slug, ()) if name in self.reasons), None)

    def take(self, finding: Finding) -> bool:
        """Whether a finding is decided on; it is kept then, to be told with the reason."""
        by = self.of(finding.slug)
        if by is None:
            return False
        if (by, finding) not in self.taken:
            self.taken.append((by, finding))
        return True

    def tell(self, properties: Sequence[Property]) -> tuple[Property, ...]:
        """The properties with what was allowed of each among its evidence, and because of what."""
        return tuple(
            replace(item, evidence=(*item.evidence, *self._lines(item.name)))
            if self._lines(item.name)
            else item
            for item in properties
        )

    def idle(self, properties: Sequence[Property]) -> list[tuple[str, str]]:
        """The `allow`s that had nothing to allow though it was looked for, each with its property."""
        verdicts = {item.name: item for item in properties}
        used = {by for by, _ in self.taken}
        found = []
        for slug, names in PROPERTIES_OF.items():
            measured = [name for name in names if verdicts[name].evidence]
            if slug in self.reasons and slug not in used and measured == list(names):
                found.append((slug, names[0]))
        return found

    def _lines(self, name: str) -> list[str]:
        groups: dict[str, list[str]] = {}
        for by, finding in self.taken:
            if finding.property == name:
                groups.setdefault(by, []).append(finding.message)
        return [
            f"allowed by `{by}`, because {self.reasons[by]}: {messages[0]}"
            + (f", and {counted(len(messages) - 1, 'other')}" if len(messages) > 1 else "")
            for by, messages in groups.items()
        ]


def read_decisions(manifest: Mapping[str, Json]) -> Decisions:
    """The decisions that a bundle's manifest holds; of another bundle, none."""
    told = manifest.get("allowed")
    reasons: dict[str, str] = {}
    for item in told if isinstance(told, list) else []:
        if isinstance(item, dict):
            reasons.setdefault(str(item.get("slug")), str(item.get("because")))
    return Decisions(reasons)
