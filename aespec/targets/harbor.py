"""The target `harbor`: a task folder for Harbor (schema 1.4), judged in a container of its own.

The bundle stays in what most readers of the format share: one step, one container, no privileges, both reward
files. What crosses from the agent's container to the verifier's are the declared artifacts alone.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from aespec import __version__
from aespec.bundle.artifacts import choose_artifacts, is_carriable
from aespec.bundle.claims import PlannedCheck, PlannedClaim, claims_of, plan_checks
from aespec.bundle.dockerfile import LAYERS_AT_MOST, layer_count, render_dockerfile
from aespec.bundle.examples import PlannedScript, examples_to_json, plan_script
from aespec.bundle.faults import Faults
from aespec.bundle.instruction import render_instruction, stated_values
from aespec.bundle.lock import lock_digest
from aespec.bundle.manifest import recipes_to_json
from aespec.bundle.places import RECIPES_PATH
from aespec.bundle.plan import BundlePlan, PlannedFile
from aespec.bundle.quoting import UnquotableError
from aespec.bundle.recipe import Packages, Recipe
from aespec.bundle.render import render_template
from aespec.bundle.setup import SetupPlan, plan_setup
from aespec.bundle.start import baseline_of, known_start
from aespec.bundle.verifier import VerifierPlan, checks_to_json, plan_verifier
from aespec.diagnostics.diagnostic import Diagnostic
from aespec.model.expressions import Json, Kind
from aespec.model.instance import Instance
from aespec.model.json_text import write_json
from aespec.model.packages import is_exact
from aespec.model.paths import is_below
from aespec.model.task import CheckedTask, Task
from aespec.predicates import find, laws
from aespec.predicates.arguments import named_misfits
from aespec.predicates.shipping import shipped_files
from aespec.targets.api import NETWORKS, TargetOptions

NAME = "harbor"

CARRIES = ("bytes", "program")
"""Needs of predicates that a separate verifier can meet: files cross, and programs among them can be run."""


def plan(
    task: CheckedTask, instance: Instance, options: TargetOptions
) -> tuple[BundlePlan | None, tuple[Diagnostic, ...]]:
    """All files of the bundle of an instance. Pure: equal arguments give equal bytes on every machine."""
    faults = Faults()
    try:
        bundle = _Harbor(task, instance, options, faults).plan()
    except UnquotableError as error:
        # A value that has its own diagnostic can't be written either: that is no second fault.
        if not faults.has_errors:
            faults.error("value-unquotable", f"a value can't stand in the bundle's files: {error}", task.span)
        return None, faults.diagnostics
    return (None if faults.has_errors else bundle), faults.diagnostics


class _Harbor:
    """One planning: what several files are made from is computed once."""

    def __init__(self, task: Task, instance: Instance, options: TargetOptions, faults: Faults) -> None:
        self.task, self.instance, self.options, self.faults = task, instance, options, faults

    def plan(self) -> BundlePlan | None:
        """The bundle; None where the checks themselves make no sense."""
        task, instance, options, faults = self.task, self.instance, self.options, self.faults
        self._refuse_what_is_missing()
        checks = plan_checks(task, instance.values, faults)
        claims = list(claims_of(checks))
        setup = plan_setup(task, instance, options.lock, options.images, faults)
        if not self._are_sound(claims):
            # What makes no sense can be neither told nor judged, so there is nothing to plan on.
            return None
        self._refuse_needs(claims)
        artifacts = self._artifacts(claims)
        baseline = self._baseline(claims, setup, artifacts)
        verifier = plan_verifier(
            task,
            instance,
            checks_to_json(task, instance, checks, baseline),
            _library(frozenset(claim.predicate for claim in claims)),
            options.lock,
            options.images,
            faults,
        )
        self._refuse_layers(setup)
        oracle = plan_script(task.step.oracle, instance.values, faults)
        files = self._files(checks, setup, verifier, artifacts, oracle)
        return BundlePlan(
            name=self._name(),
            target=NAME,
            files=dict(sorted(files.items())),
            manifest=self._manifest(checks, artifacts, (setup.recipe, verifier.recipe)),
            environment=setup.recipe,
            verifier=verifier.recipe,
        )

    def _name(self) -> str:
        """Instances of one task need names of their own to lie beside each other."""
        if self.options.name:
            return self.options.name
        return f"{self.task.name}-{self.instance.seed}" if self.instance.seed else self.task.name

    def _refuse_what_is_missing(self) -> None:
        for twin in self.task.step.verify.twins:
            self.faults.error(
                "target-lacks-twin",
                f"no target can run the twin {twin.name} yet",
                twin.span,
                help="Leave it out; give a `function` or `command` check more cases instead.",
            )
        if self.options.network not in NETWORKS:
            self.faults.error(
                "network-option", f"{self.options.network!r} is none of {', '.join(NETWORKS)}", None
            )

    def _refuse_needs(self, claims: Sequence[PlannedClaim]) -> None:
        for claim in claims:
            for need in laws(claim.predicate).needs(claim.args):
                if need not in CARRIES:
                    self.faults.error(
                        "target-lacks-need",
                        f"{claim.predicate} needs a {need}, which the target {NAME} can't carry",
                        claim.span,
                        why="A separate verifier gets the bytes of declared files and nothing else.",
                        help="Claim it on files. A target for live containers is yet to come.",
                    )

    def _are_sound(self, claims: Sequence[PlannedClaim]) -> bool:
        """Whether the arguments, as evaluated, are of their kinds and make sense together."""
        is_sound = True
        for claim in claims:
            found = find(claim.predicate)
            wrong = tuple(named_misfits(found.signature, claim.args)) if found is not None else ()
            for name, fault in wrong:
                is_sound = False
                self.faults.error(
                    "wrong-type",
                    f"{claim.predicate}: {fault}",
                    claim.places.get(name, claim.span),
                    why="The value was computed, and it is of another type than the argument.",
                    help="Let the program emit a value of that type, or compare by another argument.",
                )
            for fault in () if wrong else laws(claim.predicate).faults(claim.args):
                is_sound = False
                self.faults.error("claim-fault", f"{claim.predicate}: {fault}", claim.span)
        return is_sound

    def _refuse_layers(self, setup: SetupPlan) -> None:
        count = layer_count(setup.recipe)
        if count > LAYERS_AT_MOST:
            self.faults.error(
                "too-many-layers",
                f"the start state takes {count} layers of an image, and {LAYERS_AT_MOST} are the most",
                self.task.span,
                help="Put the files below the working folder, or make them by one `generate` of a folder.",
            )

    def _artifacts(self, claims: Sequence[PlannedClaim]) -> tuple[str, ...]:
        workdir = self.task.setup.workdir
        reads = [
            (path, claim.span)
            for claim in claims
            for path in laws(claim.predicate).reads(claim.args)
            # What is to stay as it is but can't be carried has a message of its own, from the baseline.
            if claim.predicate != "unchanged" or is_below(path, workdir) or is_carriable(path)
        ]
        # A program may look at anything beside it, whatever its arguments name.
        reads += [
            (workdir, claim.span)
            for claim in claims
            if "program" in laws(claim.predicate).needs(claim.args) and is_carriable(workdir)
        ]
        wanted = [
            (self.faults.render(text, self.instance.values), text.span)
            for text in self.task.step.verify.artifacts
        ]
        return choose_artifacts(reads, wanted, workdir, self.faults)

    def _baseline(
        self, claims: Sequence[PlannedClaim], setup: SetupPlan, artifacts: Sequence[str]
    ) -> dict[str, Json]:
        start = known_start(self.task, self.instance, setup.repositories)
        scopes = []
        freed = [self.faults.render(free.leaf, self.instance.values) for free in self.task.step.verify.frees]
        read = []
        for claim in claims:
            # What a claim judges by its path may change, or the claim had no point. What a command merely
            # runs may not: else to run the tests would be to give them away.
            path = claim.args.get("path")
            if isinstance(path, str) and claim.predicate == "unchanged":
                scopes.append((claim, path))
            elif isinstance(path, str):
                read.append(path.partition("#")[0])
        repositories = setup.repositories.values()
        return baseline_of(scopes, start, read, freed, artifacts, repositories, self.faults)

    def _files(
        self,
        checks: Sequence[PlannedCheck],
        setup: SetupPlan,
        verifier: VerifierPlan,
        artifacts: Sequence[str],
        oracle: PlannedScript,
    ) -> dict[str, PlannedFile]:
        values = self.instance.values
        is_open = self._is_open()
        start = known_start(self.task, self.instance, setup.repositories)
        instruction = render_instruction(self.task, values, checks, self.faults, start.files)
        examples = examples_to_json(self.task, self.instance.seed, values, checks, self.faults)
        spec = self.faults.encodable(self.task.source.text, self.task.span)
        files = {
            "task.toml": _text(self._task_toml(artifacts)),
            "instruction.md": _text(instruction),
            "environment/Dockerfile": _text(render_dockerfile(setup.recipe)),
            "environment/docker-compose.yaml": self._compose(is_offline=not is_open),
            "tests/Dockerfile": _text(render_dockerfile(verifier.recipe)),
            "tests/docker-compose.yaml": self._compose(is_offline=True),
            "solution/solve.sh": PlannedFile(
                render_template(
                    "harbor/solve.sh.j2", workdir=self.task.setup.workdir, interpreter=oracle.interpreter
                ).encode(),
                0o755,
            ),
            f"solution/oracle.{'py' if oracle.interpreter == 'python' else 'sh'}": _text(oracle.text),
            "aespec/spec.aes": _text(spec),
            "aespec/values.json": PlannedFile(write_json(_values_to_json(self.instance))),
            "aespec/examples.json": PlannedFile(write_json(examples)),
            RECIPES_PATH: PlannedFile(write_json(dict(recipes_to_json(setup.recipe, verifier.recipe)))),
        }
        files.update({f"{setup.recipe.context}/{path}": file for path, file in setup.files.items()})
        files.update({f"{verifier.recipe.context}/{path}": file for path, file in verifier.files.items()})
        return files

    def _compose(self, *, is_offline: bool) -> PlannedFile:
        is_ours = self.options.network == "compose" and is_offline
        return _text(render_template("harbor/docker-compose.yaml.j2", is_offline=is_ours))

    def _is_open(self) -> bool:
        """Whether the agent's container needs a network under Compose, which knows only all or nothing."""
        network, agent = self.task.limits.network, self.options.agent_network
        if self.options.network == "compose" and not (isinstance(network, str) and isinstance(agent, str)):
            self.faults.warning(
                "network-not-held",
                "a list of hosts isn't held: the agent's container gets the whole network",
                self.task.span,
                why="Compose can take the network away or leave it, but not restrict it to hosts.",
                help="Compile with the network option `harbor`, where images can be pulled from a registry.",
            )
        return network != "none" or agent != "task"

    def _task_toml(self, artifacts: Sequence[str]) -> str:
        task, limits = self.task, self.task.limits
        by_harbor = self.options.network == "harbor"
        agent = self.options.agent_network
        return render_template(
            "harbor/task.toml.j2",
            name=f"{self.options.org}/{self._name()}",
            description=task.title or task.name,
            keywords=list(dict.fromkeys([task.domain, task.meta.difficulty, *task.meta.tags])),
            authors=list(task.meta.authors),
            metadata=self._metadata(),
            artifacts=list(artifacts),
            agent_time_s=limits.agent_time_s,
            agent_user=task.setup.agent,
            agent_network=_network(agent) if by_harbor and agent != "task" else None,
            verify_time_s=limits.verify_time_s,
            build_time_s=limits.build_time_s,
            cpus=int(limits.cpu) if float(limits.cpu).is_integer() else limits.cpu,
            memory_mb=math.ceil(limits.memory_bytes / 1024**2),
            storage_mb=math.ceil(limits.disk_bytes / 1024**2),
            is_by_harbor=by_harbor,
            network=_network(limits.network) if by_harbor else {"mode": "public", "hosts": []},
        )

    def _metadata(self) -> list[tuple[str, Any]]:
        meta = self.task.meta
        pairs: list[tuple[str, Any]] = [
            ("category", meta.category or self.task.domain),
            ("difficulty", meta.difficulty),
            ("domain", self.task.domain),
            ("expert_time_s", meta.expert_time_s),
            ("instance", self.instance.digest),
            ("license", meta.license),
            ("seed", self.instance.seed),
            ("source", meta.source),
            ("tags", list(meta.tags)),
        ]
        return [(key, value) for key, value in pairs if value not in ("", None, [])]

    def _manifest(
        self, checks: Sequence[PlannedCheck], artifacts: Sequence[str], recipes: Sequence[Recipe]
    ) -> dict[str, Json]:
        lock = self.options.lock
        needs = {need for claim in claims_of(checks) for need in laws(claim.predicate).needs(claim.args)}
        return {
            "schema": 1,
            "tool": {"name": "aespec", "version": __version__},
            "name": self._name(),
            "task": self.task.name,
            "title": self.task.title,
            "domain": self.task.domain,
            "target": NAME,
            "instance": {
                "digest": self.instance.digest,
                "seed": self.instance.seed,
                "params": dict(self.instance.params),
            },
            "digests": {
                "spec": hashlib.sha256(self.task.source.text.encode(errors="replace")).hexdigest(),
                "lock": lock_digest(lock) if lock is not None else None,
                "instance": self.instance.digest,
            },
            "artifacts": list(artifacts),
            "needs": [*sorted(needs)],
            "trust": "separate",
            "stated": list(stated_values(self.task, self.instance.values, checks)),
            "planted": [*sorted({item.secret for item in self.instance.planted})],
            "allowed": [{"slug": item.slug, "because": item.because} for item in self.task.allows],
            "is_pinned": all(map(_is_pinned, recipes)),
        }


