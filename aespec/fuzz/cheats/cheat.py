"""A cheat as data: what it is, where it applies, and the script that tries it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aespec.fuzz.cheats.classes import CLASSES

LEVELS = ("task", "mode")
MODES = ("shared", "separate", "both")
AGENTS = ("any", "root")
PARAMETERS = (
    "folder",
    "helper",
    "helper_module",
    "interpreter",
    "literal",
    "module",
    "output",
    "outputs",
    "programs",
    "report",
    "reward",
    "startup",
    "subjects",
    "test_data",
    "tool",
    "workdir",
)
"""Kinds of parameters that are read off the task; the plural ones are all paths at once, one a line."""

_WORDS = "slug title class class_name level rank applies parameters values uses is_live is_harmless script"
_KEYS = frozenset(_WORDS.split())


@dataclass(frozen=True, slots=True)
class Cheat:
    """One attack on a verifier's channel, or one thing beside a right solution that must do no harm.

    `number` and `class_name` are its class of `CLASSES`. `level` is what a win of an agent that is root in a
    shared container says (see the package's docstring); `level_of` has it for all tasks. `runs` names tools
    of which the verifier must run one, "" for any verifier. `parameters` are kinds read off the task,
    `values` the cheat's own; the script is run once for each combination, with each value under its name.
    `uses` are parts that stand before the script. A live one goes on while the verifier runs. A harmless one
    is run over the oracle's state, which must still pass; the others over the start state, and must not win.
    `rank` is 1 for the most promising.
    """

    slug: str
    title: str
    number: int
    class_name: str
    level: str
    script: str = field(repr=False)
    rank: int = 2
    mode: str = "shared"
    agent: str = "any"
    runs: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    uses: tuple[str, ...] = ()
    is_live: bool = False
    is_harmless: bool = False

    def level_of(self, mode: str, *, is_agent_root: bool) -> str:
        """`task` or `mode` for a win in a task of that mode with such an agent."""
        return self.level if mode == "shared" and is_agent_root else "task"


def read_cheat(path: Path) -> Cheat:
    """The cheat of a file; raises ValueError that names the file and what is wrong with it."""
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        return _checked(told, path.stem)
    except (ValueError, TypeError, KeyError) as fault:
        raise ValueError(f"{path.name}: {fault}") from fault


def _checked(told: Mapping[str, Any], stem: str) -> Cheat:
    strange = told.keys() - _KEYS
    if strange:
        raise ValueError(f"unknown keys {sorted(strange)}")
    applies = dict(told.get("applies", {}))
    cheat = Cheat(
        slug=told["slug"],
        title=told["title"],
        number=told["class"],
        class_name=told["class_name"],
        level=told["level"],
        script=told["script"],
        rank=told.get("rank", 2),
        mode=applies.pop("mode", "shared"),
        agent=applies.pop("agent", "any"),
        runs=tuple(applies.pop("runs", ())),
        parameters=tuple(told.get("parameters", ())),
        values={name: tuple(items) for name, items in told.get("values", {}).items()},
        uses=tuple(told.get("uses", ())),
        is_live=told.get("is_live", False),
        is_harmless=told.get("is_harmless", False),
    )
    if applies:
        raise ValueError(f"unknown keys {sorted(applies)} of `applies`")
    if cheat.slug != stem:
        raise ValueError(f"the slug is {cheat.slug!r}")
    if CLASSES.get(cheat.number) != cheat.class_name:
        raise ValueError(f"class {cheat.number} is called {CLASSES.get(cheat.number)!r}")
    for value, allowed in ((cheat.level, LEVELS), (cheat.mode, MODES), (cheat.agent, AGENTS)):
        if value not in allowed:
            raise ValueError(f"{value!r} is none of {', '.join(allowed)}")
    wrong = [name for name in cheat.parameters if name not in PARAMETERS]
    if wrong or set(cheat.parameters) & cheat.values.keys():
        raise ValueError(f"parameters are of {', '.join(PARAMETERS)} and have no values of their own")
    return cheat
