"""Values written into texts, typed by the place that they stand in."""

from __future__ import annotations

from collections.abc import Mapping

from aespec.model.expressions import (
    CheckSlot,
    Const,
    Duration,
    Expr,
    Json,
    ListExpr,
    MapExpr,
    Ref,
    Size,
    Symbol,
    Text,
    Values,
)
from aespec.model.quoting import write_value


class MissingValueError(LookupError):
    """A reference leads to nothing: no value of that name, or a path into it that isn't there."""

    def __init__(self, ref: Ref, message: str) -> None:
        """`ref` is where it happened; the message has no file names of the machine."""
        super().__init__(message)
        self.ref = ref


def look_up(ref: Ref, values: Values) -> Json:
    """The value that a reference leads to; list items by their index. Raises `MissingValueError`."""
    name = f"{ref.kind.value}.{ref.name}"
    if (ref.kind, ref.name) not in values:
        raise MissingValueError(ref, f"{name} has no value")
    value = values[(ref.kind, ref.name)]
    for key in ref.path:
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            raise MissingValueError(ref, f"{name} has nothing at {key!r}")
        name += f".{key}"
    return value


def render(text: Text, values: Values, slots: Mapping[str, str] | None = None) -> str:
    """The text with its references written in by the quoting of its tag.

    `slots` gives what stands for `{{ check.NAME }}` by name and for `{{ checks }}` under "". Raises
    `MissingValueError`, and KeyError for a slot that isn't given.
    """
    parts = []
    for part in text.parts:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, CheckSlot):
            parts.append((slots or {})[part.check])
        else:
            parts.append(write_value(look_up(part, values), text.tag))
    return "".join(parts)


def value_of(expr: Expr, values: Values) -> Json:
    """An expression as JSON: durations in seconds, sizes in bytes, names as text, texts rendered.

    Raises `MissingValueError`, and TypeError for a call, whose meaning only its reader knows.
    """
    if isinstance(expr, Const):
        value = expr.value
        if isinstance(value, Duration):
            return value.seconds
        return value.bytes if isinstance(value, Size) else value
    if isinstance(expr, Symbol):
        return expr.name
    if isinstance(expr, Ref):
        return look_up(expr, values)
    if isinstance(expr, Text):
        return render(expr, values)
    if isinstance(expr, ListExpr):
        return [value_of(item, values) for item in expr.items]
    if isinstance(expr, MapExpr):
        return {key: value_of(item, values) for key, item in expr.entries}
    raise TypeError(f"the call {expr.name}(…) is not a value")
