"""Certification of a spec: compile instances, measure each property on the bundles, write it all down."""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from aespec import __version__
from aespec.bundle.disk import write
from aespec.bundle.lock import lock_digest, lock_path, read_lock
from aespec.bundle.plan import Bundle
from aespec.compiler import compile_instance, load
from aespec.diagnostics.diagnostic import Diagnostic
from aespec.evaluate import ProgramRunner, evaluate, iterate_seeds
from aespec.fuzz.bench import Bench, BudgetSpentError, Prepared, Rung, cold
from aespec.fuzz.certificate import PROPERTIES, Certificate, Finding, Property
from aespec.fuzz.cost import Meter
from aespec.fuzz.decisions import read_decisions
from aespec.fuzz.journal import Journal
from aespec.fuzz.locked import Locked, find_lock
from aespec.fuzz.properties import (
    builds,
    complete,
    family,
    later,
    leak_free,
    nop_fails,
    solvable,
    sound,
    stable,
    stated,
)
from aespec.fuzz.study import Repeats, Study
from aespec.fuzz.subject import Subject, read_subject
from aespec.model.expressions import Json
from aespec.model.json_text import json_digest
from aespec.model.lock import Lock
from aespec.model.task import CheckedTask
from aespec.resources import cache_folder
from aespec.runtime.wording import counted
from aespec.sandbox.api import Sandbox, SandboxError
from aespec.scratch import scratch_folder
from aespec.targets import TargetOptions
from aespec.trial import BundleError
from aespec.trial.acting import prepare_environment
from aespec.trial.judging import prepare_verifier


@dataclass(frozen=True, slots=True)
class CertifyOptions:
    """What a certification is asked for.

    `budget_s` stops it with what was found by then. `folder` keeps the compiled bundles (else they are
    temporary). `cache` holds the journal of a run that was killed. `only` names the properties to measure;
    the others are then not measured. Without `wants_reference` no engine was asked for, which the certificate
    says. `repeats` may be lowered in tests only: the certificate prints counts. `deliver` gets the
    certificate of what was run before the journal is forgotten: where it raises, the same run goes on there.
    """

    instances: int = 5
    seed: int = 0
    budget_s: float | None = None
    workers: int | None = None
    target: str = "harbor"
    target_options: TargetOptions = field(default_factory=TargetOptions)
    folder: Path | None = None
    cache: Path | None = None
    only: tuple[str, ...] = PROPERTIES
    wants_reference: bool = True
    repeats: Repeats = field(default_factory=Repeats)
    progress: Callable[[str], None] | None = field(default=None, compare=False)
    deliver: Callable[[Certificate], None] | None = field(default=None, compare=False)


def certify(
    path: Path,
    sandbox: Sandbox,
    *,
    reference: Sandbox | None = None,
    options: CertifyOptions | None = None,
) -> tuple[Certificate, tuple[Diagnostic, ...]]:
    """The certificate of a spec, and what the static tools say about it.

    `reference` is the engine where there is one; without it the unmodified test.sh in a cold slot of
    `sandbox` stands in, and the certificate names it. A spec that doesn't compile gets a certificate too,
    whose property *builds* is violated. Trouble of the machine is a finding, never an exception.
    """
    options = options or CertifyOptions()
    meter = Meter()
    lock, found = read_lock(lock_path(path))
    task, more = load(path, lock)
    found = (*found, *(item for item in more if item not in found))
    if task is None:
        return _refused(path.name.removesuffix(".aes"), path, found, options, meter), found
    with contextlib.ExitStack() as stack:
        folder = options.folder or stack.enter_context(scratch_folder("certify"))
        compiler = _Compiler(task, sandbox, lock, options, folder)
        try:
            bundles = list(islice(compiler.bundles(), options.instances))
        except (SandboxError, BundleError, OSError) as fault:
            return _broken(task.name, path, fault, options, meter), found
        found = (*found, *(item for item in compiler.diagnostics if item not in found))
        if len(bundles) < options.instances:
            return _refused(task.name, path, found, options, meter), found
        certificate = certify_bundles(
            bundles,
            sandbox,
            reference=reference,
            options=options,
            target=str(path),
            draw=compiler.draw,
            meter=meter,
            locked=find_lock(task, lock, sandbox, options.progress),
        )
        return certificate, found


