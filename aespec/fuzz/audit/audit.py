"""The audit of one task: gates first, then what blind policies, cheats, mutants and variants get."""

from __future__ import annotations

import datetime as dt
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from aespec import __version__
from aespec.bundle.foreign import Fault, ForeignTask, read_foreign
from aespec.fuzz.audit import blind, canned, channel, complete, gates, hidden, reading, services, sound
from aespec.fuzz.audit.inquiry import Inquiry
from aespec.fuzz.audit.memory import Memory
from aespec.fuzz.audit.outputs import look_at_outputs
from aespec.fuzz.audit.prober import Budget, Prober
from aespec.fuzz.bench import cold
from aespec.fuzz.certificate import PROPERTIES, Certificate, Finding, Property, certificate_to_json
from aespec.fuzz.certify import tool_digest
from aespec.fuzz.cost import Meter
from aespec.model.expressions import Json
from aespec.model.json_text import json_digest
from aespec.resources import cache_folder
from aespec.runtime.wording import counted
from aespec.sandbox.api import Builder
from aespec.trial.foreign import open_harness
from aespec.trial.probe import Harness

PYTEST_BUDGET_S = 120.0
OTHER_BUDGET_S = 60.0
"""CPU seconds that an audit may take after the images are made, unless it is told another budget."""

OUT_OF_TIME = "time: the budget ran out"
ONE_INSTANCE = "a family: the task is one instance"


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """What an audit is asked for.

    `budget_s` are CPU seconds after the images are made (None: 120 for a verifier that runs pytest, else 60),
    `probes` a number of probes. `seed` chooses what is drawn. `folder` takes the counterexamples, else they
    lie in the cache. `cache` holds what an interrupted audit had found out. `deliver` is given the audit when
    it is made: what was found out is forgotten only after that.
    """

    budget_s: float | None = None
    probes: int | None = None
    seed: int = 0
    workers: int | None = None
    folder: Path | None = None
    cache: Path | None = None
    image_map: Mapping[str, str] = field(default_factory=dict)
    progress: Callable[[str], None] | None = field(default=None, compare=False)
    deliver: Callable[[Audit], None] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Audit:
    """The certificate of a task that somebody else wrote, and beside it what only an audit has.

    `sensitivity` tells for each output and each of its fields how often a change was noticed; `notes` how it
    was measured; `is_partial` that it was interrupted or ran out of its budget, `is_interrupted` the former.
    """

    certificate: Certificate
    sensitivity: tuple[Mapping[str, Json], ...] = ()
    notes: tuple[str, ...] = ()
    is_partial: bool = False
    is_interrupted: bool = False


PHASES: tuple[tuple[str, float, Callable[[Inquiry, int], None]], ...] = (
    ("blind policies", 0.2, blind.try_policies),
    ("services", 0.2, services.try_services),
    ("visible cases", 0.2, canned.try_visible_cases),
    ("cheats", 0.4, channel.try_cheats),
    ("mutants", 0.7, sound.try_mutants),
    ("variants", 0.8, complete.try_variants),
    ("leaks", 1.0, hidden.try_leaks),
)
"""After the gates, in order, each with the part of what is left that it may spend."""


def audit(
    path: Path, sandbox: Builder, *, reference: Builder | None = None, options: AuditOptions | None = None
) -> Audit:
    """The audit of a task folder. What is wrong with the folder or the machine is a finding, no exception.

    `reference` is the engine: what is reported as an error is judged there again, from the task's own images.
    An interruption (Ctrl-C) ends it with what was found by then.
    """
    options = options or AuditOptions()
    meter = Meter()
    task, faults = read_foreign(path)
    if task is None:
        return _delivered(_unreadable(path, faults, meter), options)
    harness = open_harness(task, sandbox, progress=options.progress, image_map=options.image_map)
    second = open_harness(task, reference, image_map=options.image_map) if reference is not None else None
    return examine(
        task, harness, reference=second, faults=faults, target=str(path), options=options, meter=meter
    )


def examine(
    task: ForeignTask,
    harness: NotingHarness,
    *,
    reference: Harness | None = None,
    faults: Sequence[Fault] = (),
    target: str = "",
    options: AuditOptions | None = None,
    meter: Meter | None = None,
) -> Audit:
    """The audit of a task that was read, by a harness of it; see `audit`."""
    options = options or AuditOptions()
    meter = meter or Meter()
    key = json_digest([task.digest, harness.name, __version__, tool_digest(), options.seed])[:32]
    folder = (options.cache or cache_folder() / "fuzz") / key
    prober = Prober(harness, Memory(folder), Budget(), workers=options.workers, progress=options.progress)
    inquiry = Inquiry(task, prober, target or str(task.path), options.folder or folder / "counterexamples")
    inquiry.replay_options = "".join(
        f" --image-map {shlex.quote(f'{public}={local}')}" for public, local in options.image_map.items()
    )
    if prober.resumed:
        prober.say(f"going on after an earlier run: {counted(prober.resumed, 'verdict')} are there")
    if reference is not None:
        inquiry.reference = Prober(reference, Memory(None), Budget(), workers=1)
    for fault in faults:
        inquiry.report(fault.slug, "advice", "builds", _with_help(fault))
    found: dict[str, Property] = {}
    is_interrupted = False
    try:
        _measure(inquiry, options, found)
    except KeyboardInterrupt:
        is_interrupted = True
        inquiry.notes.append("it was interrupted: what stands here was found by then")
    found.update(inquiry.properties)
    is_partial = is_interrupted or prober.has_run_out
    if prober.has_run_out:
        inquiry.notes.append("the budget ran out before everything was tried; --budget gives more")
    inquiry.notes.extend(harness.notes())
    made = Audit(
        _assemble(inquiry, found, options, meter),
        tuple(inquiry.sensitivity),
        tuple(dict.fromkeys(inquiry.notes)),
        is_partial,
        is_interrupted,
    )
    _delivered(made, options)
    if not is_partial:
        prober.forget()
    return made


