"""`aespec fmt`: a text in canonical form, with its comments and single blank lines."""

from __future__ import annotations

from aespec.diagnostics.diagnostic import Diagnostic
from aespec.source import Source
from aespec.syntax.parser import parse
from aespec.syntax.printer import Printer
from aespec.syntax.trivia import read_trivia


def format_source(source: Source) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """The canonical text, or None and what is wrong where the text can't be read.

    What it means never changes, comments stay, the text of a heredoc stays; formatting twice changes nothing
    more. A comment within a statement's header moves above the statement.
    """
    tree, diagnostics = parse(source)
    if any(diagnostic.is_error for diagnostic in diagnostics):
        return None, diagnostics
    text = Printer(read_trivia(tree)).file(tree)
    again, errors = parse(Source(source.name, text, source.path))
    if errors or again != tree or len(again.comments) != len(tree.comments):
        raise RuntimeError(f"formatting would have changed {source.name}; this is a bug in aespec")
    return text, diagnostics
