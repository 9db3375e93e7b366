"""What `aespec explain` says about each finding of an audit, read when it is first asked for."""

from pathlib import Path

from aespec.diagnostics.explanations import read_explanations

_PAGES = Path(__file__).with_name("explanations.md")

EXPLANATIONS = read_explanations(_PAGES.read_text(encoding="utf-8"))
"""One for every slug that an audit reports, but for those that `aespec.fuzz.explanations` has."""
