"""Where the probes of an audit run: in parallel, remembered, written down, within a budget."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from aespec.fuzz.audit.memory import Memory, probe_key
from aespec.fuzz.bench import cold
from aespec.fuzz.cost import used_s
from aespec.fuzz.spreading import spread
from aespec.sandbox.api import Stoppable
from aespec.trial.judging import Perturbation
from aespec.trial.probe import Harness, Judgement, Probe

_CHECK_EVERY_S = 0.5
"""Processor time is summed over all processes below this one, so it isn't looked at before each probe."""

WAITING = 0.1
"""A second of the clock counts for at least so much processor time: what hangs uses none, and never ends."""

_KEPT_CHARACTERS = 4096
"""How much is kept of what a verifier said, and of what an agent said that was asked nothing."""


@dataclass(frozen=True, slots=True)
class Request:
    """A probe to judge. `number` tells repetitions apart; `shift` is another surrounding of the verifier.

    `about` is the asker's own: what the probe tries.
    """

    probe: Probe
    number: int = 0
    shift: Perturbation | None = None
    is_cold: bool = False
    about: object = field(default=None, repr=False, compare=False)


@dataclass(slots=True)
class Budget:
    """What an audit may spend: CPU seconds of everything that it starts, and probes; None is no limit.

    A phase gets a share of what is left when it begins; what it leaves over goes to the later ones.
    """

    cpu_s: float | None = None
    probes: int | None = None
    _started: float = field(default_factory=used_s)
    _started_at: float = field(default_factory=time.monotonic)
    _spent_probes: int = 0
    _looked_at: float = 0.0
    _used: float = 0.0
    _limit_s: float | None = None
    _limit_probes: int | None = None

    def used(self) -> float:
        """CPU seconds since the audit began, at most half a second old; see `WAITING`."""
        now = time.monotonic()
        if now - self._looked_at > _CHECK_EVERY_S:
            self._used, self._looked_at = used_s() - self._started, now
        return max(self._used, WAITING * (now - self._started_at))

    @contextmanager
    def share(self, part: float) -> Iterator[None]:
        """Within, at most this part (0 to 1) of what is left may be spent."""
        before = self._limit_s, self._limit_probes
        if self.cpu_s is not None:
            used = self.used()
            self._limit_s = used + part * max(0.0, self.cpu_s - used)
        if self.probes is not None:
            left = max(0, self.probes - self._spent_probes)
            self._limit_probes = self._spent_probes + round(part * left)
        try:
            yield
        finally:
            self._limit_s, self._limit_probes = before

    def take(self) -> bool:
        """Whether there is room for one more probe; it is counted."""
        for limit in (self.probes, self._limit_probes):
            if limit is not None and self._spent_probes >= limit:
                return False
        for seconds in (self.cpu_s, self._limit_s):
            if seconds is not None and self.used() >= seconds:
                return False
        self._spent_probes += 1
        return True


class Prober:
    """Puts probes before a harness; `executions` counts those that were really run."""

    def __init__(
        self,
        harness: Harness,
        memory: Memory,
        budget: Budget,
        *,
        workers: int | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """`workers` is the number of cores unless given."""
        self.harness = harness
        self.budget = budget
        self.executions: Counter[str] = Counter()
        self.has_run_out = False
        self._memory = memory
        self._workers = workers or len(os.sched_getaffinity(0))
        self._progress = progress
        self._lock = threading.Lock()

    @property
    def resumed(self) -> int:
        """How many verdicts an earlier run had left."""
        return self._memory.resumed

    def forget(self) -> None:
        """Remove what was written down for a next run."""
        self._memory.forget()

    def say(self, text: str) -> None:
        """Tell what is being done."""
        if self._progress is not None:
            self._progress(text)

    def judge_one(self, request: Request, *, is_free: bool = False) -> Judgement | None:
        """The verdict, or None where the budget is spent; a free one is run all the same."""
        key = probe_key(request.probe, request.number, request.shift, is_cold=request.is_cold)
        kept = self._memory.find(key)
        if kept is not None:
            return kept
        judgement = self.observe(request, is_free=is_free)
        if judgement is None:
            return None
        judgement = _shortened(judgement, request.probe)
        if judgement.boundary not in ("sandbox", "image"):
            self._memory.keep(key, judgement)
        return judgement

    def observe(self, request: Request, *, is_free: bool = False) -> Judgement | None:
        """As `judge_one`, run in any case and kept whole: with the files that the request's shift names."""
        with self._lock:
            if not self.budget.take() and not is_free:
                self.has_run_out = True
                return None
            name = self.harness.name
            self.executions[cold(name) if request.is_cold else name] += 1
        return self.harness.judge(request.probe, request.shift, is_cold=request.is_cold)

    def judge(self, requests: Sequence[Request]) -> list[Judgement | None]:
        """The verdicts in the requests' order; None for those that the budget left no room for."""
        return spread(self.judge_one, requests, workers=self._workers, stop=self._stop)

    def each(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Judgement]]:
        """The verdicts as they come, until the requests or the budget end; requests are drawn lazily."""
        stream = iter(requests)
        while True:
            batch = [item for _, item in zip(range(self._workers * 4), stream, strict=False)]
            judged = self.judge(batch)
            for request, judgement in zip(batch, judged, strict=True):
                if judgement is not None:
                    yield request, judgement
            if not batch or any(item is None for item in judged):
                return

    def _stop(self) -> None:
        if isinstance(self.harness, Stoppable):
            self.harness.stop()


def _shortened(judgement: Judgement, probe: Probe) -> Judgement:
    """A judgement to be kept beside thousands of others."""
    said = judgement.agent_output if probe.script else judgement.agent_output[-_KEPT_CHARACTERS:]
    return replace(judgement, output=judgement.output[-_KEPT_CHARACTERS:], agent_output=said)
