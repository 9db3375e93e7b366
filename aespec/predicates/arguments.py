"""Whether arguments are of the kinds that a signature names: what is evaluated may turn out as anything."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from aespec.runtime.signature import Param, Signature


def misfits(signature: Signature, args: Mapping[str, Any]) -> tuple[str, ...]:
    """What is of another kind than its parameter, as sentences. Laws and `holds` take only what fits."""
    return tuple(text for _, text in named_misfits(signature, args))


def named_misfits(signature: Signature, args: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The same with the name of the argument before each sentence, so that it can be pointed at."""
    for name, value in args.items():
        parameter = signature.param(name)
        if parameter is None:
            yield name, f"there is no argument {name}"
        elif not _fits(parameter, value):
            yield name, f"{name} is {WANTED[parameter.kind]}, not {_shown(value)}"


WANTED = {
    "path": "an absolute, normal path",
    "paths": "an absolute, normal path or a list of such",
    "text": "a text",
    "texts": "a text or a list of at least one",
    "regex": "a pattern of Python's re",
    "bool": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "duration": "a number of seconds above 0",
    "size": "a number of bytes",
    "enum": "one of its choices",
    "value": "a JSON value",
    "map": "a map",
    "hidden-file": "the name of a hidden file",
}
"""What an argument of each kind is, in words."""


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, str):
        return f"the text {value[:60]!r}"
    return f"{'a list' if isinstance(value, list) else 'a map'} of {len(value)}"


def _fits(parameter: Param, value: Any) -> bool:
    return (parameter.kind == "enum" and value in parameter.choices) or _CHECKS[parameter.kind](value)


def _is_path(value: Any) -> bool:
    if not isinstance(value, str) or not value.startswith("/"):
        return False
    path = value.partition("#")[0]
    parts = path.rstrip("/").split("/")[1:]
    return path == "/" or not any(part in ("", ".", "..") or not part.isprintable() for part in parts)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_pattern(value: Any) -> bool:
    try:
        re.compile(value)
    except (re.error, TypeError, RecursionError, OverflowError):
        return False
    return isinstance(value, str)


def _several(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: check(value) or (isinstance(value, list) and bool(value) and all(map(check, value)))


_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "path": _is_path,
    "paths": _several(_is_path),
    "text": _is_text,
    "texts": _several(_is_text),
    "regex": _is_pattern,
    "bool": lambda value: isinstance(value, bool),
    "integer": _is_integer,
    "number": _is_number,
    "duration": lambda value: _is_number(value) and value > 0,
    "size": lambda value: _is_integer(value) and value >= 0,
    "enum": lambda value: False,
    "value": lambda value: True,
    "map": lambda value: isinstance(value, dict),
    "hidden-file": _is_text,
}
