"""All that `aespec explain` knows, from every layer that makes diagnostics."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aespec.diagnostics import Explanation


def all_explanations() -> dict[str, Explanation]:
    """Explanations by slug, of syntax, resolving, rules, evaluation and targets."""
    import importlib

    from aespec.diagnostics import join_explanations

    modules = (
        "aespec.syntax.explanations",
        "aespec.resolve.explanations",
        "aespec.rules.explanations",
        "aespec.evaluate.explanations",
        "aespec.bundle.explanations",
        "aespec.targets.explanations",
        "aespec.fuzz.explanations",
        "aespec.fuzz.audit.explanations",
    )
    return join_explanations(*(importlib.import_module(name).EXPLANATIONS for name in modules))