def _delivered(made: Audit, options: AuditOptions) -> Audit:
    if options.deliver is not None:
        options.deliver(made)
    return made


class NotingHarness(Harness, Protocol):
    """A harness that can tell how it runs probes."""

    def notes(self) -> tuple[str, ...]:
        """What was decided, a sentence each."""
        ...


def _measure(inquiry: Inquiry, options: AuditOptions, found: dict[str, Property]) -> None:
    """Fill `found` as the phases end; raises KeyboardInterrupt with what is there by then."""
    reading.report_signs(inquiry)
    found["builds"] = gates.measure_builds(inquiry)
    if found["builds"].verdict != "holds":
        return
    found["solvable"] = gates.measure_solvable(inquiry)
    found["nop-fails"] = gates.measure_nop(inquiry)
    if gates.is_hopeless(inquiry):
        inquiry.notes.append("all that was tried ran into the task's limits of time: nothing more was tried")
        return
    limit = options.budget_s
    if limit is None:
        limit = PYTEST_BUDGET_S if reading.runs_pytest(inquiry.task) else OTHER_BUDGET_S
    budget = Budget(limit if options.probes is None or options.budget_s is not None else None, options.probes)
    inquiry.prober.budget = budget
    has_oracle = found["solvable"].verdict in ("holds", "flaky")
    if has_oracle:
        with budget.share(0.15):
            found["stable"] = gates.measure_stable(inquiry)
        look_at_outputs(inquiry)
        inquiry.services = services.look_at_services(inquiry)
    inquiry.properties.update(found)
    for name, part, run in PHASES:
        if not inquiry.can_change and name in ("mutants", "variants"):
            continue
        inquiry.prober.say(name)
        with budget.share(part):
            run(inquiry, options.seed)


def _assemble(
    inquiry: Inquiry, found: Mapping[str, Property], options: AuditOptions, meter: Meter
) -> Certificate:
    task = inquiry.task
    executions = dict(inquiry.prober.executions)
    if inquiry.reference is not None:
        executions |= dict(inquiry.reference.executions)
    reference = inquiry.reference.harness.name if inquiry.reference else cold(inquiry.prober.harness.name)
    return Certificate(
        task=task.name,
        properties=tuple(
            found.get(name) or _open(name, found, can_change=inquiry.can_change) for name in PROPERTIES
        ),
        findings=inquiry.ranked(),
        trust={"mode": task.mode, "level": channel.trust_level(task), "reference": reference},
        digests=_digests(task.digest),
        seeds={"family": options.seed, "instances": []},
        instances=1,
        environment={
            "sandbox": inquiry.prober.harness.name,
            "tier": None,
            "reference": reference,
            "is_reproducible": None,
        },
        cost=meter.cost(executions),
        made_on=dt.datetime.now(tz=dt.UTC).date().isoformat(),
    )


def _open(name: str, found: Mapping[str, Property], *, can_change: bool = True) -> Property:
    """A property that wasn't measured, with what it would take."""
    missing = {
        "family": ONE_INSTANCE,
        "guess-resistant": "the types of the answers: only a spec has them",
        "stated": "what the author meant: only a spec says it",
    }.get(name, OUT_OF_TIME)
    builds = found.get("builds")
    solvable = found.get("solvable")
    if builds is not None and builds.verdict != "holds":
        missing = builds.missing or "an image that can be built"
    elif name in ("stable", "sound", "complete") and solvable is not None:
        if solvable.verdict not in ("holds", "flaky"):
            missing = "a solution that passes"
        elif name != "stable" and "stable" in found and not can_change:
            missing = "files of the solution whose change reaches the verdict"
    return Property(name, "not-measured", missing=missing)


def _unreadable(path: Path, faults: Sequence[Fault], meter: Meter) -> Audit:
    """The audit of a folder that is no task, or none that can be run."""
    findings = tuple(
        Finding(
            fault.slug,
            "error" if fault.is_fatal else "advice",
            "builds",
            _with_help(fault),
            f"aespec fuzz {path}",
        )
        for fault in faults
    )
    evidence = tuple(fault.message for fault in faults if fault.is_fatal)
    first = Property("builds", "violated", 1, 1, evidence)
    properties = (first, *(_open(name, {"builds": first}) for name in PROPERTIES[1:]))
    certificate = Certificate(
        task=path.resolve().name,
        properties=properties,
        findings=findings,
        digests=_digests(""),
        seeds={"family": 0, "instances": []},
        environment={"sandbox": None, "tier": None, "reference": None, "is_reproducible": None},
        trust={"mode": None, "level": None, "reference": None},
        cost=meter.cost({}),
        made_on=dt.datetime.now(tz=dt.UTC).date().isoformat(),
    )
    return Audit(certificate)


def _digests(task: str) -> dict[str, Json]:
    """What the audit rests on: the folder's digest in the place of a bundle's."""
    return {
        "spec": None,
        "lock": None,
        "bundles": [task] if task else [],
        "images": {},
        "tool": f"aespec {__version__}",
        "operators": tool_digest(),
    }


def _with_help(fault: Fault) -> str:
    return fault.message + (f" ({fault.help})" if fault.help else "")


def audit_to_json(audit: Audit) -> dict[str, Json]:
    """The certificate's form, and beside it `sensitivity`, `notes` and `is_partial`."""
    return {
        **certificate_to_json(audit.certificate),
        "sensitivity": [dict(row) for row in audit.sensitivity],
        "notes": list(audit.notes),
        "is_partial": audit.is_partial,
    }
