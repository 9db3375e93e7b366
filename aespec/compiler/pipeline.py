"""Read, parse, resolve, check; then plan. Every phase gives its value or None, and what it has to say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aespec.bundle.lock import lock_path, read_lock
from aespec.diagnostics.diagnostic import Diagnostic
from aespec.model.lock import Lock
from aespec.model.task import CheckedTask
from aespec.resolve import resolve
from aespec.rules import check
from aespec.source import Source
from aespec.syntax import parse, read_source

if TYPE_CHECKING:
    from aespec.bundle.plan import BundlePlan
    from aespec.model.instance import Instance
    from aespec.targets import TargetOptions


def load(path: Path, lock: Lock | None = None) -> tuple[CheckedTask | None, tuple[Diagnostic, ...]]:
    """The checked task of a spec, and all diagnostics; None where one of them is an error.

    Without `lock`, the one beside the spec is taken, if there is one.
    """
    source, found = read_source(path)
    if source is None:
        return None, found
    if lock is None:
        lock, more = read_lock(lock_path(path))
        found += more
    task, more = load_text(source, lock)
    found += more
    return (None if any(item.is_error for item in found) else task), found


def load_text(source: Source, lock: Lock | None = None) -> tuple[CheckedTask | None, tuple[Diagnostic, ...]]:
    """The same for a text that was read already."""
    tree, found = parse(source)
    if any(item.is_error for item in found):
        return None, found
    task, more = resolve(tree)
    found += more
    if task is None or any(item.is_error for item in found):
        return None, found
    checked, more = check(task, lock)
    return checked, found + more


def compile_instance(
    checked: CheckedTask, instance: Instance, target: str = "harbor", options: TargetOptions | None = None
) -> tuple[BundlePlan | None, tuple[Diagnostic, ...]]:
    """The plan of a bundle. Pure; LookupError for a target that isn't there."""
    from aespec import targets

    return targets.find(target).plan(checked, instance, options or targets.TargetOptions())
