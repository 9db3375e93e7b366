"""A place names a value without its kind.

## What
A text holds `{{ host }}`, and `host` is a declared parameter or `let`: `{{ p.host }}` was probably meant.

## Why
Only names with their kind in front are places. All other braces are left alone, so that the solver would read
`{{ host }}` as it stands. Where another template language means it so, say `verbatim = true`.

## Bad
    param host = choice("mint", "sage")
    instruction <<<md
      Restore the files of {{ host }}.
    >>>

## Good
    param host = choice("mint", "sage")
    instruction <<<md
      Restore the files of {{ p.host }}.
    >>>
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Fix, Severity, TextEdit
from aespec.model.expressions import Kind, Text
from aespec.model.task import Computed, Param
from aespec.rules.api import Rule, Subject, all_texts
from aespec.source import Span

RULE = Rule("bare-place", Severity.WARNING)

_PLACE = re.compile(r"\{\{[ \t]*([a-z_][a-z0-9_]*)((?:\.[\w-]+)*)[ \t]*\}\}")
_VERBATIM = re.compile(r"\bverbatim\s*=\s*true\b[^()]*\)\s*\Z")


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Places left alone that are called like a parameter or a `let`."""
    declared = {
        item.name: item.kind.value if isinstance(item, Computed) else Kind.PARAM.value
        for item in subject.task.declarations
        if isinstance(item, Param) or (isinstance(item, Computed) and item.kind is Kind.LET)
    }
    for text in all_texts(subject):
        source = text.span.source.text
        if _VERBATIM.search(source[max(0, text.span.start - 300) : text.span.start]):
            continue
        for match in _PLACE.finditer(source, text.span.start, text.span.end):
            kind = declared.get(match[1])
            if kind is not None and _is_left_alone(text, match[0]):
                span = Span(text.span.source, match.start(1), match.end(2))
                meant = f"{kind}.{match[1]}{match[2]}"
                yield RULE.found(
                    f"`{match[0]}` is left as it is, though there is a value `{kind}.{match[1]}`",
                    span,
                    why="Only names with their kind in front are places.",
                    help=f"Write `{{{{ {meant} }}}}`; for braces of another language, `verbatim = true`.",
                    fix=Fix(f"write `{meant}`", (TextEdit(span, meant),), is_safe=False),
                )


def _is_left_alone(text: Text, place: str) -> bool:
    """An argument of a fragment or of `each` looks the same, and was written in."""
    return any(isinstance(part, str) and place in part for part in text.parts)
