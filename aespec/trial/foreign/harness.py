"""The harness of a foreign task: how its probes are best run is found out once, then each is run so."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from aespec.bundle.foreign import ForeignTask
from aespec.model.edits import EditError
from aespec.runtime.memory import Node
from aespec.runtime.wording import counted
from aespec.sandbox.api import Builder, Difference, Image, SandboxError, Stoppable
from aespec.trial.archives import read_nodes
from aespec.trial.foreign import acting
from aespec.trial.foreign.bench import Bench, Ways
from aespec.trial.foreign.changes import read_changes
from aespec.trial.foreign.once import Once
from aespec.trial.foreign.troubles import misses_network
from aespec.trial.foreign.verdicts import full_reward, judgement_of
from aespec.trial.foreign.verifying import Seen
from aespec.trial.foreign.warmth import warm_layer
from aespec.trial.judging import Perturbation
from aespec.trial.probe import Changes, Judgement, Probe
from aespec.trial.stages import explain_fault

NOP = Probe("nop", base="start")
ORACLE = Probe("oracle", base="oracle")

PATIENCE = 10.0
PATIENCE_AT_LEAST_S = 20.0
"""A probe that isn't cold may take so many times as long as the oracle took, and at least so long.

A task's own limits, 15 minutes often, are for agents and slow machines; what hangs must not cost that.
"""

_STILL = Perturbation("none")
_OFFLINE = {"UV_OFFLINE": "1"}
"""Without a network uv looks into its cache only where it is told so; set for probes without network."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What was found out first. `oracle` is None where there is no solution that can be run at all.

    `is_live` holds where the solution passes only as long as what it started runs on. `fault` says why the
    solution's end state isn't to be had.
    """

    oracle: Judgement | None
    is_live: bool
    full: float
    fault: SandboxError | None = None
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Warm:
    """How probes that aren't cold are run: over which images, and whether with a network.

    `complains` holds where the verifier says that there is no network, and comes to the same verdicts.
    """

    start: Image
    oracle: Image | None
    verifier: Image | None
    has_network: bool
    notes: tuple[str, ...] = ()
    complains: bool = False


class ForeignHarness:
    """See `aespec.trial.probe.Harness`. Safe to use from several threads."""

    def __init__(
        self,
        task: ForeignTask,
        sandbox: Builder,
        image_map: Mapping[str, str],
        progress: Callable[[str], None] | None,
    ) -> None:
        """Nothing is built or run yet."""
        self.task = task
        self.name = sandbox.name
        self._bench = Bench(task, sandbox, image_map, progress)
        self._sandbox = sandbox
        self._say = progress or (lambda _: None)
        self._settled = Once(self._settle)
        self._warm = Once(self._warm_up)
        self._changes = Once(self._read_changes)
        self._installed: Difference | None = None

    # --- what a harness offers ---------------------------------------------------------------------------

    def changes(self) -> Changes:
        """See the protocol. What is left out is told in `aespec.trial.foreign.changes`."""
        return self._changes()

    def is_live(self) -> bool:
        """See the protocol."""
        with contextlib.suppress(SandboxError):
            return self._settled().is_live
        return False

    def read(self, path: str, *, base: str = "start", limit_bytes: int = 1 << 20) -> dict[str, Node]:
        """See the protocol. Raises `SandboxError`, also above 256 MiB; files above the limit are left out."""
        image = self._bench.solved().image if base == "oracle" else self._bench.grounds.start()
        with self._bench.open(image) as slot:
            found = read_nodes(slot.get([path], limit_bytes=256 << 20))
        return {
            name: node
            for name, node in found.items()
            if node.kind in ("file", "link") and len(node.data) <= limit_bytes
        }

    def judge(
        self, probe: Probe, perturbation: Perturbation | None = None, *, is_cold: bool = False
    ) -> Judgement:
        """See the protocol."""

        def judge() -> Judgement:
            settled = self._settled()
            ways = self._ways(probe, settled, is_cold=is_cold)
            return self._judge(probe, perturbation or _STILL, ways, settled.full)

        return _without_exceptions(judge)

    def judge_alone(self, probe: Probe) -> Judgement:
        """A cold judgement on a probe of the start state, the oracle left alone: a reward of 1 passes."""
        return _without_exceptions(
            lambda: self._judge(probe, _STILL, self._start_ways(is_live=probe.is_live), 1.0)
        )

    def notes(self) -> tuple[str, ...]:
        """How probes are run, and what of the task isn't done here, one sentence each."""
        told = [f"not done here: {extra}" for extra in self.task.extras]
        # Only of what was found out: an audit that was interrupted asks too, and nothing may be run then.
        settled, warm = self._settled.peek(), self._warm.peek()
        told += _notes_of(settled) if settled is not None else []
        told += warm.notes if warm is not None else ()
        return tuple(told)

    def stop(self) -> None:
        """See `aespec.sandbox.api.Stoppable`."""
        if isinstance(self._sandbox, Stoppable):
            self._sandbox.stop()

    # --- what is found out first -------------------------------------------------------------------------

    def _settle(self) -> Settled:
        self._bench.grounds.start()
        if self.task.solution is None:
            return Settled(None, is_live=False, full=1.0)
        self._say("running the solution")
        fault = self._fault_of_solving()
        ways = replace(self._cold(is_live=False), wants_difference=True)
        try:
            seen = self._bench.run(ORACLE, _STILL, ways)
        except SandboxError as error:
            return Settled(None, is_live=False, full=1.0, fault=error)
        judgement = self._read(seen, ways)
        if judgement.reward is None or judgement.reward < 1.0:
            live = self._try_live(judgement)
            if live is not None:
                return live
        full = full_reward(judgement)
        self._installed = seen.difference
        return Settled(_regraded(judgement, full), is_live=False, full=full, fault=fault)

    def _try_live(self, frozen: Judgement) -> Settled | None:
        """Whether the solution does better as long as what it started runs on; None where it doesn't."""
        if self.task.mode == "separate" and not self.task.collect:
            return None
        if self._bench.solved.peek() is not None and self._bench.solved().is_late:
            return None  # it would run into its limit again
        ways = replace(self._cold(is_live=True), wants_difference=True)
        try:
            seen = self._bench.run(ORACLE, _STILL, ways)
        except SandboxError:
            return None
        live = self._read(seen, ways)
        if live.reward is None or (frozen.reward is not None and live.reward <= frozen.reward):
            return None
        full = full_reward(live)
        self._bench.take_live_solution()
        fault = self._fault_of_solving()
        self._installed = seen.difference
        return Settled(_regraded(live, full), is_live=True, full=full, fault=fault, left=seen.left)

    def _fault_of_solving(self) -> SandboxError | None:
        """Why the solution's end state isn't to be had, None where it is."""
        try:
            self._bench.solved()
        except SandboxError as fault:
            return fault
        return None

    def _warm_up(self) -> Warm:
        """What the verifier installs for itself is kept where oracle and nop are judged the same with it."""
        settled = self._settled()
        cold = self._cold(is_live=settled.is_live)
        plain = Warm(cold.start, cold.oracle, cold.verifier, cold.has_network)
        if settled.oracle is None or not settled.oracle.is_passed:
            return plain
        self._say("looking what the verifier needs")
        seen = self._bench.run(NOP, _STILL, replace(cold, wants_difference=True))
        nop = self._read(seen, cold)
        layers = self._layers(settled, seen.difference)
        candidates = [replace(layers, has_network=False)]
        if cold.has_network and layers.notes:
            candidates.append(layers)
        if not cold.has_network and not layers.notes:
            return plain
        for candidate in candidates:
            ways = self._over(candidate, settled)
            judged = [self._read(self._bench.run(probe, _STILL, ways), ways) for probe in (ORACLE, NOP)]
            if [_signature(item) for item in judged] == [_signature(settled.oracle), _signature(nop)]:
                complains = any(misses_network(item.output) for item in judged)
                return replace(_with_network_note(candidate, declared=cold.has_network), complains=complains)
        return plain

    def _layers(self, settled: Settled, of_nop: Difference | None) -> Warm:
        """The images with what the verifier installed in them laid over; `notes` say what, if anything."""
        grounds, outputs = self._bench.grounds, self._outputs()
        of_oracle, self._installed = self._installed, None  # large, and not needed any more
        if self.task.mode == "separate":
            verifier = grounds.verifier()
            layer = _warm(of_oracle, outputs)
            frozen = self._frozen(verifier, layer)
            return Warm(grounds.start(), self._oracle_image(settled), frozen, True, _layer_notes(layer))
        over_start = _warm(of_nop, outputs)
        start = self._frozen(grounds.start(), over_start)
        oracle = self._oracle_image(settled)
        over_oracle = None
        if oracle is not None:
            over_oracle = _warm(of_oracle, outputs)
            oracle = self._frozen(oracle, over_oracle)
        return Warm(start, oracle, None, True, _layer_notes(over_start or over_oracle))

    def _frozen(self, image: Image, layer: Difference | None) -> Image:
        return image if layer is None else self._sandbox.freeze(image, layer)

    def _outputs(self) -> tuple[str, ...]:
        try:
            changes = self._changes()
        except SandboxError:
            return ()
        return (*changes.after, *changes.too_large)

    # --- ways --------------------------------------------------------------------------------------------

    def _cold(self, *, is_live: bool) -> Ways:
        oracle = None
        if self.task.solution is not None and not is_live:
            with contextlib.suppress(SandboxError):
                oracle = self._bench.solved().image
        return replace(self._start_ways(is_live=is_live), oracle=oracle)

    def _start_ways(self, *, is_live: bool) -> Ways:
        network = self.task.network
        has_network = network.get("verifier", True) or (is_live and network.get("agent", True))
        return self._bench.plain_ways(is_live=is_live, has_network=has_network)

    def _oracle_image(self, settled: Settled) -> Image | None:
        return None if settled.is_live or settled.fault is not None else self._bench.solved().image

    def _over(self, warm: Warm, settled: Settled) -> Ways:
        """The ways of a probe that isn't cold."""
        declared = self._cold(is_live=settled.is_live).has_network
        took = settled.oracle.seconds if settled.oracle is not None else {}
        session = took.get("session", 0.0)
        patience = max(PATIENCE_AT_LEAST_S, PATIENCE * (took.get("verify", 0.0) + session))
        solving = self._bench.solved().seconds if settled.fault is None else took.get("agent", 0.0)
        acted = max(PATIENCE_AT_LEAST_S, PATIENCE * (solving + session))
        return Ways(
            warm.start,
            warm.oracle,
            warm.verifier,
            settled.is_live,
            warm.has_network,
            min(self.task.agent_timeout_s, acted),
            min(self.task.verifier_timeout_s, patience),
            {} if warm.has_network else _OFFLINE,
            is_new_to_offline=declared and not warm.has_network and not warm.complains,
        )

    def _ways(self, probe: Probe, settled: Settled, *, is_cold: bool) -> Ways:
        if probe.base != "start":
            if self.task.solution is None:
                raise SandboxError("the task has no solution", boundary="oracle")
            if settled.oracle is None and settled.fault is not None:
                raise settled.fault
        is_live = probe.is_live or (settled.is_live and probe.base != "start")
        if is_cold or settled.oracle is None or not settled.oracle.is_passed:
            return self._cold(is_live=is_live)
        ways = self._over(self._warm(), settled)
        return replace(ways, is_live=is_live)

    # --- judging -----------------------------------------------------------------------------------------

    def _judge(self, probe: Probe, shift: Perturbation, ways: Ways, full: float) -> Judgement:
        judgement = self._read(self._bench.run(probe, shift, ways), ways, full)
        if ways.is_new_to_offline and not judgement.is_passed and misses_network(judgement.output):
            ways = replace(ways, has_network=True, is_new_to_offline=False, env={})
            judgement = self._read(self._bench.run(probe, shift, ways), ways, full)
        return judgement

    def _read(self, seen: Seen, ways: Ways, full: float = 1.0) -> Judgement:
        return judgement_of(
            seen,
            full=full,
            timeout_s=ways.verifier_timeout_s,
            is_shortened=ways.verifier_timeout_s < self.task.verifier_timeout_s,
            wants_network=ways.has_network,
            lent_bytes=self._bench.grounds.lent_bytes,
        )

    def _read_changes(self) -> Changes:
        solved = self._bench.solved()

        def read_start(paths: Sequence[str]) -> dict[str, Node]:
            with self._bench.open(self._bench.grounds.start()) as slot:
                return acting.nodes_at(slot, paths)

        return read_changes(solved.difference, read_start)


