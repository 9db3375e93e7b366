"""What the texts of a certificate and of an audit share: reading a JSON form that may hold anything."""

from __future__ import annotations

from collections.abc import Mapping

from aespec.diagnostics.escape import escape_controls
from aespec.model.expressions import Json

WIDTH = 110
"""Columns of a report, unless another width is asked for."""


def objects(value: Json | None) -> list[Mapping[str, Json]]:
    """The objects of an array; none where it is no array."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def mapping(value: Json | None) -> Mapping[str, Json]:
    """An object; an empty one where it is none."""
    return value if isinstance(value, dict) else {}


def safe(value: Json | None) -> str:
    """A value in one line, its control characters shown and not obeyed."""
    return escape_controls(str(value)).replace("\n", "\\n")


def tell_cost(cost: Mapping[str, Json]) -> str:
    """Seconds and how many runs of each kind, in one line."""
    runs = ", ".join(f"{count} {safe(rung)}" for rung, count in mapping(cost.get("executions")).items())
    return f"cost: {cost.get('cpu_s')} s CPU, {cost.get('wall_s')} s, runs: {runs or 'none'}"
