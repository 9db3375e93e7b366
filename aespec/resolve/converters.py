"""Every kind of the block table with its converter, except those of labels that only `reading.py` knows."""

from __future__ import annotations

from aespec.resolve.context import Context
from aespec.resolve.kinds import SCALARS
from aespec.resolve.place_kinds import PLACES
from aespec.resolve.schema import Field
from aespec.resolve.scope import Scope, dereference
from aespec.syntax.nodes import Value

CONVERTERS = {**SCALARS, **PLACES}
"""Converters by kind."""


def convert(context: Context, value: Value, field: Field, scope: Scope) -> object:
    """The value in the model's own terms, or BAD with an error noted."""
    value, scope = dereference(value, scope)
    return CONVERTERS[field.kind](context, value, field, scope)
