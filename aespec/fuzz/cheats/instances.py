"""Cheats with their parameters filled in: scripts that are ready to run.

No value is ever spliced into a script. The script is constant text that finds its values in shell variables,
which are assigned in front of it, each quoted as one word.
"""

from __future__ import annotations

import functools
import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from aespec.bundle.quoting import quote_sh
from aespec.fuzz.cheats.cheat import Cheat
from aespec.fuzz.cheats.facts import TaskFacts
from aespec.operators.formats.tables import ending_of
from aespec.trial.probe import Probe

LIMIT = 6
"""Instances of one cheat on one task, unless asked for more."""

_SHOWN_CHARS = 40
_PARTS = Path(__file__).parent / "parts"


@dataclass(frozen=True, slots=True)
class Instance:
    """A cheat on one task: `probe` tries it, `level` says whose fault a win is, `name` is for readers."""

    cheat: Cheat
    name: str
    level: str
    script: str = field(repr=False)
    values: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)

    @property
    def is_live(self) -> bool:
        """Whether what the script starts goes on while the verifier runs."""
        return self.cheat.is_live

    @property
    def is_harmless(self) -> bool:
        """Whether it is run over a right solution, which must still pass."""
        return self.cheat.is_harmless

    def probe(self) -> Probe:
        """The start state (of harmless ones: the oracle's), in which the script is run."""
        base = "oracle" if self.cheat.is_harmless else "start"
        return Probe(self.name, base, script=self.script, is_live=self.cheat.is_live)


def applies(cheat: Cheat, facts: TaskFacts) -> bool:
    """Whether a cheat makes sense on a task."""
    if cheat.mode not in ("both", facts.mode):
        return False
    if cheat.agent == "root" and not facts.is_agent_root:
        return False
    return not cheat.runs or bool(facts.runs.intersection(cheat.runs))


def instances(cheat: Cheat, facts: TaskFacts, *, limit: int = LIMIT) -> Iterator[Instance]:
    """The cheat with its parameters filled in, most promising combinations first, at most `limit`.

    Nothing where it doesn't apply, or where the task has no value for one of its parameters.
    """
    if not applies(cheat, facts):
        return
    names = (*cheat.parameters, *cheat.values)
    choices = [*(_READERS[name](facts) for name in cheat.parameters), *cheat.values.values()]
    level = cheat.level_of(facts.mode, is_agent_root=facts.is_agent_root)
    for count, chosen in enumerate(_diagonally([_usable(items) for items in choices])):
        if count >= limit:
            return
        values = dict(zip(names, chosen, strict=True))
        shown = ", ".join(_short(value) for value in chosen)
        yield Instance(
            cheat, f"{cheat.slug} ({shown})" if shown else cheat.slug, level, _script(cheat, values), values
        )


def _usable(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value for value in values if value and "\0" not in value)


def _diagonally(choices: list[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """All combinations, those first whose places add up to least: early values of each before late ones."""
    if not all(choices):
        return
    total = sum(len(items) - 1 for items in choices)
    for distance in range(total + 1):
        yield from _at_distance(choices, distance)


def _at_distance(choices: list[tuple[str, ...]], distance: int) -> Iterator[tuple[str, ...]]:
    if not choices:
        if distance == 0:
            yield ()
        return
    for place, value in enumerate(choices[0][: distance + 1]):
        for rest in _at_distance(choices[1:], distance - place):
            yield (value, *rest)


def _script(cheat: Cheat, values: Mapping[str, str]) -> str:
    lines = [f"{name}={quote_sh(value)}" for name, value in values.items()]
    return "\n".join([*lines, *(_part(name) for name in cheat.uses), cheat.script.strip("\n"), ""])


@functools.cache
def _part(name: str) -> str:
    return (_PARTS / f"{name}.sh").read_text(encoding="utf-8").strip("\n")


def _short(value: str) -> str:
    line = " ".join(value.split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"


def _joined(paths: tuple[str, ...]) -> tuple[str, ...]:
    return ("\n".join(path for path in paths if "\n" not in path),) if paths else ()


def _data_files(facts: TaskFacts) -> tuple[str, ...]:
    code = ("py", "sh", "js", "ts", "toml", "cfg", "ini")
    return tuple(path for path in facts.tests if ending_of(path) not in code)


def _helper_modules(facts: TaskFacts) -> tuple[str, ...]:
    found = [path for path in facts.tests if ending_of(path) == "py"]
    return tuple(path for path in found if not posixpath.basename(path).startswith(("test_", "conftest")))


def _top_modules(facts: TaskFacts) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.partition(".")[0] for name in facts.modules))


_READERS: Mapping[str, Callable[[TaskFacts], tuple[str, ...]]] = {
    "folder": lambda facts: facts.folders,
    "helper": lambda facts: facts.helpers,
    "helper_module": _helper_modules,
    "interpreter": lambda facts: facts.interpreters,
    "literal": lambda facts: facts.literals,
    "module": _top_modules,
    "output": lambda facts: facts.outputs,
    "outputs": lambda facts: _joined(facts.outputs),
    "programs": lambda facts: _joined(facts.programs),
    "report": lambda facts: facts.reports,
    "reward": lambda facts: facts.rewards,
    "startup": lambda facts: facts.startups,
    "subjects": lambda facts: _joined(facts.subjects),
    "test_data": _data_files,
    "tool": lambda facts: facts.tools,
    "workdir": lambda facts: (facts.workdir,),
}
