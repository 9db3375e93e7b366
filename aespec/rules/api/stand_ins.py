"""What stands in a claim's arguments for values that aren't known yet, so that its laws can be asked."""

from __future__ import annotations

from aespec.model.expressions import Json
from aespec.runtime.signature import Param

_BY_KIND: dict[str, Json] = {
    "path": "/x",
    "paths": "/x",
    "text": "",
    "texts": [""],
    "regex": "",
    "bool": False,
    "integer": 0,
    "number": 0,
    "duration": 1,
    "size": 0,
    "value": [],
    "map": {},
    "hidden-file": "",
}


def stand_in(parameter: Param) -> Json:
    """A value of the parameter's kind that says as little as it can."""
    return parameter.choices[0] if parameter.kind == "enum" else _BY_KIND[parameter.kind]
