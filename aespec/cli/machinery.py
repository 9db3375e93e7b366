"""Options and objects of the commands that run something: sandboxes, evaluated instances, bundles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aespec.cli.console import Status, clear_progress, progress, warn_of_stand_in
from aespec.cli.specs import has_manifest, image_map, is_unreadable, report
from aespec.scratch import scratch_folder

if TYPE_CHECKING:
    from aespec.bundle.plan import Bundle
    from aespec.model.lock import Lock
    from aespec.model.task import CheckedTask
    from aespec.sandbox.api import Sandbox
    from aespec.targets import TargetOptions

SANDBOX = click.option(
    "--sandbox",
    type=click.Choice(["auto", "fork", "docker"]),
    default="auto",
    help="Where programs run; auto is the embedded sandbox, else Docker.",
)
IMAGE_MAP = click.option(
    "--image-map",
    "image_pairs",
    multiple=True,
    metavar="PUBLIC=LOCAL",
    help="Take LOCAL where a spec says PUBLIC (a mirror, or an image made here).",
)
SEED = click.option(
    "--seed", type=click.IntRange(min=0), default=0, help="Which family of instances is drawn."
)


def open_named(name: str, pairs: Sequence[str]) -> Sandbox:
    """The sandbox of an option's value, usable here. Raises SandboxError with the way out."""
    from aespec.sandbox import default_sandbox, open_sandbox
    from aespec.sandbox.api import SandboxError

    mapped = image_map(pairs)
    if name == "auto":
        return default_sandbox(image_map=mapped)
    sandbox = open_sandbox(name, image_map=mapped)
    abilities = sandbox.abilities()
    if not abilities.is_usable:
        failures = [f"{what}: {remedy}" for what, remedy in abilities.missing.items()]
        raise SandboxError(f"the sandbox '{name}' doesn't work here", "; ".join(failures))
    return sandbox


@dataclass(frozen=True, slots=True)
class Compiling:
    """How bundles are made from a spec: the sandbox that evaluates its programs, and the target's options.

    `tells_stand_in` is whether a base image that the host stood in for is told here, and not by the caller.
    """

    sandbox: Sandbox
    target: str = "harbor"
    pairs: tuple[str, ...] = ()
    org: str = "aespec"
    network: str = "compose"
    tells_stand_in: bool = False

    def options(self, lock: Lock | None) -> TargetOptions:
        """The target's options for a spec with this lock."""
        from aespec.targets import TargetOptions

        return TargetOptions(org=self.org, network=self.network, images=image_map(self.pairs), lock=lock)


class RefusedError(Exception):
    """A spec doesn't compile; its diagnostics were printed. `status` is what the command ends with."""

    def __init__(self, path: Path, status: Status = Status.FINDINGS) -> None:
        super().__init__(path)
        self.status = status


def load_spec(path: Path) -> CheckedTask:
    """The checked task of a spec; its diagnostics are printed. Raises RefusedError."""
    from aespec.compiler import load

    task, found = load(path)
    report([item for item in found if item.is_error or task is not None])
    if task is None:
        raise RefusedError(path, Status.INFRASTRUCTURE if is_unreadable(found) else Status.FINDINGS)
    return task


def compile_spec(
    path: Path, seeds: Sequence[int], compiling: Compiling, folder: Path, name: Callable[[str, int], str]
) -> Iterator[Bundle]:
    """The bundles of a spec's instances, written below `folder`.

    Raises RefusedError, SandboxError, BundleError.
    """
    from aespec.bundle import write
    from aespec.bundle.lock import lock_path, read_lock
    from aespec.compiler import compile_instance
    from aespec.evaluate import ProgramRunner, evaluate

    task = load_spec(path)
    lock, _found = read_lock(lock_path(path))
    runner = ProgramRunner(compiling.sandbox, lock=lock, progress=progress(str(path)))
    for seed in seeds:
        instance, found = evaluate(task, seed, runner)
        clear_progress()
        report(found)
        if instance is None:
            raise RefusedError(path)
        plan, found = compile_instance(task, instance, compiling.target, compiling.options(lock))
        report(found)
        if plan is None:
            raise RefusedError(path)
        if compiling.tells_stand_in and not instance.is_reproducible:
            warn_of_stand_in(f"{path}: its programs ran")
        yield write(plan, folder / name(task.name, seed))


@contextmanager
def one_bundle(path: Path, seed: int | None, compiling: Compiling) -> Iterator[Bundle]:
    """The bundle at a path, or the one of a spec's instance in a temporary folder.

    `seed` is the instance's own; None takes the first of the family with seed 0.
    """
    from aespec.bundle import open_bundle
    from aespec.evaluate import instance_seeds

    if has_manifest(path):
        if seed is not None:
            raise click.UsageError(f"{path} is a bundle: it has one instance, and --instance is for specs")
        yield open_bundle(path)
        return
    if path.is_dir():
        raise click.UsageError(f"{path} is neither a spec nor a bundle that aespec wrote")
    with scratch_folder("bundle") as folder:
        chosen = instance_seeds(0, 1)[0] if seed is None else seed
        yield next(compile_spec(path, [chosen], compiling, folder, lambda name, _: name))