def certify_bundles(
    bundles: Sequence[Bundle],
    sandbox: Sandbox,
    *,
    reference: Sandbox | None = None,
    options: CertifyOptions | None = None,
    target: str = "",
    draw: Callable[[], Bundle | None] | None = None,
    meter: Meter | None = None,
    locked: Locked | None = None,
) -> Certificate:
    """The certificate of bundles that are instances of one task; `draw` gives a further one, where it can.

    `locked` is what their images are made of, where that is known.
    """
    options = options or CertifyOptions()
    meter = meter or Meter()
    fast = Rung(sandbox.name, Prepared(sandbox))
    slow = Rung(reference.name, Prepared(reference)) if reference else Rung(cold(sandbox.name), fast.sandbox)
    journal = Journal(_journal_folder(bundles, (fast, slow), options))
    bench = Bench(
        journal,
        workers=options.workers,
        deadline=meter.started + options.budget_s if options.budget_s is not None else None,
        progress=options.progress,
    )
    if journal.resumed:
        bench.say(f"going on after an earlier run: it left {counted(journal.resumed, 'result')}")
    try:
        subjects = tuple(read_subject(bundle) for bundle in bundles)
    except BundleError as fault:
        return _broken(bundles[0].name, bundles[0].path, fault, options, meter)
    study = Study(
        subjects, bench, fast, slow, target or str(bundles[0].path), options.repeats, locked or Locked()
    )
    study.decisions = read_decisions(bundles[0].manifest)
    try:
        properties = _measure(study, _drawer(draw), options.only)
    except KeyboardInterrupt as interrupt:
        if journal.kept and journal.folder is not None:
            interrupt.add_note(
                f"{journal.kept} finished runs are kept in {journal.folder}; the same command goes on there"
            )
        raise
    _report_idle_decisions(study, properties)
    properties = study.decisions.tell(properties)
    certificate = _assemble(study, properties, options, meter, has_reference=reference is not None)
    if options.deliver is not None:
        options.deliver(certificate)
    if not any(item.missing == OUT_OF_TIME for item in properties):
        journal.finish()
    return certificate


def _report_idle_decisions(study: Study, properties: Sequence[Property]) -> None:
    for slug, name in study.decisions.idle(properties):
        message = f"`allow({slug})` has nothing to allow on these instances"
        study.report("unused-allow", "advice", name, message)


OUT_OF_TIME = "time: the budget ran out"

RESTS_ON_ORACLE = ("stable", "nop-fails", "sound", "complete", "guess-resistant", "unforgeable", "family")
"""What says nothing of a verifier that nothing passes."""


def _fails_everywhere(item: Property) -> bool:
    return item.name == "solvable" and 0 < item.tried == item.bad


def _measure(
    study: Study, draw: Callable[[], Subject | None], only: Sequence[str] = PROPERTIES
) -> tuple[Property, ...]:
    """Every property in its order; one that can't go on for lack of time says so."""
    measures: dict[str, Callable[[], Property]] = {
        "builds": lambda: builds.measure(study),
        "solvable": lambda: solvable.measure(study),
        "stable": lambda: stable.measure(study),
        "nop-fails": lambda: nop_fails.measure(study),
        "sound": lambda: sound.measure(study, draw),
        "complete": lambda: complete.measure(study),
        "guess-resistant": lambda: later.measure_guessing(study),
        "unforgeable": lambda: later.measure_cheats(study),
        "stated": lambda: stated.measure(study),
        "leak-free": lambda: leak_free.measure(study),
        "family": lambda: family.measure(study),
    }
    found: list[Property] = []
    for name in PROPERTIES:
        if name not in only:
            found.append(Property(name, "not-measured", missing="it was not asked for"))
            continue
        if found and found[0].verdict == "violated" and name != "stated":
            found.append(Property(name, "not-measured", missing="an image that can be built"))
            continue
        if name in RESTS_ON_ORACLE and any(_fails_everywhere(item) for item in found):
            found.append(Property(name, "not-measured", missing="an oracle that passes"))
            continue
        try:
            if name == "solvable":
                study.collect_all()
            found.append(measures[name]())
        except BudgetSpentError:
            found.append(Property(name, "inconclusive", missing=OUT_OF_TIME))
    return tuple(found)


class _Compiler:
    """Compiles one instance after the other into a folder."""

    def __init__(
        self, task: CheckedTask, sandbox: Sandbox, lock: Lock | None, options: CertifyOptions, folder: Path
    ) -> None:
        self._task = task
        self._runner = ProgramRunner(sandbox, lock=lock, progress=options.progress)
        self._options = replace(options.target_options, lock=lock)
        self._target = options.target
        self._folder = folder
        self._stream: Iterator[Bundle] | None = None
        self._seed = options.seed
        self.diagnostics: tuple[Diagnostic, ...] = ()

    def bundles(self) -> Iterator[Bundle]:
        """The bundles of the family, until one can't be made; then `diagnostics` says why."""
        if self._stream is None:
            self._stream = self._make()
        return self._stream

    def draw(self) -> Bundle | None:
        """A further instance, or None."""
        return next(self.bundles(), None)

    def _make(self) -> Iterator[Bundle]:
        for seed in iterate_seeds(self._seed):
            instance, found = evaluate(self._task, seed, self._runner)
            self._note(found)
            if instance is None:
                return
            plan, found = compile_instance(self._task, instance, self._target, self._options)
            self._note(found)
            if plan is None:
                return
            yield write(plan, self._folder / f"{self._task.name}-{seed}")

    def _note(self, found: tuple[Diagnostic, ...]) -> None:
        self.diagnostics += tuple(item for item in found if item not in self.diagnostics)


def _drawer(draw: Callable[[], Bundle | None] | None) -> Callable[[], Subject | None]:
    def further() -> Subject | None:
        bundle = draw() if draw is not None else None
        return read_subject(bundle) if bundle is not None else None

    return further


