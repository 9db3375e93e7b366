"""Where trials of a certification run: in parallel, counted by rung, remembered, within a budget."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from aespec import __version__
from aespec.bundle.plan import Bundle
from aespec.bundle.recipe import Recipe
from aespec.fuzz.journal import Journal
from aespec.fuzz.spreading import spread
from aespec.model.json_text import json_digest
from aespec.sandbox.api import Abilities, Image, Sandbox, SandboxLimits, Slot, Stoppable
from aespec.trial import Agent, EndState, Perturbation, TrialResult, collect, verify

T = TypeVar("T", "Acting", "Judging")
R = TypeVar("R")


class BudgetSpentError(Exception):
    """There is no time left to start another run."""


class Prepared:
    """A sandbox that looks for each image only once: bundles don't change while they are certified."""

    def __init__(self, sandbox: Sandbox) -> None:
        """Everything but `prepare` is the sandbox's own."""
        self._sandbox = sandbox
        self._images: dict[tuple[Recipe, Path], Image] = {}
        self._lock = threading.Lock()
        self.name = sandbox.name

    def abilities(self) -> Abilities:
        """See `Sandbox`."""
        return self._sandbox.abilities()

    def prepare(
        self, recipe: Recipe, context: Path, *, progress: Callable[[str], None] | None = None
    ) -> Image:
        """See `Sandbox`; one at a time, so that no layer is made twice."""
        with self._lock:
            if (recipe, context) not in self._images:
                self._images[recipe, context] = self._sandbox.prepare(recipe, context, progress=progress)
            return self._images[recipe, context]

    def open(self, image: Image, limits: SandboxLimits) -> AbstractContextManager[Slot]:
        """See `Sandbox`."""
        return self._sandbox.open(image, limits)

    def stop(self) -> None:
        """See `Stoppable`."""
        if isinstance(self._sandbox, Stoppable):
            self._sandbox.stop()


@dataclass(frozen=True, slots=True)
class Rung:
    """A sandbox with the name under which its runs are counted."""

    name: str
    sandbox: Sandbox = field(repr=False)


def cold(name: str) -> str:
    """What a sandbox is called where fresh slots of it, and the bundle's own test.sh, are the reference."""
    return f"cold {name}"


@dataclass(frozen=True, slots=True)
class Acting:
    """Let an agent act on a bundle; `number` tells repetitions apart."""

    bundle: Bundle = field(repr=False)
    agent: Agent
    rung: Rung
    number: int = 0


@dataclass(frozen=True, slots=True)
class Judging:
    """Judge an end state by a bundle's verifier."""

    bundle: Bundle = field(repr=False)
    state: EndState
    rung: Rung
    number: int = 0
    shift: Perturbation | None = None


class Bench:
    """Runs what measures ask for; `executions` counts the runs that were really made, by rung."""

    def __init__(
        self,
        journal: Journal,
        *,
        workers: int | None = None,
        deadline: float | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """`deadline` is on `time.monotonic`; `workers` is the number of cores unless given."""
        self._journal = journal
        self._workers = workers or len(os.sched_getaffinity(0))
        self._deadline = deadline
        self._progress = progress
        self._lock = threading.Lock()
        self.executions: Counter[str] = Counter()

    def say(self, text: str) -> None:
        """Tell what is being done."""
        if self._progress is not None:
            self._progress(text)

    def act(self, jobs: Sequence[Acting]) -> list[EndState]:
        """The end states of the jobs, in their order. Raises `BudgetSpentError`."""
        return self._spread(self._act_one, jobs)

    def judge(self, jobs: Sequence[Judging]) -> list[TrialResult]:
        """The verdicts of the jobs, in their order. Raises `BudgetSpentError`."""
        return self._spread(self._judge_one, jobs)

    def try_all(self, jobs: Sequence[Acting]) -> list[tuple[EndState, TrialResult]]:
        """Whole trials: act, then judge what came of it on the same rung."""
        states = self.act(jobs)
        judged = [
            Judging(job.bundle, state, job.rung, job.number) for job, state in zip(jobs, states, strict=True)
        ]
        return list(zip(states, self.judge(judged), strict=True))

    def _spread(self, run: Callable[[T], R], jobs: Sequence[T]) -> list[R]:
        def stop() -> None:
            for rung in {job.rung for job in jobs}:
                if isinstance(rung.sandbox, Stoppable):
                    rung.sandbox.stop()

        return spread(run, jobs, workers=self._workers, stop=stop)

    def _start(self, rung: Rung) -> None:
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise BudgetSpentError
        with self._lock:
            self.executions[rung.name] += 1

    def _act_one(self, job: Acting) -> EndState:
        key = _key("act", job.bundle, job.rung, job.number, _agent_key(job.agent))
        kept = self._journal.state(key)
        if kept is not None:
            return kept
        self._start(job.rung)
        try:
            state = collect(job.bundle, job.agent, job.rung.sandbox)
        except OSError as fault:
            return EndState(job.agent.name, b"", "", message=_explain(fault), boundary="sandbox")
        self._journal.keep_state(key, state)
        return state

    def _judge_one(self, job: Judging) -> TrialResult:
        shift = job.shift.name if job.shift else ""
        key = _key("judge", job.bundle, job.rung, job.number, [job.state.agent, job.state.digest, shift])
        kept = self._journal.result(key)
        if kept is not None:
            return kept
        self._start(job.rung)
        try:
            result = verify(job.bundle, job.state, job.rung.sandbox, job.shift)
        except OSError as fault:
            return TrialResult(
                task=job.bundle.name,
                bundle=job.bundle.digest,
                agent=job.state.agent,
                sandbox=job.rung.name,
                outcome="error",
                boundary="sandbox",
                message=_explain(fault),
            )
        self._journal.keep_result(key, result)
        return result


def _explain(fault: OSError) -> str:
    """The kind of trouble, without the paths of this machine."""
    return f"{type(fault).__name__}: {fault.strerror or fault}"


def _agent_key(agent: Agent) -> object:
    script = agent.script
    return [agent.name, script.interpreter if script else None, script.text if script else None]


def _key(what: str, bundle: Bundle, rung: Rung, number: int, rest: object) -> str:
    content = [what, __version__, bundle.digest, rung.name, number, rest]
    return json_digest(content)
