"""What aespec says about a spec without running it: one type, three forms, suggestions and explanations."""

from aespec.diagnostics.diagnostic import Diagnostic, Fix, Label, Severity, TextEdit
from aespec.diagnostics.escape import escape_controls
from aespec.diagnostics.explanations import (
    Explanation,
    join_explanations,
    read_explanation,
    read_explanations,
    render_explanation,
)
from aespec.diagnostics.fixes import apply_fixes
from aespec.diagnostics.order import in_order
from aespec.diagnostics.records import record, render_jsonl, render_sarif
from aespec.diagnostics.suggest import suggest
from aespec.diagnostics.text import render_text

__all__ = [
    "Diagnostic",
    "Explanation",
    "Fix",
    "Label",
    "Severity",
    "TextEdit",
    "apply_fixes",
    "escape_controls",
    "in_order",
    "join_explanations",
    "read_explanation",
    "read_explanations",
    "record",
    "render_explanation",
    "render_jsonl",
    "render_sarif",
    "render_text",
    "suggest",
]
