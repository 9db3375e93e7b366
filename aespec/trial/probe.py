"""A probe: one end state, made in one way, put before a task's verifier, and what came of it.

A probe is data, so that what was found can be written down, shrunk and run again by anyone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeGuard

from aespec.model.edit import Edit
from aespec.model.edits import edit_from_json, edit_to_json
from aespec.model.expressions import Json
from aespec.runtime.memory import Node
from aespec.trial.judging import Perturbation

BASES = ("start", "oracle", "solution")
"""What a probe can begin with."""


@dataclass(frozen=True, slots=True)
class Probe:
    """An end state to judge.

    From `base` (`start`, the untouched environment; `oracle`, the frozen state that the solution left;
    `solution`, the start state in which the solution is run afresh) the `edits` are carried out as root, in
    order; then `script` is run by `/bin/sh` as the agent's user ("" runs nothing).
    Where the probe `is_live` what the script starts goes on while the verifier runs, as in a container that
    is shared; else the state is frozen in between. `name` says where the probe comes from.
    """

    name: str
    base: str = "oracle"
    edits: tuple[Edit, ...] = ()
    script: str = ""
    is_live: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the verifier made of a probe. `outcome` is `pass`, `fail` or `error`, then `boundary` says whose.

    `reward` is the scalar as the consumer of the format reads it (`reward` of reward.json, else its mean;
    reward.txt), `rewards` all of it. `pass` means a reward of at least 1, or of the oracle's where that is
    known to be less. `failed` are the names of the verifier's own tests that failed, where it tells them
    (CTRF). `output` is the end of what it printed. `seconds` are wall seconds by stage, `cpu_s` CPU seconds
    of the verifier where the backend knows them. `files` are those that the perturbation's `keep` names, by
    absolute path.
    """

    outcome: str
    reward: float | None = None
    rewards: Mapping[str, float] = field(default_factory=dict)
    boundary: str | None = None
    message: str = ""
    failed: tuple[str, ...] = ()
    output: str = field(default="", repr=False)
    agent_output: str = field(default="", repr=False)
    agent_status: int | None = None
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)
    cpu_s: float | None = field(default=None, compare=False)
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_passed(self) -> bool:
        """Whether the verifier let it pass."""
        return self.outcome == "pass"


@dataclass(frozen=True, slots=True)
class Changes:
    """What the oracle changed, by absolute path: as it was before (None: new) and after (None: deleted).

    Files only, and links; contents larger than the harness's limit are left out of `before` and `after` and
    named in `too_large`.
    """

    before: Mapping[str, Node | None] = field(repr=False)
    after: Mapping[str, Node | None]
    too_large: tuple[str, ...] = ()


class Harness(Protocol):
    """A task that can be probed. Safe to use from several threads; probes are independent of each other."""

    name: str

    def changes(self) -> Changes:
        """What the oracle left; raises `SandboxError` where there is no oracle or it can't be run."""
        ...

    def is_live(self) -> bool:
        """Whether the oracle passes only as long as what it started runs on."""
        ...

    def read(self, path: str, *, base: str = "start", limit_bytes: int = 1 << 20) -> dict[str, Node]:
        """The files and links at and below a path of the `start` or `oracle` state."""
        ...

    def judge(
        self, probe: Probe, perturbation: Perturbation | None = None, *, is_cold: bool = False
    ) -> Judgement:
        """Put a probe before the verifier. Trouble is an outcome, never an exception.

        Cold means all from the task's own images and its unmodified test script; else what a first run of
        the verifier installed may be there already.
        """
        ...


def probe_to_json(probe: Probe) -> dict[str, Json]:
    """The form of `probe.schema.json`; it reads back equal."""
    return {
        "name": probe.name,
        "base": probe.base,
        "edits": [edit_to_json(edit) for edit in probe.edits],
        "script": probe.script,
        "is_live": probe.is_live,
    }


def probe_from_json(told: Json) -> Probe:
    """The probe of a JSON object; what is left out but `name` is as in `Probe`.

    Raises ValueError for anything that is none.
    """
    if not isinstance(told, dict) or not told.keys() <= _PROBE_KEYS:
        raise ValueError(f"a probe is an object of {', '.join(sorted(_PROBE_KEYS))}")
    name, base, script = told.get("name"), told.get("base", "oracle"), told.get("script", "")
    edits, is_live = told.get("edits", []), told.get("is_live", False)
    if not isinstance(name, str) or not isinstance(script, str) or not isinstance(is_live, bool):
        raise ValueError("a probe has the texts `name` and `script`, and `is_live` is true or false")
    if base not in BASES:
        raise ValueError(f"a probe's `base` is one of {', '.join(BASES)}, not {base!r}")
    if not isinstance(edits, list):
        raise ValueError("a probe's `edits` are a list")
    return Probe(name, str(base), tuple(edit_from_json(edit) for edit in edits), script, is_live)


_PROBE_KEYS = frozenset(("name", "base", "edits", "script", "is_live"))


def judgement_to_json(judgement: Judgement) -> dict[str, Json]:
    """The form of `judgement.schema.json`; `files` are not kept."""
    return {
        "outcome": judgement.outcome,
        "reward": judgement.reward,
        "rewards": dict(judgement.rewards),
        "boundary": judgement.boundary,
        "message": judgement.message,
        "failed": list(judgement.failed),
        "output": judgement.output,
        "agent_output": judgement.agent_output,
        "agent_status": judgement.agent_status,
        "seconds": {stage: round(seconds, 4) for stage, seconds in judgement.seconds.items()},
        "cpu_s": judgement.cpu_s,
    }


def judgement_from_json(told: Json) -> Judgement:
    """The judgement of a JSON object. Raises ValueError for anything that is none."""
    if not isinstance(told, dict) or told.get("outcome") not in ("pass", "fail", "error"):
        raise ValueError("a judgement is an object with an `outcome`: pass, fail or error")
    reward, boundary, status = told.get("reward"), told.get("boundary"), told.get("agent_status")
    failed, cpu_s = told.get("failed"), told.get("cpu_s")
    return Judgement(
        outcome=str(told["outcome"]),
        reward=float(reward) if _is_number(reward) else None,
        rewards=_numbers(told.get("rewards")),
        boundary=boundary if isinstance(boundary, str) else None,
        message=str(told.get("message") or ""),
        failed=tuple(str(name) for name in failed) if isinstance(failed, list) else (),
        output=str(told.get("output") or ""),
        agent_output=str(told.get("agent_output") or ""),
        agent_status=status if isinstance(status, int) and not isinstance(status, bool) else None,
        seconds=_numbers(told.get("seconds")),
        cpu_s=float(cpu_s) if _is_number(cpu_s) else None,
    )


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numbers(value: object) -> dict[str, float]:
    table = value if isinstance(value, dict) else {}
    return {str(name): float(number) for name, number in table.items() if _is_number(number)}
