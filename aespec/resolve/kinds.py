"""Converters of attribute and argument values: numbers, names and plain texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from aespec.diagnostics.diagnostic import Fix, TextEdit
from aespec.model.expressions import Duration, Size
from aespec.model.packages import DEBIAN_PACKAGE, PYTHON_PACKAGE
from aespec.resolve.context import Context, is_reference
from aespec.resolve.expressions import (
    resolve_number,
    unit_help,
)
from aespec.resolve.findings import listed, shorten
from aespec.resolve.schema import Field
from aespec.resolve.scope import Scope, dereference
from aespec.resolve.texts import resolve_text
from aespec.runtime.wording import with_article
from aespec.source import Span
from aespec.syntax.nodes import Heredoc, ListValue, MapValue, Name, Number, String, Value


class Bad:
    """The type of BAD."""


BAD: Final = Bad()
"""What a converter returns after it has noted an error."""

IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]*")
TASK_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
ID = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
ACCOUNT = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./+-]*")
IMAGE = re.compile(r"[a-z0-9][a-z0-9._/:-]*(?:[A-Za-z0-9._-]*)(?:@sha256:[0-9a-f]{64})?")
HOST = re.compile(r"(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)*(?::[0-9]{1,5})?")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?")

Converter = Callable[[Context, Value, Field, Scope], object]


def named(field: Field) -> str:
    """A field for a headline: an attribute in quotes, `name of task` as it is."""
    return f"the {field.name}" if " " in field.name else f"`{field.name}`"


def wrong(
    context: Context, field: Field, wanted: str, found: str, span: Span, *, help: str = "", instead: str = ""
) -> Bad:
    """Note that a value is of another type."""
    context.findings.error(
        "wrong-type",
        f"{named(field)} is {wanted}, not {found}",
        span,
        why=field.doc,
        help=f"Write `{instead}`." if instead else help or f"Write {wanted}.",
        fix=Fix(f"write `{instead}`", (TextEdit(span, instead),)) if instead else None,
    )
    return BAD


def shown(value: Value) -> str:
    """What was written, for a headline: `a list`, `the name easy`."""
    if isinstance(value, Name):
        return f"the name `{shorten(value.text)}`"
    kinds = {String: "a text", Heredoc: "a text", Number: "a number", ListValue: "a list", MapValue: "a map"}
    return kinds.get(type(value), "a call")


def convert_string(context: Context, value: Value, field: Field, scope: Scope) -> object:
    """A quoted text without values in it."""
    if not isinstance(value, String):
        return wrong(context, field, "a quoted text", shown(value), value.span)
    text = resolve_text(context, value, scope)
    if any(not isinstance(part, str) for part in text.parts):
        return _not_constant(context, field, value.span)
    return "".join(part for part in text.parts if isinstance(part, str))


def _not_constant(context: Context, field: Field, span: Span) -> Bad:
    context.findings.error(
        "not-constant",
        f"`{field.name}` can't depend on a value",
        span,
        why="It is needed before an instance is drawn.",
        help="Write it out; what differs between instances belongs into files and texts.",
    )
    return BAD


def matching(
    context: Context, text: str, pattern: re.Pattern[str], what: str, field: Field, span: Span
) -> str | Bad:
    """The text if it has the form; else an error `invalid-name`."""
    if pattern.fullmatch(text):
        return text
    context.findings.error(
        "invalid-name",
        f"`{shorten(text)}` is not well formed as {named(field)}",
        span,
        why=f"What fits: {what}.",
        help=f"Write {what}.",
    )
    return BAD


def convert_bare(context: Context, value: Value, field: Field, scope: Scope) -> object:
    """A bare name, or a quoted text without values in it."""
    if isinstance(value, Name) and not is_reference(value):
        return value.text
    return convert_string(context, value, field, scope)


def _word(context: Context, value: Value, field: Field, scope: Scope) -> object:
    text = convert_bare(context, value, field, scope)
    if not isinstance(text, str):
        return BAD
    return matching(context, text, WORD, "letters, digits and `.`, `_`, `/`, `-`", field, value.span)


def convert_listing(
    context: Context, value: Value, field: Field, scope: Scope, item: Converter, wanted: str, *, single: bool
) -> object:
    """A list, each item by its own converter; `single` takes one item for a list of one."""
    if not isinstance(value, ListValue):
        if single and not isinstance(value, MapValue):
            one = item(context, value, field, scope)
            return BAD if one is BAD else (one,)
        return wrong(context, field, wanted, shown(value), value.span)
    found = []
    for entry in value.items:
        inner, inner_scope = dereference(entry, scope)
        found.append(item(context, inner, field, inner_scope))
    return BAD if BAD in found else tuple(found)


def convert_strings(context: Context, value: Value, field: Field, scope: Scope) -> object:
    """A list of quoted texts."""
    return convert_listing(
        context, value, field, scope, convert_string, "a list of quoted texts", single=False
    )


def _words(context: Context, value: Value, field: Field, scope: Scope) -> object:
    return convert_listing(context, value, field, scope, _word, "a list of words", single=False)


def _one_name(context: Context, value: Value, field: Field, scope: Scope) -> object:
    if not isinstance(value, Name):
        return wrong(context, field, "a name or a list of names", shown(value), value.span)
    return value


def _names(context: Context, value: Value, field: Field, scope: Scope) -> object:
    return convert_listing(context, value, field, scope, _one_name, "a name or a list of names", single=True)


def _packages(form: re.Pattern[str], what: str) -> Converter:
    def convert_package(context: Context, value: Value, field: Field, scope: Scope) -> object:
        text = convert_string(context, value, field, scope)
        return matching(context, text, form, what, field, value.span) if isinstance(text, str) else BAD

    def convert_packages(context: Context, value: Value, field: Field, scope: Scope) -> object:
        wanted = "a list of packages"
        return convert_listing(context, value, field, scope, convert_package, wanted, single=False)

    return convert_packages


def _image(context: Context, value: Value, field: Field, scope: Scope) -> object:
    text = convert_string(context, value, field, scope)
    if not isinstance(text, str):
        return BAD
    return matching(
        context, text, IMAGE, "an image's public name, `name:tag` or `name@sha256:…`", field, value.span
    )


def _enum(context: Context, value: Value, field: Field, scope: Scope) -> object:
    if isinstance(value, String) and value.value in field.choices:
        return wrong(context, field, "a bare name", "a quoted text", value.span, instead=value.value)
    if not isinstance(value, Name):
        return wrong(context, field, f"one of {listed(field.choices)}", shown(value), value.span)
    if value.text not in field.choices:
        what = with_article(f"`{field.name}`")
        context.findings.unknown("unknown-choice", what, value.text, value.span, field.choices)
        return BAD
    return value.text


def _bool(context: Context, value: Value, field: Field, scope: Scope) -> object:
    if isinstance(value, Name) and value.text in {"true", "false"}:
        return value.text == "true"
    return wrong(context, field, "`true` or `false`", shown(value), value.span)


def bounded(context: Context, number: float, field: Field, span: Span, show: Callable[[float], str]) -> bool:
    """Whether a number is within its field's bounds; notes an error where it isn't."""
    low, high = field.low, field.high
    if (low is None or number >= low) and (high is None or number <= high):
        return True
    bounds = f"from {show(low)}" if low is not None else ""
    bounds += f" to {show(high)}" if high is not None else (" upwards" if low is not None else "")
    context.findings.error(
        "out-of-range",
        f"`{field.name}` goes {bounds}",
        span,
        why=field.doc,
        help="Write a number in the range.",
    )
    return False


def _plain(number: float) -> str:
    return f"{number:g}"


def _number(context: Context, value: Value, field: Field, scope: Scope) -> object:
    if not isinstance(value, Number):
        if isinstance(value, Name) and is_reference(value):
            return _not_constant(context, field, value.span)
        return wrong(context, field, "a number", shown(value), value.span)
    const = resolve_number(context, value)
    if const is None:
        return BAD
    if isinstance(const.value, bool) or not isinstance(const.value, int | float):
        return _unit(context, field, "a number without a unit", value)
    return float(const.value) if bounded(context, const.value, field, value.span, _plain) else BAD


def convert_integer(context: Context, value: Value, field: Field, scope: Scope) -> object:
    """A whole number in the bounds of its field."""
    number = _number(context, value, field, scope)
    if number is BAD:
        return BAD
    if not isinstance(value, Number) or not value.is_integer or value.unit:
        return wrong(context, field, "a whole number", "a fraction", value.span)
    return int(value.number)


def _unit(context: Context, field: Field, wanted: str, value: Number) -> Bad:
    context.findings.error(
        "wrong-unit",
        f"`{field.name}` is {wanted}, not `{shorten(value.span.text)}`",
        value.span,
        why=field.doc,
        help=f"Write {wanted}.",
    )
    return BAD


def _measure(context: Context, value: Value, field: Field, scope: Scope) -> object:
    """A duration (seconds) or a size (bytes); the unit must stand there."""
    example = "`30s` or `10m`" if field.kind == "duration" else "`512MiB` or `2GiB`"
    wanted = f"a {'time span' if field.kind == 'duration' else 'size'} with its unit, such as {example}"
    if not isinstance(value, Number):
        if isinstance(value, Name) and is_reference(value):
            return _not_constant(context, field, value.span)
        return wrong(context, field, wanted, shown(value), value.span)
    const = resolve_number(context, value)
    if const is None:
        return BAD
    if field.kind == "duration" and isinstance(const.value, Duration):
        seconds = const.value.seconds
        return seconds if bounded(context, seconds, field, value.span, lambda n: f"{n:g}s") else BAD
    if field.kind == "size" and isinstance(const.value, Size):
        size = const.value.bytes
        return size if bounded(context, size, field, value.span, _show_size) else BAD
    context.findings.error(
        "wrong-unit",
        f"`{field.name}` is {wanted}, not `{shorten(value.span.text)}`",
        value.span,
        why=f"{field.doc} The units are {unit_help(field.kind)}.",
        help=f"Write it with a unit, such as {example}.",
    )
    return BAD


def _show_size(number: float) -> str:
    return f"{number / 1024**3:g}GiB" if number >= 1024**3 else f"{number / 1024**2:g}MiB"


SCALARS: dict[str, Converter] = {
    "asset": convert_string,
    "bool": _bool,
    "duration": _measure,
    "enum": _enum,
    "image": _image,
    "integer": convert_integer,
    "names": _names,
    "number": _number,
    "debian-packages": _packages(
        DEBIAN_PACKAGE, "a Debian package's name in lower case, perhaps with `=` and a version"
    ),
    "python-packages": _packages(PYTHON_PACKAGE, "a Python package's name, perhaps with `==` and a version"),
    "size": _measure,
    "string": convert_string,
    "strings": convert_strings,
    "word": _word,
    "words": _words,
}
"""These converters by their kinds."""
