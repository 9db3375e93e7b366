"""One run of a probe in a sandbox, from its base to what the verifier left: it is read elsewhere."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from aespec.bundle.foreign import ForeignTask
from aespec.sandbox.api import Builder, Difference, Image, Outcome, SandboxError, Slot, UncarriableError
from aespec.sandbox.fork.accounts import Account
from aespec.sandbox.tars import pack
from aespec.trial.archives import read_nodes
from aespec.trial.foreign import acting, crossing, live, seats, session, uploads, verifying
from aespec.trial.foreign.acting import Acted, Solved
from aespec.trial.foreign.grounds import LOG_FOLDERS, LONGEST_RUN_S, Grounds
from aespec.trial.foreign.once import Once
from aespec.trial.foreign.rewards import FOLDER, REWARD_JSON, REWARD_TEXT, read_rewards
from aespec.trial.foreign.troubles import tail
from aespec.trial.foreign.verifying import Seen
from aespec.trial.judging import Perturbation
from aespec.trial.probe import Probe
from aespec.trial.stages import timed


@dataclass(frozen=True, slots=True)
class Ways:
    """How a probe is run: over which images, in one session or not, with what network and patience.

    The images may hold what the verifier installed earlier; `oracle` None runs the solution afresh, and
    `verifier` is a separate one's. `env` is set for the verifier beside its own. `is_new_to_offline` tells
    that a word of a missing network would be news: tried without one, the verifier said nothing of it.
    """

    start: Image
    oracle: Image | None
    verifier: Image | None
    is_live: bool = False
    has_network: bool = True
    agent_timeout_s: float = 900.0
    verifier_timeout_s: float = 600.0
    env: Mapping[str, str] = field(default_factory=dict)
    wants_difference: bool = False
    is_new_to_offline: bool = False


class Bench:
    """Runs probes of one task. All may raise `SandboxError`, and `EditError` for edits that don't fit."""

    def __init__(
        self,
        task: ForeignTask,
        sandbox: Builder,
        image_map: Mapping[str, str],
        progress: Callable[[str], None] | None,
    ) -> None:
        """Nothing is built or run yet."""
        self.task = task
        self.sandbox = sandbox
        self.grounds = Grounds(task, sandbox, image_map, progress)
        self.solved = Once(self._solve)
        self._network = threading.Lock()
        self.tests = Once(lambda: tuple(uploads.tests(task)))
        self.solution = Once(lambda: pack(uploads.solution(task)))
        self._reversed = Once(lambda: acting.turned_around(self.solved().difference.archive))
        self.agent_account = self._account_of(seats.agent_seat)
        self.container_account = self._account_of(seats.container_seat)
        self.verifier_account = self._account_of(seats.verifier_seat)

    def _account_of(self, seat_of: Callable[[ForeignTask, Image], seats.Seat]) -> Once[Account]:
        def find() -> Account:
            start = self.grounds.start()
            user = seat_of(self.task, start).user
            return live.account_of(self.sandbox, start, self.grounds.limits, user)

        return Once(find)

    def open(self, image: Image) -> AbstractContextManager[Slot]:
        """A fresh slot with the task's limits."""
        return self.sandbox.open(image, self.grounds.limits)

    def plain_ways(self, *, is_live: bool, has_network: bool) -> Ways:
        """The ways of a cold run from the start state: the task's own images and limits."""
        return Ways(
            self.grounds.start(),
            None,
            self.grounds.verifier() if self.task.mode == "separate" else None,
            is_live,
            has_network,
            min(self.task.agent_timeout_s, LONGEST_RUN_S),
            min(self.task.verifier_timeout_s, LONGEST_RUN_S),
        )

    def run(self, probe: Probe, shift: Perturbation, ways: Ways) -> Seen:
        """Make the probe's state and put it before the verifier."""
        is_separate = self.task.mode == "separate"
        if ways.is_live and (not is_separate or self.task.collect):
            return session.run_live(self, probe, shift, ways)
        seconds: dict[str, float] = {}
        with self.open(_base(probe, ways, shift)) as slot:
            with timed(seconds, "agent"):
                done = self._act(probe, slot, ways, shift)
            if not is_separate:
                with timed(seconds, "verify"):
                    seen = self._verify_here(slot, shift, ways, is_touched=_may_be_in_the_way(probe))
                return verifying.with_agent(seen, done, seconds)
            with timed(seconds, "collect"):
                archive = acting.collect(slot, self.task, self.grounds.start())
        with timed(seconds, "verify"):
            seen = self.verify_apart(archive, shift, ways)
        return verifying.with_agent(seen, done, seconds)

    # --- the agent's part --------------------------------------------------------------------------------

    def _solve(self) -> Solved:
        start = self.grounds.start()
        if self.task.solution is None:
            raise SandboxError("the task has no solution", boundary="oracle")
        seconds: dict[str, float] = {}
        with self.open(start) as slot:
            with timed(seconds, "solution"):
                timeout_s = min(self.task.agent_timeout_s, LONGEST_RUN_S)
                done = acting.run_solution(slot, self.task, start, self.solution(), timeout_s)
            difference = slot.difference(limit_bytes=acting.STATE_LIMIT_BYTES)
        image = self.sandbox.freeze(start, difference)
        return Solved(image, difference, done, acting.solved_nodes(difference), seconds["solution"])

    def _act(self, probe: Probe, slot: Slot, ways: Ways, shift: Perturbation) -> Acted:
        start, done = self.grounds.start(), Acted()
        is_frozen = probe.base == "oracle" and ways.oracle is not None
        if is_frozen:
            done = self.solved().acted
            if shift.is_reversed:
                slot.put(self._reversed(), clean=self.solved().difference.deleted)
        elif probe.base != "start":
            done = acting.run_solution(slot, self.task, start, self.solution(), ways.agent_timeout_s)
        if probe.edits:
            acting.edit_state_in(slot, probe.edits, self.solved().nodes if is_frozen else {})
        if probe.script:
            done = acting.run_script(slot, self.task, start, probe.script, ways.agent_timeout_s)
        return done

    @contextlib.contextmanager
    def taking_turns(self, ways: Ways) -> Iterator[None]:
        """One session at a time where it has a network: then its ports are the machine's own."""
        with self._network if ways.has_network else contextlib.nullcontext():
            yield

    def take_live_solution(self) -> None:
        """From now on, take what the solution leaves in a live session for its end state."""
        self.solved = Once(lambda: session.solve_live(self))

    # --- the verifier's part -----------------------------------------------------------------------------

    def _verify_here(self, slot: Slot, shift: Perturbation, ways: Ways, *, is_touched: bool) -> Seen:
        tests = self.tests()
        if is_touched:
            problem = verifying.clear_the_way(slot, read_nodes(pack(tests)))
            if problem:
                return verifying.no_run(problem)
        slot.put(pack([*tests, *shift.entries]), clean=[REWARD_TEXT, REWARD_JSON])
        return self._verify(slot, seats.verifier_seat(self.task, self.grounds.start()), shift, ways)

    def verify_apart(self, archive: bytes, shift: Perturbation, ways: Ways) -> Seen:
        """Put what crosses before a separate verifier in a fresh slot."""
        image = ways.verifier
        assert image is not None, "a separate verifier has an image"
        clean, carried = crossing.carry(archive, crossing.all_artifacts(self.task.artifacts))
        tests = () if self.task.has_own_tests else self.tests()
        with self.open(image) as slot:
            # Folders first; turned around, the files of one folder come in another order.
            files = [entry for entry in carried if entry.data is not None or entry.target]
            folders = [entry for entry in carried if entry.data is None and not entry.target]
            ordered = [*folders, *(reversed(files) if shift.is_reversed else files)]
            slot.put(pack([*LOG_FOLDERS, *ordered, *tests, *shift.entries]), clean=[FOLDER, *clean])
            return self._verify(slot, seats.verifier_seat(self.task, image), shift, ways)

    def _verify(self, slot: Slot, seat: seats.Seat, shift: Perturbation, ways: Ways) -> Seen:
        wanted = seats.program(
            seat,
            seats.in_bash(seats.verifier_command(self.task)),
            timeout_s=ways.verifier_timeout_s,
            env={**ways.env, **shift.env},
        )
        wanted = replace(wanted, has_network=ways.has_network, umask=shift.umask, cores=shift.cores)
        try:
            outcome = slot.run(wanted)
        except SandboxError as fault:
            if fault.boundary == "spec":  # its folder or its account is gone, or never was there
                raise SandboxError(f"the verifier: {fault}", fault.remedy, "spec") from None
            raise
        return self.read(slot, outcome, shift, ways)

    def read(self, slot: Slot, outcome: Outcome, shift: Perturbation, ways: Ways) -> Seen:
        """What a verifier that has ended left in its slot."""
        nodes, output = verifying.read_logs(slot)
        problem = verifying.NO_BASH if _misses_bash(outcome) else ""
        return Seen(
            outcome,
            nodes,
            output + tail(outcome.stdout + outcome.stderr),
            verifying.read_kept(slot, shift.keep),
            problem=problem,
            is_disk_full=bool(read_rewards(nodes).problem) and verifying.is_disk_full(slot),
            difference=_difference(slot) if ways.wants_difference else None,
        )


def _base(probe: Probe, ways: Ways, shift: Perturbation) -> Image:
    """The image to open. In a frozen layer files have the order of its disk; another one takes them out."""
    if probe.base != "oracle" or ways.oracle is None or shift.is_reversed:
        return ways.start
    return ways.oracle


def _may_be_in_the_way(probe: Probe) -> bool:
    """Whether a probe may have put something where the tests or the rewards go."""
    ours = (seats.TESTS, "/logs")
    is_edited = any(
        edit.path in ("/", *ours) or edit.path.startswith(("/tests/", "/logs/")) for edit in probe.edits
    )
    return is_edited or bool(probe.script) or probe.base == "solution"


def _difference(slot: Slot) -> Difference | None:
    with contextlib.suppress(UncarriableError):
        return slot.difference(limit_bytes=acting.STATE_LIMIT_BYTES)
    return None


def _misses_bash(outcome: Outcome) -> bool:
    said = outcome.stderr[-1000:]
    return outcome.status == 127 and (b"bash" in said or b"/usr/bin/env:" in said)
