"""The start state as far as it is known before an image is built: which paths have which bytes."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterable, Mapping, Sequence

from aespec.bundle.claims import PlannedClaim
from aespec.bundle.faults import Faults
from aespec.bundle.repository import Repository
from aespec.model.expressions import Json
from aespec.model.instance import FixtureFile, Instance
from aespec.model.paths import is_below
from aespec.model.task import RunStep, Task
from aespec.predicates.unchanged import is_excepted, patterns_of
from aespec.records import dataclass
from aespec.runtime.wording import counted


@dataclass(frozen=True, slots=True)
class StartState:
    """Known files by absolute path; `is_whole` is False where build steps may have made or changed others."""

    files: Mapping[str, FixtureFile]
    is_whole: bool


def known_start(task: Task, instance: Instance, repositories: Mapping[int, Repository]) -> StartState:
    """The files that the plan puts there, later ones over earlier ones, repositories as checked out."""
    known: dict[str, FixtureFile] = {}
    for at, _ in enumerate(task.setup.steps):
        for file in instance.files:
            if file.step == at:
                known[file.path] = file
        repository = repositories.get(at)
        if repository is not None:
            for path, blob in repository.worktree.items():
                whole = posixpath.join(repository.path, path)
                known[whole] = FixtureFile(whole, blob.data, blob.mode, repository.owner, at)
        for planted in instance.planted:
            if planted.step == at and not planted.is_in_files:
                known.pop(planted.target, None)
    has_builds = any(isinstance(step, RunStep) for step in task.setup.steps)
    return StartState(known, not has_builds and task.setup.dockerfile is None)


def baseline_of(
    scopes: Iterable[tuple[PlannedClaim, str]],
    start: StartState,
    read: Iterable[str],
    freed: Iterable[str],
    artifacts: Sequence[str],
    repositories: Iterable[Repository],
    faults: Faults,
) -> dict[str, Json]:
    """The entries of `baseline` in checks.json for the paths that `unchanged` protects.

    Below a folder, files that another claim reads (`read`) are left out, and so is what a freedom names
    (`freed`: a leaf's address, a file, or a folder with all below it).
    """
    entries: dict[str, Json] = {}
    left_out = set(read)
    free = [address.partition("#")[0].rstrip("/") for address in freed]
    for claim, scope in scopes:
        path = scope.partition("#")[0].rstrip("/") or "/"
        if not any(is_below(path, artifact) for artifact in artifacts):
            _report_outside(path, claim, faults)
            continue
        found = {
            name: file
            for name, file in start.files.items()
            if name == path
            or (is_below(name, path) and name not in left_out and not any(is_below(name, it) for it in free))
        }
        if not found:
            _report_unknown(path, claim, faults)
        elif path not in found and not start.is_whole:
            faults.warning(
                "unchanged-partly-known",
                f"of what lies below {path} only {counted(len(found), 'file')} can be protected",
                claim.span,
                why="What build steps and the base image put there isn't known when the bundle is planned.",
                help="Name the files that must stay, or write them by `file` instead of by a build step.",
            )
        _refuse_unknown_below(path, claim, repositories, faults)
        for name, file in found.items():
            entries[name] = _entry(file)
            entries.update({folder: {"kind": "folder"} for folder in _folders_between(path, name)})
    return dict(sorted(entries.items()))


def _entry(file: FixtureFile) -> Json:
    return {"kind": "file", "sha256": hashlib.sha256(file.data).hexdigest(), "mode": file.mode}


def _folders_between(scope: str, path: str) -> list[str]:
    """The folders below the scope in which a file lies."""
    found = []
    folder = posixpath.dirname(path)
    while folder != scope and is_below(folder, scope):
        found.append(folder)
        folder = posixpath.dirname(folder)
    return found


def _refuse_unknown_below(
    path: str, claim: PlannedClaim, repositories: Iterable[Repository], faults: Faults
) -> None:
    """Where new files are forbidden, git's own must be excepted: their bytes aren't known."""
    if not claim.args.get("strict"):
        return
    for repository in repositories:
        folder = posixpath.join(repository.path, ".git")
        relative = folder.removeprefix(f"{path.rstrip('/')}/")
        if is_below(folder, path) and not is_excepted(relative, patterns_of(dict(claim.args))):
            faults.error(
                "unchanged-unknown-start",
                f"what {folder} holds at the start isn't known from the spec",
                claim.span,
                why="With `strict`, every file that isn't known would count as new.",
                help='Add `except = [".git"]`.',
            )


def _report_outside(path: str, claim: PlannedClaim, faults: Faults) -> None:
    faults.error(
        "unchanged-outside-artifacts",
        f"{path} isn't carried to the verifier, so nothing can be said about it",
        claim.span,
        why="In a separate verifier only the declared artifacts are the agent's; the rest is its own.",
        help="Protect a path below the working folder, or add it to `artifacts` in `verify`.",
    )


def _report_unknown(path: str, claim: PlannedClaim, faults: Faults) -> None:
    faults.error(
        "unchanged-unknown-start",
        f"what {path} holds at the start isn't known from the spec",
        claim.span,
        why="The baseline is taken from the files that the spec writes; others are not known.",
        help="Write the file by `file`, `generate`, `asset` or `repo`, or leave the claim out.",
    )
