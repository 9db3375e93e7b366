"""What all measures of one certification share: the subjects, the bench, and what was found so far."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

from aespec.bundle.plan import Bundle
from aespec.fuzz.bench import Acting, Bench, Rung
from aespec.fuzz.certificate import Finding
from aespec.fuzz.decisions import Decisions
from aespec.fuzz.locked import Locked
from aespec.fuzz.states import changed_files
from aespec.fuzz.subject import Subject
from aespec.trial import NOP, ORACLE, EndState, TrialResult


@dataclass(frozen=True, slots=True)
class Repeats:
    """How often things are run. The numbers are those of what "certified" means."""

    oracle: int = 20
    reference: int = 3
    stable: int = 59
    nop: int = 3
    extra_instances: int = 6


@dataclass(slots=True)
class Study:
    """One certification at work. `target` is the path that replay commands name."""

    subjects: tuple[Subject, ...]
    bench: Bench
    fast: Rung
    reference: Rung
    target: str
    repeats: Repeats = field(default_factory=Repeats)
    locked: Locked = field(default_factory=Locked)
    findings: list[Finding] = field(default_factory=list)
    decisions: Decisions = field(default_factory=Decisions)
    _oracles: dict[int, EndState] = field(default_factory=dict)
    _starts: dict[int, EndState] = field(default_factory=dict)

    @property
    def first(self) -> Subject:
        """The instance that long series are run on."""
        return self.subjects[0]

    def oracle(self, subject: Subject) -> EndState:
        """The oracle's end state on an instance, collected once."""
        if subject.seed not in self._oracles:
            self._collect([subject])
        return self._oracles[subject.seed]

    def start(self, subject: Subject) -> EndState:
        """The start state's artifacts of an instance, collected once."""
        if subject.seed not in self._starts:
            self._collect([subject])
        return self._starts[subject.seed]

    def outputs(self, subject: Subject) -> tuple[str, ...]:
        """The files that the oracle makes or changes on an instance."""
        return changed_files(self.start(subject), self.oracle(subject))

    def collect_all(self) -> None:
        """Collect start and oracle states of all subjects at once, in parallel."""
        self._collect(self.subjects)

    def report(
        self,
        slug: str,
        severity: str,
        name: str,
        message: str,
        subject: Subject | None = None,
        agent: str = "",
        *,
        may_be_allowed: bool = True,
    ) -> bool:
        """Add a finding, unless the spec decided on it by `allow`; whether it stands.

        `agent` makes its replay command a trial, else it is the certification itself. `may_be_allowed` is for
        what is no matter of decision though others of its slug are.
        """
        command = f"aespec certify {shlex.quote(self.target)}"
        if agent:
            command = f"aespec trial {shlex.quote(self.target)} --agent {shlex.quote(agent)}"
            if subject is not None and not Path(self.target).is_dir():
                command += f" --instance {subject.seed}"
        finding = Finding(slug, severity, name, message, command)
        if may_be_allowed and self.decisions.take(finding):
            return False
        if finding not in self.findings:
            self.findings.append(finding)
        return True

    def report_trouble(self, name: str, result: TrialResult, subject: Subject) -> None:
        """A finding for a trial that came to no verdict."""
        message = f"{result.agent} on {subject.name}: no verdict ({result.boundary}): {result.message}"
        agent = result.agent if not result.agent.startswith(("policy:", "oracle of")) else "oracle"
        self.report("no-verdict", "error", name, message, subject, agent)

    def _collect(self, subjects: tuple[Subject, ...] | list[Subject]) -> None:
        jobs = [
            Acting(subject.bundle, agent, self.fast)
            for subject in subjects
            for agent in (NOP, ORACLE)
            if subject.seed not in (self._starts if agent is NOP else self._oracles)
        ]
        for job, state in zip(jobs, self.bench.act(jobs), strict=True):
            seed = _seed_of(job.bundle, subjects)
            (self._starts if job.agent is NOP else self._oracles)[seed] = state


def _seed_of(bundle: Bundle, subjects: tuple[Subject, ...] | list[Subject]) -> int:
    return next(subject.seed for subject in subjects if subject.bundle is bundle)
