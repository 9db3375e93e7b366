"""The properties whose engine isn't built yet: said to be undecided, with what would decide them."""

from __future__ import annotations

from aespec.fuzz.certificate import Property
from aespec.fuzz.study import Study


def measure_guessing(study: Study) -> Property:
    """*guess-resistant* is not measured beyond the blind policies of *nop-fails*."""
    return Property(
        "guess-resistant",
        "inconclusive",
        evidence=("only the blind policies of nop-fails were tried",),
        missing="blind but well-typed answers: uniform, from the fixtures, the commonest over instances",
    )


def measure_cheats(study: Study) -> Property:
    """*unforgeable* is not measured; the mode that the bundle is judged in is known."""
    mode = study.first.bundle.manifest.get("trust", "unknown")
    return Property(
        "unforgeable",
        "inconclusive",
        evidence=(f"trust: {mode}",),
        missing="cheats from the start state and from a sample of mutants",
    )
