"""The oracle and the author's examples of an instance, as the bundle's `aespec/examples.json` holds them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aespec.bundle.disk import BundleError
from aespec.bundle.plan import Bundle
from aespec.model.edit import Edit
from aespec.model.edits import edit_from_json


@dataclass(frozen=True, slots=True)
class ScriptText:
    """A rendered script; `interpreter` is `sh` or `python`."""

    interpreter: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class BundleExample:
    """An `accept`, `reject` or `partial` rendered for an instance: a script, or edits after the oracle.

    `oracle_edits` (old, new) change the oracle's own program, which is then run. `breaks` names the checks
    and rules that a reject must fail, `reward` is what a partial must get.
    """

    kind: str
    name: str
    breaks: tuple[str, ...] = ()
    reward: float | None = None
    script: ScriptText | None = None
    edits: tuple[Edit, ...] = ()
    oracle_edits: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Examples:
    """All that an instance's bundle says about right and wrong solutions."""

    oracle: ScriptText
    examples: tuple[BundleExample, ...] = ()

    def of_kind(self, kind: str) -> tuple[BundleExample, ...]:
        """The accepts, rejects or partials, in the order written."""
        return tuple(example for example in self.examples if example.kind == kind)


def read_examples(bundle: Bundle) -> Examples:
    """The examples of a bundle; raises `BundleError` where it has none or they can't be read."""
    path = bundle.path / "aespec" / "examples.json"
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if told["schema"] != 1:
            raise ValueError(f"it has the schema {told['schema']!r}, and this aespec reads 1")
        oracle = _script(told["oracle"])
        if oracle is None:
            raise ValueError("there is no oracle")
        return Examples(oracle, tuple(_example(item) for item in told["examples"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
        raise BundleError(f"aespec/examples.json can't be read: {fault}") from None


def _example(told: Mapping[str, Any]) -> BundleExample:
    return BundleExample(
        kind=str(told["kind"]),
        name=str(told["name"]),
        breaks=tuple(str(name) for name in told.get("breaks") or ()),
        reward=told.get("reward"),
        script=_script(told.get("script")),
        edits=tuple(edit_from_json(item) for item in told.get("edits") or ()),
        oracle_edits=tuple((str(item["old"]), str(item["new"])) for item in told.get("oracle_edits") or ()),
    )


def _script(told: Mapping[str, Any] | None) -> ScriptText | None:
    if told is None:
        return None
    return ScriptText(str(told["interpreter"]), str(told["text"]))
