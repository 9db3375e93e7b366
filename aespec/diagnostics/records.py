"""Diagnostics for machines: JSON lines, which a proposer reads, and SARIF 2.1.0, which code hosts read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from aespec.diagnostics.diagnostic import Diagnostic, Fix, Severity
from aespec.diagnostics.explanations import Explanation
from aespec.diagnostics.order import in_order
from aespec.source import Span

RECORD_SCHEMA = 1
"""Raised with every change of a record's fields that a reader could stumble over."""

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_SARIF_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "note"}


def render_jsonl(diagnostics: Iterable[Diagnostic]) -> str:
    """One JSON object per line, in the order of the text form; "" for none."""
    return "".join(_dump(record(diagnostic)) + "\n" for diagnostic in in_order(diagnostics))


def _dump(value: Any) -> str:
    # ASCII only: it holds in every locale, and halves of surrogate pairs can't break the encoding.
    return json.dumps(value, ensure_ascii=True)


def record(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic as JSON data: lines and columns count from 1, offsets are characters and count from 0."""
    return {
        "schema": RECORD_SCHEMA,
        "slug": diagnostic.slug,
        "severity": diagnostic.severity.value,
        "headline": diagnostic.headline,
        "place": _place(diagnostic.span) if diagnostic.span is not None else None,
        "why": diagnostic.why,
        "help": diagnostic.help,
        "related": [{"text": label.text, "place": _place(label.span)} for label in diagnostic.related],
        "fix": _fix(diagnostic.fix) if diagnostic.fix is not None else None,
    }


def _place(span: Span) -> dict[str, Any]:
    line, column = span.position
    end_line, end_column = span.source.position(span.end)
    return {
        "file": span.source.name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "offset": span.start,
        "end_offset": span.end,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "title": fix.title,
        "safe": fix.is_safe,
        "edits": [{"place": _place(edit.span), "text": edit.text} for edit in fix.edits],
    }


def render_sarif(
    diagnostics: Iterable[Diagnostic], *, version: str = "", explanations: Iterable[Explanation] = ()
) -> str:
    """A SARIF 2.1.0 log with one run; `explanations` become the rules' descriptions."""
    known = {explanation.slug: explanation for explanation in explanations}
    ordered = in_order(diagnostics)
    slugs = sorted({diagnostic.slug for diagnostic in ordered})
    driver: dict[str, Any] = {
        "name": "aespec",
        "rules": [_sarif_rule(slug, known.get(slug)) for slug in slugs],
    }
    if version:
        driver["version"] = version
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(diagnostic, slugs.index(diagnostic.slug)) for diagnostic in ordered],
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _sarif_rule(slug: str, explanation: Explanation | None) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": slug}
    if explanation is not None:
        rule["shortDescription"] = {"text": explanation.title}
        rule["fullDescription"] = {"text": f"{explanation.what}\n\n{explanation.why}".strip()}
        rule["help"] = {"text": explanation.markdown(), "markdown": explanation.markdown()}
    return rule


def _sarif_result(diagnostic: Diagnostic, rule_index: int) -> dict[str, Any]:
    text = "\n".join(part for part in (diagnostic.headline, diagnostic.why, diagnostic.help) if part)
    result: dict[str, Any] = {
        "ruleId": diagnostic.slug,
        "ruleIndex": rule_index,
        "level": _SARIF_LEVELS[diagnostic.severity],
        "message": {"text": text},
    }
    if diagnostic.span is not None:
        result["locations"] = [{"physicalLocation": _sarif_place(diagnostic.span)}]
    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": i, "message": {"text": label.text}, "physicalLocation": _sarif_place(label.span)}
            for i, label in enumerate(diagnostic.related, 1)
        ]
    if diagnostic.fix is not None:
        result["fixes"] = [_sarif_fix(diagnostic.fix)]
    return result


def _sarif_uri(span: Span) -> str:
    from urllib.parse import quote

    # A URI may not hold halves of surrogate pairs, which a file's name may.
    return quote(span.source.name.encode("utf-8", "surrogateescape").replace(b"\\", b"/"))


def _sarif_place(span: Span) -> dict[str, Any]:
    return {"artifactLocation": {"uri": _sarif_uri(span)}, "region": _sarif_region(span)}


def _sarif_region(span: Span) -> dict[str, int]:
    place = _place(span)
    return {
        "startLine": place["line"],
        "startColumn": place["column"],
        "endLine": place["end_line"],
        "endColumn": place["end_column"],
        "charOffset": span.start,
        "charLength": span.end - span.start,
    }


def _sarif_fix(fix: Fix) -> dict[str, Any]:
    changes: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        replacement = {"deletedRegion": _sarif_region(edit.span), "insertedContent": {"text": edit.text}}
        changes.setdefault(_sarif_uri(edit.span), []).append(replacement)
    return {
        "description": {"text": fix.title},
        "artifactChanges": [
            {"artifactLocation": {"uri": uri}, "replacements": replacements}
            for uri, replacements in changes.items()
        ],
    }
