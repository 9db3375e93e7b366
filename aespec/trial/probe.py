"""A probe: one end state, made in one way, put before a task's verifier, and what came of it.

A probe is data, so that what was found can be written down, shrunk and run again by anyone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from aespec.model.edit import Edit
from aespec.runtime.memory import Node
from aespec.trial.judging import Perturbation


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
    of the verifier where the backend knows them.
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
