"""Collects what a spec gets wrong while the resolver goes on."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from aespec.diagnostics.diagnostic import Diagnostic, Fix, Label, Severity, TextEdit
from aespec.diagnostics.suggest import suggest as nearest_name
from aespec.model.places import first_line
from aespec.source import Span

MOST = 200
"""After this many nobody reads on; the rest would only cost time on a damaged file."""

_CALLED_ELSEWHERE = {
    "cwd": "workdir",
    "image": "base",
    "packages": "apt",
    "user": "agent",
    "working_dir": "workdir",
    "working_directory": "workdir",
}
"""Names that other tools have for what is called otherwise here, and are not alike in letters."""


class Findings:
    """An ordered list without repeats: a fragment that is used twice tells its fault once."""

    def __init__(self) -> None:
        """Start empty."""
        self._items: list[Diagnostic] = []
        self._seen: set[tuple[str, str, int, str]] = set()
        self.left_out = 0

    def error(
        self,
        slug: str,
        headline: str,
        span: Span,
        *,
        why: str = "",
        help: str = "",
        related: tuple[Label, ...] = (),
        fix: Fix | None = None,
    ) -> None:
        """Note an error."""
        self.add(Diagnostic(slug, Severity.ERROR, headline, first_line(span), why, help, related, fix))

    def add(self, item: Diagnostic) -> None:
        """Note a diagnostic unless the same was noted before."""
        place = (item.span.source.name, item.span.start) if item.span else ("", -1)
        key = (item.slug, *place, item.headline)
        if key in self._seen:
            return
        if len(self._items) >= MOST:
            self.left_out += 1
            return
        self._seen.add(key)
        self._items.append(item)

    def extend(self, items: Iterable[Diagnostic]) -> None:
        """Note several."""
        for item in items:
            self.add(item)

    def __len__(self) -> int:
        """How many were noted, those left out too."""
        return len(self._items) + self.left_out

    @property
    def has_errors(self) -> bool:
        """Whether the spec can't be used."""
        return any(item.is_error for item in self._items)

    def sorted(self) -> tuple[Diagnostic, ...]:
        """All of it in the order of the text."""
        found = sorted(self._items, key=_place)
        if self.left_out:
            last = found[-1]
            text = f"{self.left_out} more not shown"
            found.append(
                Diagnostic("too-many-errors", Severity.ERROR, text, last.span, help="Mend the others first.")
            )
        return tuple(found)

    def unknown(
        self, slug: str, what: str, name: str, span: Span, known: Collection[str], *, why: str = ""
    ) -> None:
        """Note a name that isn't known, with the nearest known one as a suggestion."""
        nearest = suggest(name, known) if len(self._items) < MOST else None
        if nearest is None and _CALLED_ELSEWHERE.get(name) in known:
            nearest = _CALLED_ELSEWHERE[name]
        fix = None
        if nearest is not None and span.text == name:
            fix = Fix(f"write `{nearest}`", (TextEdit(span, nearest),), is_safe=False)
        self.error(
            slug,
            f"`{shorten(name)}` is not {what}",
            span,
            why=why,
            help=_way_out(nearest, known),
            fix=fix,
        )


def _way_out(nearest: str | None, known: Collection[str]) -> str:
    if nearest is not None:
        return f"Write `{nearest}`."
    return f"Use one of {listed(sorted(known))}." if known else "Remove it, or declare it first."


def _place(item: Diagnostic) -> tuple[str, int]:
    return (item.span.source.name, item.span.start) if item.span else ("", -1)


def suggest(name: str, known: Collection[str]) -> str | None:
    """The nearest of the known names, if one is near; nobody mistypes a name of 60 characters."""
    return nearest_name(name, known) if len(name) <= 60 else None


def listed(names: Iterable[str], most: int = 12) -> str:
    """`a`, `b` and `c`, cut after `most`."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > most:
        return ", ".join(quoted[:most]) + f" and {len(quoted) - most} more"
    return " and ".join((", ".join(quoted[:-1]), quoted[-1])) if len(quoted) > 1 else "".join(quoted)


def shorten(text: str, most: int = 60) -> str:
    """A text for a headline: one line, cut in the middle of nowhere if it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"
