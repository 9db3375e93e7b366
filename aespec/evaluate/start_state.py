"""The files of a start state whose bytes are known, assembled from the setup steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from aespec.bundle.repository import checked_out
from aespec.model.expressions import Kind, Text, Values
from aespec.model.instance import FixtureFile, Planted, RepoFiles
from aespec.model.paths import is_below
from aespec.model.quoting import write_plain
from aespec.model.rendering import render, value_of
from aespec.model.task import AssetStep, FileStep, GenerateStep, PlantStep, RepoStep, Setup

FileMaker: TypeAlias = FileStep | GenerateStep | AssetStep
Place: TypeAlias = tuple[int, int, int]
"""Where a file is made: index of the step, of the commit and of the file in it (both -1 outside a `repo`)."""


def iterate_makers(setup: Setup) -> list[tuple[Place, FileMaker]]:
    """Every step and every file of a commit that makes files with known bytes, in order."""
    found: list[tuple[Place, FileMaker]] = []
    for index, step in enumerate(setup.steps):
        if isinstance(step, FileStep | GenerateStep | AssetStep):
            found.append(((index, -1, -1), step))
        elif isinstance(step, RepoStep):
            for number, commit in enumerate(step.commits):
                for place, item in enumerate(commit.files):
                    found.append(((index, number, place), item))
    return found


def encode_text(text: str, newline: str, encoding: str) -> bytes:
    """A file's text in its own line ends and encoding; raises UnicodeError and LookupError."""
    if newline == "crlf":
        text = text.replace("\n", "\r\n")
    return text.encode(encoding)


def owner_of(path: str, owner: str, setup: Setup) -> str:
    """The account that a file belongs to; what lies below the workdir is the agent's by default."""
    if owner:
        return owner
    return setup.agent if is_below(path, setup.workdir) else "root"


def assemble(
    setup: Setup, made: Mapping[Place, Sequence[FixtureFile]], values: Values
) -> tuple[list[FixtureFile], list[RepoFiles], list[Planted]]:
    """Files, repositories and planted secrets of what is made so far; a step that isn't made is left out."""
    files: list[FixtureFile] = []
    repos: list[RepoFiles] = []
    planted: list[Planted] = []
    for index, step in enumerate(setup.steps):
        if isinstance(step, RepoStep):
            repos.append(_repo(index, step, setup, made, values))
        elif isinstance(step, PlantStep):
            item, file = _plant(index, step, setup, files, values)
            planted.append(item)
            if file is not None:
                files.append(file)
        else:
            files.extend(made.get((index, -1, -1), ()))
    return files, repos, planted


def _repo(
    index: int, step: RepoStep, setup: Setup, made: Mapping[Place, Sequence[FixtureFile]], values: Values
) -> RepoFiles:
    path = render(step.path, values)
    commits = []
    for number, commit in enumerate(step.commits):
        files: list[FixtureFile] = []
        for place in range(len(commit.files)):
            files.extend(made.get((index, number, place), ()))
        commits.append(tuple(files))
    return RepoFiles(path, tuple(commits), owner_of(path, step.owner, setup), index)


def _plant(
    index: int, step: PlantStep, setup: Setup, files: Sequence[FixtureFile], values: Values
) -> tuple[Planted, FixtureFile | None]:
    secret = write_plain(values[(Kind.SECRET, step.secret.name)])
    how = step.how.name
    target = str(value_of(step.how.args[0][1], values)) if step.how.args else ""
    item = Planted(step.secret.name, secret, how, target, step=index)
    if how == "file":
        file = FixtureFile(target, f"{secret}\n".encode(), 0o644, owner_of(target, "", setup), index)
        return replace(item, is_in_files=True), file
    before = next((file for file in reversed(files) if file.path == target), None)
    if how == "append" and before is not None:
        gap = b"" if not before.data or before.data.endswith(b"\n") else b"\n"
        data = before.data + gap + f"{secret}\n".encode()
        return replace(item, is_in_files=True), replace(before, data=data, step=index)
    return item, None


def start_files(
    setup: Setup, files: Sequence[FixtureFile], repos: Sequence[RepoFiles], values: Values
) -> dict[str, bytes]:
    """The known files by absolute path as a program sees them: the last writer of a path counts.

    Of a repository it is the tree of the branch that is checked out at the end. What a build step (`run`)
    makes or changes isn't known.
    """
    layers: dict[int, list[tuple[str, bytes]]] = {}
    for item in files:
        layers.setdefault(item.step, []).append((item.path, item.data))
    for repo in repos:
        step = setup.steps[repo.step]
        tree = checked_out(step, repo, values) if isinstance(step, RepoStep) else {}
        layers.setdefault(repo.step, []).extend(
            (f"{repo.path}/{name}", blob.data) for name, blob in tree.items()
        )
    found: dict[str, bytes] = {}
    for _, entries in sorted(layers.items(), key=lambda layer: layer[0]):
        found.update(entries)
    return found


def path_text(text: Text, values: Values) -> str | None:
    """A path with its references written in, or None while a value that it names isn't known."""
    try:
        return render(text, values)
    except LookupError:
        return None
