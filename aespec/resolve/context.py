"""What the resolver carries along: the findings, the names that are declared, and how much was read."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from aespec.model.expressions import Kind, Ref
from aespec.records import dataclass
from aespec.resolve.findings import Findings, shorten
from aespec.resolve.scope import Scope
from aespec.source import Source, Span
from aespec.syntax.nodes import Name

KINDS = {kind.value: kind for kind in Kind}
"""Prefixes of value names."""

MOST_DEPTH = 48
"""Nesting of values and conditions; nobody reads deeper, and Python's own stack must hold."""


@dataclass(slots=True)
class Declared:
    """A declared value: where, and what type it surely has (`integer`, `number`, `text`, `bool`, `list`)."""

    span: Span
    type: str | None = None
    uses: tuple[Ref, ...] = ()
    is_used: bool = False


@dataclass(slots=True)
class Context:
    """The state of one resolution: what was found, what is declared, and how much was expanded and read."""

    source: Source
    findings: Findings = field(default_factory=Findings)
    values: dict[tuple[Kind, str], Declared] = field(default_factory=dict)
    checks: dict[str, Span] = field(default_factory=dict)
    files_used: int = 0
    asset_bytes: int = 0
    statements: int = 0
    expanded: int = 0
    is_too_long: bool = False

    def folder_of(self, span: Span) -> Path | None:
        """The folder of the file that a statement stands in: of the spec, or of a file that it uses."""
        return span.source.path.parent if span.source.path is not None else None

    def names(self, kind: Kind) -> list[str]:
        """The declared names of a kind."""
        return [name for declared, name in self.values if declared is kind]

    def reference(
        self, parts: tuple[str, ...], span: Span, scope: Scope, *, in_text: bool = False
    ) -> Ref | None:
        """The value that a dotted name leads to; None, with an error noted, where there is none."""
        kind, name = KINDS[parts[0]], parts[1] if len(parts) > 1 else ""
        if scope.fragment:
            self.findings.error(
                "fragment-sees-arguments",
                f"fragment `{scope.fragment}` names `{shorten('.'.join(parts))}` of the task that uses it",
                span,
                why="A fragment sees its arguments and nothing else, so that it means the same everywhere.",
                help=f"Add an argument to `{scope.fragment}`, and pass it where the fragment is used.",
            )
            return None
        if not name:
            self.findings.error(
                "unknown-value",
                f"`{parts[0]}` alone is not a value",
                span,
                why=f"`{parts[0]}` is the prefix of {_PLURALS[kind]}.",
                help=f"Write `{parts[0]}.NAME`.",
            )
            return None
        declared = self.values.get((kind, name))
        if declared is None:
            self.unknown_value(kind, name, span, in_text=in_text)
            return None
        declared.is_used = True
        return Ref(kind, name, parts[2:], span=span)

    def unknown_value(self, kind: Kind, name: str, span: Span, *, in_text: bool = False) -> None:
        """Note that there is no such value, with the nearest one or the same name under another prefix."""
        elsewhere = [other.value for other, known in self.values if known == name]
        known = {f"{kind.value}.{item}" for item in self.names(kind)}
        known |= {f"{prefix}.{name}" for prefix in elsewhere}
        what = f"declared: the task has no {kind.name.lower()} of that name"
        why = "Braces of another language are kept by `verbatim = true` on the file." if in_text else ""
        self.findings.unknown("unknown-value", what, f"{kind.value}.{name}", span, known, why=why)


_PLURALS = {
    Kind.PARAM: "parameters",
    Kind.LET: "computed values",
    Kind.HIDDEN: "hidden values",
    Kind.ANSWER: "answers",
    Kind.SECRET: "secrets",
}


def is_free(name: Name) -> bool:
    """Whether a name may stand for an argument or an item of `each`: it means nothing else."""
    return len(name.parts) == 1 and name.text not in {*KINDS, "true", "false", "none", "check", "checks"}


def is_reference(name: Name) -> bool:
    """Whether a name has the form of a value's: a known prefix and at least one more part."""
    return len(name.parts) > 1 and name.parts[0] in KINDS