def _is_pinned(recipe: Recipe) -> bool:
    """Whether every build of an image gets the same base and the same packages."""
    steps = [step for step in recipe.steps if isinstance(step, Packages)]
    return "@sha256:" in recipe.base and all(
        is_exact(name, step.manager) for step in steps for name in step.names
    )


@lru_cache(maxsize=64)
def _library(predicates: frozenset[str]) -> Mapping[str, bytes]:
    """What ships, read once for each set of predicates: instances of a task share it."""
    return MappingProxyType(shipped_files(predicates))


def _network(network: str | tuple[str, ...]) -> dict[str, Any]:
    """Harbor's words for a network."""
    if isinstance(network, str):
        return {"mode": {"none": "no-network", "open": "public"}[network], "hosts": []}
    return {"mode": "allowlist", "hosts": list(network)}


def _values_to_json(instance: Instance) -> dict[str, Json]:
    """The form of `values.schema.json`."""
    tables: dict[str, dict[str, Json]] = {kind: {} for kind in ("let", "hidden", "answer", "secret")}
    for (kind, name), value in instance.values.items():
        if kind is not Kind.PARAM:
            tables[kind.value][name] = value
    return {"schema": 1, "params": dict(instance.params), **tables}


def _text(text: str) -> PlannedFile:
    return PlannedFile(text.encode(errors="replace"))
