"""Values as the texts by which they would be recognised where they must not stand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from aespec.fuzz.subject import iterate_leaves
from aespec.model.expressions import Json
from aespec.model.quoting import write_plain

TOKEN_LENGTH = 8
"""From this many characters on, a text is taken to be no coincidence."""


def tokens_of(values: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """The leaves of values as (place, text): `totals/rent`, `1200`. Truth values and empty texts are not."""
    for name, value in values.items():
        for path, leaf in iterate_leaves(value):
            if leaf is None or isinstance(leaf, bool):
                continue
            text = write_plain(leaf)
            if text:
                yield f"{name}{path}", text


def written_forms(value: Json) -> set[str]:
    """How a list or map as a whole may be written down as JSON."""
    if not isinstance(value, list | dict) or not value:
        return set()
    found = set()
    for sort in (False, True):
        for ascii_only in (False, True):
            options = {"sort_keys": sort, "ensure_ascii": ascii_only}
            found.add(json.dumps(value, **options))  # type: ignore[arg-type]
            found.add(json.dumps(value, separators=(",", ":"), **options))  # type: ignore[arg-type]
            found.add(json.dumps(value, indent=2, **options))  # type: ignore[arg-type]
    return {text for text in found if len(text) >= TOKEN_LENGTH}
