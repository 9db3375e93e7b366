"""Everything that the phases of one audit share, and how they report what they find."""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aespec.bundle.foreign import ForeignTask
from aespec.fuzz.audit.prober import Prober, Request
from aespec.fuzz.audit.tracing import Trace
from aespec.fuzz.certificate import Finding, Property
from aespec.fuzz.cheats import TaskFacts
from aespec.model.edit import Edit
from aespec.model.expressions import Json
from aespec.model.json_text import json_digest, write_json_of_names
from aespec.operators.api import Scene
from aespec.trial.judging import Perturbation
from aespec.trial.probe import Changes, Judgement, Probe, probe_to_json

NOP = Probe("nop", base="start")
ORACLE = Probe("oracle", base="solution")
FROZEN = Probe("oracle's end state", base="oracle")
SEVERITIES = ("error", "warning", "advice")


@dataclass(frozen=True, slots=True)
class Services:
    """The TCP ports that the solution's processes listen on, and the script that starts them again.

    `restart` is "" where that doesn't work: then a change of a program's file would change nothing.
    """

    ports: tuple[int, ...] = ()
    restart: str = ""


@dataclass(slots=True)
class Inquiry:
    """One audit under way.

    `rank` orders findings of one severity, the likeliest first. `folder` takes the counterexamples; with none
    they aren't kept. `reference` is a second prober, on the engine, where there is one: what is reported as
    an error is judged there too. `services` are there where the verdict hangs on what the
    solution left running; `replay_options` are words of the command line
    without which a finding isn't seen again. `late` says of the first runs whether they took all their time.
    """

    task: ForeignTask
    prober: Prober
    target: str
    folder: Path | None = None
    reference: Prober | None = None
    findings: list[Finding] = field(default_factory=list)
    ranks: list[float] = field(default_factory=list)
    scene: Scene | None = None
    changes: Changes | None = None
    facts: TaskFacts | None = None
    trace: Trace | None = None
    services: Services | None = None
    properties: dict[str, Property] = field(default_factory=dict)
    sensitivity: list[Mapping[str, Json]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    replay_options: str = ""
    late: dict[str, bool] = field(default_factory=dict)

    def judge(
        self,
        probes: Sequence[Probe],
        *,
        number: int = 0,
        shift: Perturbation | None = None,
        is_cold: bool = False,
    ) -> list[Judgement | None]:
        """The verdicts on probes, None where the budget is spent."""
        return self.prober.judge([Request(probe, number, shift, is_cold) for probe in probes])

    @property
    def can_change(self) -> bool:
        """Whether changes of the solution's files reach the verdict: what runs must be started again."""
        return self.scene is not None and (self.services is None or bool(self.services.restart))

    def changed(self, name: str, edits: Sequence[Edit]) -> Probe:
        """The solution's end state with edits, its services started again over them."""
        if self.services is None:
            return Probe(name, "oracle", tuple(edits))
        return Probe(name, "oracle", tuple(edits), self.services.restart, is_live=True)

    def report(
        self,
        slug: str,
        severity: str,
        name: str,
        message: str,
        *,
        probe: Probe | None = None,
        difference: str = "",
        rank: float = 0.0,
    ) -> None:
        """Add a finding on the property `name`; a probe is written down as its counterexample."""
        path = self._keep(slug, probe, message, difference) if probe is not None else None
        agent = str(path or "")
        if probe is not None and probe in (NOP, ORACLE):
            agent = probe.name
        replay = f"aespec fuzz {shlex.quote(self.target)}"
        if agent:
            replay = f"aespec trial {shlex.quote(self.target)} --agent {shlex.quote(agent)}"
        replay += self.replay_options
        finding = Finding(
            slug, severity, name, message, replay, str(path) if path is not None else None, difference
        )
        if finding not in self.findings:
            self.findings.append(finding)
            self.ranks.append(rank)

    def ranked(self) -> tuple[Finding, ...]:
        """The findings, errors first, then by rank, then as they were found."""
        pairs = zip(self.findings, self.ranks, strict=True)
        ordered = sorted(pairs, key=lambda pair: (SEVERITIES.index(pair[0].severity), -pair[1]))
        return tuple(finding for finding, _ in ordered)

    def _keep(self, slug: str, probe: Probe, message: str, difference: str) -> Path | None:
        if self.folder is None or probe in (NOP, ORACLE):
            return None
        told = {
            "schema": 1,
            "task": self.task.name,
            "digest": self.task.digest,
            "says": message,
            "difference": difference,
            "probe": probe_to_json(probe),
        }
        path = self.folder / f"{slug}-{json_digest(told['probe'])[:8]}.json"
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(write_json_of_names(json.loads(json.dumps(told))))
            return path
        return None


def tell_fault(judgement: Judgement) -> str:
    """What kept a probe from a verdict, in one line."""
    return f"no verdict ({judgement.boundary or 'verifier'}): {judgement.message or 'no reason was given'}"