def open_harness(
    task: ForeignTask,
    sandbox: Builder,
    *,
    progress: Callable[[str], None] | None = None,
    image_map: Mapping[str, str] | None = None,
) -> ForeignHarness:
    """The harness of a task. Nothing is built or run before something is asked of it.

    `image_map` takes the name of a prebuilt image to one that is to be had here; what a Dockerfile starts
    from is the sandbox's own to map.
    """
    return ForeignHarness(task, sandbox, image_map or {}, progress)


def _without_exceptions(judge: Callable[[], Judgement]) -> Judgement:
    """The judgement, or an error in its form."""
    try:
        return judge()
    except SandboxError as fault:
        return _lost(fault.boundary, explain_fault(fault))
    except EditError as fault:
        return _lost("spec", f"the probe doesn't fit: {fault}")
    except OSError as fault:
        return _lost("sandbox", f"the machine: {fault}")


def _lost(boundary: str, message: str) -> Judgement:
    return Judgement("error", boundary=boundary, message=message)


def _regraded(judgement: Judgement, full: float) -> Judgement:
    """The oracle's own judgement once it is known what it gets: a reward below 1 may be all there is."""
    if judgement.outcome == "fail" and judgement.reward is not None and judgement.reward >= full:
        return replace(judgement, outcome="pass")
    return judgement


