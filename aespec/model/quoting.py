"""How a value is written into a text: typed by the text's tag, so that it can't break out of its place."""

from __future__ import annotations

import json
import shlex
from decimal import Decimal

from aespec.model.expressions import Json


def write_value(value: Json, tag: str) -> str:
    """The text that stands for `value` in a text with that tag.

    `sh` gets one quoted word, `python` a literal, `json` JSON, `sql` a quoted literal, everything else the
    plain text: strings as they are, whole numbers without a point, lists and maps as JSON.
    """
    if tag == "python":
        return repr(value)
    if tag == "json":
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    if tag == "sql":
        return _quote_sql(value)
    plain = write_plain(value)
    return shlex.quote(plain) if tag == "sh" else plain


def write_plain(value: Json) -> str:
    """The value as people write it: `true`, `3`, `0.25`, text as it is, lists and maps as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, float):
        # Never an exponent: the reader of a text is told 0.0000001, not 1e-07.
        return format(Decimal(repr(value)), "f")
    if value is None or isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return repr(value)


def _quote_sql(value: Json) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int | float):
        return repr(value)
    return "'" + write_plain(value).replace("'", "''") + "'"
