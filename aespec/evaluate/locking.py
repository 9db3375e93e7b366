"""The act of locking: what a spec's images are made of today, asked of the sandbox that builds them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Protocol, runtime_checkable

from aespec.bundle.faults import Faults
from aespec.bundle.recipe import Packages, Recipe
from aespec.bundle.setup import brings_python, package_steps
from aespec.evaluate.programs import EVALUATOR_BASE
from aespec.model.lock import Lock, LockedImage
from aespec.model.packages import package_name
from aespec.model.task import AssetStep, CheckedTask
from aespec.sandbox.api import Image, Outcome, Program, Sandbox, SandboxError, SandboxLimits
from aespec.scratch import scratch_folder

_LIMITS = SandboxLimits()
_QUERY_TIME_S = 60.0


@runtime_checkable
class KnowsRegistries(Protocol):
    """A sandbox that can tell under which digest a registry has an image."""

    def registry_digest(self, name: str) -> str | None:
        """`sha256:…` by which the image can be asked for by anyone, or None for a local image."""
        ...


def make_lock(
    task: CheckedTask,
    sandbox: Sandbox,
    *,
    today: date,
    progress: Callable[[str], None] | None = None,
) -> Lock:
    """Pin what a task's images are made of as of `today`: builds base and packages, and looks at what came.

    Versions that the spec writes itself are taken over as they are. Raises `SandboxError` where an image
    can't be built, or lacks what was installed in it.
    """
    images = _Images(sandbox, progress)
    base = task.setup.base
    packages = _packages(task)
    apt = {package_name(name) for step in packages if step.manager == "apt" for name in step.names}
    pip = {package_name(name) for step in packages if step.manager == "pip" for name in step.names}
    image = images.prepare(Recipe(base, tuple(packages), "environment"))
    evaluator = images.prepare(Recipe(EVALUATOR_BASE, (Packages("apt", ("python3",)),), "environment"))
    return Lock(
        spec=task.source.path.name if task.source.path else task.source.name,
        images={name: images.locked(name) for name in sorted({base.partition("@")[0], EVALUATOR_BASE})},
        apt=images.versions(image, apt, "apt") if apt else {},
        pip=images.versions(image, pip, "pip") if pip else {},
        assets=dict(sorted(_assets(task))),
        evaluator={
            "base": EVALUATOR_BASE,
            "digest": evaluator.digest,
            "python": images.python_version(evaluator),
        },
        made_on=today.isoformat(),
    )


def _packages(task: CheckedTask) -> list[Packages]:
    """What the agent's image and the verifier's have between them."""
    faults = Faults()
    steps = package_steps(task, None, faults, () if brings_python(task) else ("python3",))
    if faults.has_errors:
        raise SandboxError(faults.diagnostics[0].headline, faults.diagnostics[0].help, "spec")
    return steps


def _assets(task: CheckedTask) -> Iterator[tuple[str, str]]:
    for step in task.setup.file_steps:
        if isinstance(step, AssetStep):
            yield step.origin, hashlib.sha256(step.data).hexdigest()


class _Images:
    """The images of one locking, and questions to what is in them."""

    def __init__(self, sandbox: Sandbox, progress: Callable[[str], None] | None) -> None:
        self._sandbox = sandbox
        self._progress = progress

    def prepare(self, recipe: Recipe) -> Image:
        with scratch_folder("lock") as empty:
            return self._sandbox.prepare(recipe, empty, progress=self._progress)

    def locked(self, name: str) -> LockedImage:
        if isinstance(self._sandbox, KnowsRegistries):
            digest = self._sandbox.registry_digest(name)
            if digest is not None:
                return LockedImage(digest, "registry")
        image = self.prepare(Recipe(name, (), "environment"))
        if not image.is_reproducible:
            raise SandboxError(
                f"{name} can't be locked: this machine's own /usr stands in for it",
                f"start an engine that has {name}, install mmdebstrap, or `aespec images import {name} TAR`",
            )
        return LockedImage(image.digest, "engine" if self._sandbox.name == "docker" else "store")

    def versions(self, image: Image, names: set[str], manager: str) -> Mapping[str, str]:
        """The installed versions of the packages named."""
        if manager == "apt":
            form = "${binary:Package}=${Version}\n"
            text = self._ask(image, ("/usr/bin/dpkg-query", "-W", "-f", form))
            found = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
            # An architecture stands only behind a package that may be there in several.
            found = {**{name.partition(":")[0]: version for name, version in found.items()}, **found}
        else:
            text = self._ask(image, ("/usr/bin/env", "python3", "-m", "pip", "list", "--format=json"))
            found = {normalize(item["name"]): item["version"] for item in json.loads(text)}
        versions = {
            name: found.get(name if manager == "apt" else normalize(name), "") for name in sorted(names)
        }
        missing = [name for name, version in versions.items() if not version]
        if missing:
            raise SandboxError(
                f"{manager} has installed no {', '.join(missing)}",
                "Name packages and not what they provide: a virtual package has no version.",
                "spec",
            )
        return versions

    def python_version(self, image: Image) -> str:
        script = "import sys; print('.'.join(map(str, sys.version_info[:3])))"
        return self._ask(image, ("/usr/bin/env", "python3", "-I", "-c", script)).strip()

    def _ask(self, image: Image, argv: tuple[str, ...]) -> str:
        with self._sandbox.open(image, _LIMITS) as slot:
            outcome = slot.run(Program(argv=argv, timeout_s=_QUERY_TIME_S, output_limit_bytes=16 * 1024**2))
        _require_success(outcome, argv)
        return outcome.stdout.decode("utf-8", "replace")


def normalize(name: str) -> str:
    """A Python project's name in the one form in which two spellings are equal."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _require_success(outcome: Outcome, argv: tuple[str, ...]) -> None:
    if outcome.status != 0:
        said = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
        raise SandboxError(
            f"{argv[0]} failed in the image: {said[-1] if said else outcome.status}", boundary="image"
        )