def _signature(judgement: Judgement) -> tuple[object, ...]:
    return judgement.outcome, judgement.reward, tuple(sorted(judgement.rewards.items())), judgement.failed


def _warm(difference: Difference | None, outputs: tuple[str, ...]) -> Difference | None:
    return warm_layer(difference, outputs) if difference is not None else None


def _layer_notes(layer: Difference | None) -> tuple[str, ...]:
    if layer is None:
        return ()
    files = sum(node.kind != "folder" for node in read_nodes(layer.archive).values())
    what = f"{counted(files, 'file')}, {max(1, len(layer.archive) >> 20)} MiB"
    return (f"probes stand on what the verifier installed in its first run ({what}); cold ones don't",)


def _with_network_note(warm: Warm, *, declared: bool) -> Warm:
    if declared and not warm.has_network:
        note = "the verifier gives the same verdicts without the network, so only cold probes have it"
        return replace(warm, notes=(*warm.notes, note))
    return warm


def _notes_of(settled: Settled) -> list[str]:
    told: list[str] = []
    if settled.is_live:
        left = ", ".join(sorted(set(settled.left))[:5]) or "processes"
        told.append(
            f"the solution passes only while what it started lives on ({left}): each probe runs it afresh, "
            "and the verifier in the same session"
        )
    if settled.fault is not None:
        told.append(f"the solution's end state can't be frozen ({settled.fault}): it is run afresh each time")
    if settled.full < 1.0:
        told.append(f"the solution gets {settled.full:g}, not 1: that counts as the full reward")
    return told
