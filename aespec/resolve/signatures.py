"""The signatures of predicates, as the registry has them."""

from __future__ import annotations

from aespec import predicates
from aespec.runtime.signature import Signature


def find_signature(name: str) -> Signature | None:
    """The signature of a predicate, or None where there is none of that name."""
    found = predicates.find(name)
    return None if found is None else found.signature


def signature_names() -> tuple[str, ...]:
    """The names of all predicates."""
    return predicates.names()
