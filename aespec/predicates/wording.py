"""What the sentences of several predicates share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from aespec.runtime.state import Trouble

T = TypeVar("T")


def listed(value: Any) -> list[str]:
    """An argument that takes one text or a list of them, as a list; empty where it was left out."""
    return [value] if isinstance(value, str) else [str(item) for item in value or []]


def tolerance_promises(args: Mapping[str, Any]) -> list[str]:
    """The sentences about how far numbers may be off."""
    found = []
    if args.get("tolerance"):
        found.append(f"A number may be off by {args['tolerance']}.")
    if args.get("relative"):
        found.append(f"A number may be off by {args['relative'] * 100:g} % of its value.")
    return found


def told(question: Callable[[dict[str, Any]], T], args: Mapping[str, Any]) -> T | None:
    """What a question to the arguments gives, or None where they make no sense: `faults` says so then."""
    try:
        return question(dict(args))
    except Trouble:
        return None