def _assemble(
    study: Study,
    properties: tuple[Property, ...],
    options: CertifyOptions,
    meter: Meter,
    *,
    has_reference: bool,
) -> Certificate:
    manifest = study.first.bundle.manifest
    told = manifest.get("digests")
    digests: dict[str, Json] = dict(told) if isinstance(told, dict) else {}
    abilities = study.fast.sandbox.abilities()
    images, is_reproducible = _images(study)
    reference = study.reference.name
    return Certificate(
        task=study.first.task,
        properties=properties,
        findings=tuple(study.findings),
        trust={"mode": manifest.get("trust"), "level": manifest.get("trust"), "reference": reference},
        digests={
            "spec": digests.get("spec"),
            "lock": lock_digest(study.locked.lock) if study.locked.lock else digests.get("lock"),
            "bundles": [subject.bundle.digest for subject in study.subjects],
            "images": images,
            "tool": f"aespec {__version__}",
            "operators": tool_digest(),
        },
        seeds={"family": options.seed, "instances": [subject.seed for subject in study.subjects]},
        instances=len(study.subjects),
        environment={
            "sandbox": study.fast.name,
            "tier": abilities.tier,
            "reference": reference if has_reference else _stand_in(study.fast, options),
            "is_reproducible": is_reproducible,
        },
        cost=meter.cost(dict(study.bench.executions)),
        made_on=dt.datetime.now(tz=dt.UTC).date().isoformat(),
    )


def _stand_in(rung: Rung, options: CertifyOptions) -> str:
    """What had the last word without a second backend, in words."""
    why = "no engine was to be had" if options.wants_reference else "an engine was not asked for"
    if rung.name == "docker":
        why = "it is the engine"
    return f"{cold(rung.name)} (the bundle's own test.sh in fresh slots; {why})"


def _images(study: Study) -> tuple[dict[str, Json], bool]:
    images: dict[str, Json] = {}
    is_reproducible = True
    for name, prepare in (("environment", prepare_environment), ("verifier", prepare_verifier)):
        try:
            image = prepare(study.first.bundle, study.fast.sandbox)
        except SandboxError:
            images[name] = None
            continue
        images[name] = image.digest
        is_reproducible = is_reproducible and image.is_reproducible
    return images, is_reproducible


def tool_digest() -> str:
    """The hex SHA-256 of what measures: this package's modules, operators, cheats, the predicates' laws."""
    here = Path(__file__).parent
    files = [
        *here.rglob("*.py"),
        *(here.parent / "predicates").glob("*.py"),
        *(here.parent / "operators").rglob("*.py"),
        *(here / "cheats").rglob("*.toml"),
        *(here / "cheats").rglob("*.sh"),
    ]
    digest = hashlib.sha256()
    for path in sorted(files, key=lambda path: path.relative_to(here.parent).as_posix()):
        digest.update(path.relative_to(here.parent).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _journal_folder(bundles: Sequence[Bundle], rungs: tuple[Rung, Rung], options: CertifyOptions) -> Path:
    what = [
        [bundle.digest for bundle in bundles],
        [rung.name for rung in rungs],
        __version__,
        tool_digest(),
        options.seed,
        os.uname().release,
    ]
    key = json_digest(what)
    return (options.cache or cache_folder() / "certify") / key[:32]


def _refused(
    name: str, path: Path, found: Sequence[Diagnostic], options: CertifyOptions, meter: Meter
) -> Certificate:
    """The certificate of a spec that doesn't compile."""
    errors = [item for item in found if item.is_error]
    findings = tuple(
        Finding(item.slug, "error", "builds", item.headline, f"aespec lint {path}") for item in errors
    )
    evidence = (f"{counted(len(errors), 'error')}: see `aespec lint`",)
    return _empty(name, Property("builds", "violated", 1, 1, evidence), findings, options, meter)


def _broken(name: str, path: Path, fault: Exception, options: CertifyOptions, meter: Meter) -> Certificate:
    """The certificate where the machine, not the spec, stands in the way."""
    remedy = getattr(fault, "remedy", "")
    message = f"{fault}" + (f" ({remedy})" if remedy else "")
    finding = Finding("no-sandbox", "error", "builds", message, f"aespec certify {path}")
    return _empty(name, Property("builds", "not-measured", missing=message), (finding,), options, meter)


def _empty(
    name: str, first: Property, findings: tuple[Finding, ...], options: CertifyOptions, meter: Meter
) -> Certificate:
    others = tuple(
        Property(item, "not-measured", missing="a bundle to measure it on") for item in PROPERTIES[1:]
    )
    return Certificate(
        task=name,
        properties=(first, *others),
        findings=findings,
        trust={"mode": None, "level": None, "reference": None},
        digests={
            "spec": None,
            "lock": None,
            "bundles": [],
            "images": {},
            "tool": f"aespec {__version__}",
            "operators": tool_digest(),
        },
        seeds={"family": options.seed, "instances": []},
        environment={"sandbox": None, "tier": None, "reference": None, "is_reproducible": None},
        cost=meter.cost({}),
        made_on=dt.datetime.now(tz=dt.UTC).date().isoformat(),
    )
