"""What `aespec explain` says about each report on the text of a spec, read when it is first asked for."""

from pathlib import Path

from aespec.diagnostics.explanations import read_explanations

_PAGES = Path(__file__).with_name("explanations.md")

EXPLANATIONS = read_explanations(_PAGES.read_text(encoding="utf-8"))
"""One for every slug that this package reports, in the order of reading: file, words, texts, statements."""
