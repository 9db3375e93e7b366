"""What a trial came to, and its form on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aespec.model.expressions import Json

BOUNDARIES = ("spec", "image", "oracle", "verifier", "sandbox")
"""Whose fault it is where a trial didn't come to a plain verdict, or the oracle failed."""


@dataclass(frozen=True, slots=True)
class EndState:
    """What an agent left: the declared artifacts as a tar, frozen.

    `digest` identifies their content (no owners, no times). `status` is the agent's exit status, None where
    it was ended by a signal or the time limit, or didn't run. `message` says what went wrong with the agent;
    `boundary` is set where there is no end state to judge. `refusal` says why what the agent left can't be
    judged by its own doing (it is too large): that is a failure, not an error. `logs` are its two streams,
    bounded.
    """

    agent: str
    artifacts: bytes = field(repr=False)
    digest: str
    status: int | None = None
    message: str = ""
    boundary: str | None = None
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)
    logs: Mapping[str, bytes] = field(default_factory=dict, repr=False, compare=False)
    is_reproducible: bool = True
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class TrialResult:
    """One bundle, one agent, one sandbox. `outcome` is `pass`, `fail` or `error`, then without a reward.

    `details` is the verifier's reward-details.json where it wrote a readable one. `seconds` are wall seconds
    by stage. `sentences` are what the task says of the checks and rules that failed, by id. `logs` (name →
    bytes) and `artifacts` are kept beside `trial.json`, not in it.
    """

    task: str
    bundle: str
    agent: str
    sandbox: str
    outcome: str
    reward: float | None = None
    boundary: str | None = None
    message: str = ""
    details: Mapping[str, Json] | None = field(default=None, repr=False)
    agent_status: int | None = None
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)
    is_reproducible: bool = True
    logs: Mapping[str, bytes] = field(default_factory=dict, repr=False, compare=False)
    artifacts: bytes = field(default=b"", repr=False, compare=False)
    sentences: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_passed(self) -> bool:
        """Whether the full reward was given."""
        return self.outcome == "pass"

    @property
    def is_lost(self) -> bool:
        """Whether the machine, not the task, kept it from a verdict: it says nothing about the task."""
        return self.outcome == "error" and self.boundary in ("sandbox", "image")

    def verdicts(self) -> dict[str, str]:
        """The verdict of every check and rule by id (`totals`, `totals.refunds`); empty without details."""
        found: dict[str, str] = {}
        for check in checks_of(self.details):
            found[str(check.get("id"))] = str(check.get("verdict"))
            for rule in objects(check.get("rules")):
                found[str(rule.get("id"))] = str(rule.get("verdict"))
        return found

    def failed(self) -> tuple[str, ...]:
        """The ids of the checks and rules that failed."""
        return tuple(name for name, verdict in self.verdicts().items() if verdict == "fail")


def checks_of(details: Mapping[str, Json] | None) -> list[Mapping[str, Json]]:
    """The checks in reward-details; empty for anything malformed."""
    return objects((details or {}).get("checks"))


def objects(value: object) -> list[Mapping[str, Json]]:
    """The objects of a list; empty for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def result_to_json(result: TrialResult) -> dict[str, Json]:
    """The form of `trial.schema.json`."""
    return {
        "schema": 1,
        "task": result.task,
        "bundle": result.bundle,
        "agent": result.agent,
        "sandbox": result.sandbox,
        "outcome": result.outcome,
        "reward": result.reward,
        "boundary": result.boundary,
        "message": result.message,
        "details": dict(result.details) if result.details is not None else None,
        "agent_status": result.agent_status,
        "seconds": {stage: round(seconds, 4) for stage, seconds in result.seconds.items()},
        "is_reproducible": result.is_reproducible,
        "sentences": dict(result.sentences),
    }


def result_from_json(told: Mapping[str, Json]) -> TrialResult:
    """A result read back. Raises ValueError for anything that isn't one, or is of a newer schema."""
    if told.get("schema") != 1:
        raise ValueError(f"a trial of schema {told.get('schema')!r}; this aespec reads schema 1")
    names = ("task", "bundle", "agent", "sandbox", "outcome", "message")
    if not all(isinstance(told.get(name), str) for name in names):
        raise ValueError("not a trial's result: a text is missing")
    task, bundle, agent, sandbox, outcome, message = (str(told[name]) for name in names)
    reward, details, status = told.get("reward"), told.get("details"), told.get("agent_status")
    sentences = told.get("sentences")
    seconds, boundary = told.get("seconds"), told.get("boundary")
    return TrialResult(
        task=task,
        bundle=bundle,
        agent=agent,
        sandbox=sandbox,
        outcome=outcome,
        message=message,
        reward=float(reward) if isinstance(reward, int | float) else None,
        boundary=boundary if boundary in BOUNDARIES else None,
        details=details if isinstance(details, dict) else None,
        agent_status=status if isinstance(status, int) else None,
        seconds={k: float(v) for k, v in seconds.items() if isinstance(v, int | float)}
        if isinstance(seconds, dict)
        else {},
        is_reproducible=told.get("is_reproducible") is not False,
        sentences={k: str(v) for k, v in sentences.items()} if isinstance(sentences, dict) else {},
    )
