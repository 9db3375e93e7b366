"""A recipe rendered as a Dockerfile that both of Docker's builders, and podman, build to the same image.

Nothing of a spec stands in a `RUN` line but plain words: scripts are files of the context that are copied in,
run and removed. Copies are gathered so that an image stays far below the engine's limit of 127 layers.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from aespec.bundle.recipe import AddUser, Copy, MakeFolder, Packages, Raw, Recipe, RecipeStep, Shell
from aespec.bundle.render import render_template

SETUP_FOLDER = "/aespec-setup"
"""Where build scripts and what they need lie during the build; gone from the image when it is done."""

LAYERS_AT_MOST = 120
"""The engine's overlay driver takes 127 layers below a container; the base has some of its own."""

_CONTEXT_MODES = (0o644, 0o755)
_PORTION_BYTES = 24 * 1024
"""Builders read lines of 64 KiB, the kernel takes arguments of 128 KiB; a path stands up to three times."""


@lru_cache(maxsize=32)
def render_dockerfile(recipe: Recipe) -> str:
    """The Dockerfile of a recipe, for its context folder. Kept: instances share their verifier's."""
    return render_template(
        "harbor/Dockerfile.j2",
        base=recipe.base,
        steps=dockerfile_steps(recipe),
        workdir=recipe.workdir,
        user=recipe.user,
    )


def layer_count(recipe: Recipe) -> int:
    """About how many layers the Dockerfile adds to its base."""
    return sum({"shell": 3, "env": 0}.get(step["kind"], 1) for step in dockerfile_steps(recipe))


def dockerfile_steps(recipe: Recipe) -> list[dict[str, Any]]:
    """The instructions, in order, as the template takes them."""
    steps: list[dict[str, Any]] = []
    made: dict[str, str] = {}
    sources = [step.source for step in recipe.steps if isinstance(step, Copy | Shell)]
    fixtures = _fixtures_start(recipe.steps)
    for group in _groups(recipe.steps[:fixtures]):
        steps += _instructions(group, made, sources)
    if recipe.env:
        steps.append({"kind": "env", "pairs": list(recipe.env), "note": ""})
    for group in _groups(recipe.steps[fixtures:]):
        steps += _instructions(group, made, sources)
    if any(isinstance(step, Shell) for step in recipe.steps):
        steps.append({"kind": "clean", "note": ""})
    return steps


def _fixtures_start(steps: Sequence[RecipeStep]) -> int:
    """Variables come after what instances share: packages, accounts and the first folders."""
    for at, step in enumerate(steps):
        if not isinstance(step, Packages | AddUser | MakeFolder):
            return at
    return len(steps)


def _groups(steps: Sequence[RecipeStep]) -> Iterator[list[RecipeStep]]:
    """Runs of copies and folders, which share layers, and every other step by itself."""
    group: list[RecipeStep] = []
    for step in steps:
        if group and not (isinstance(step, Copy | MakeFolder) and isinstance(group[0], Copy | MakeFolder)):
            yield group
            group = []
        group.append(step)
    if group:
        yield group


def _instructions(
    group: list[RecipeStep], made: dict[str, str], sources: Sequence[str]
) -> list[dict[str, Any]]:
    first = group[0]
    if isinstance(first, Packages):
        return [{"kind": first.manager, "names": list(first.names), "note": ""}]
    if isinstance(first, AddUser):
        return [
            {"kind": "user", "name": first.name, "uid": str(first.uid), "home": first.home, "note": ""},
        ]
    if isinstance(first, Shell):
        script = posixpath.join(SETUP_FOLDER, posixpath.basename(first.source))
        fields = {"source": first.source, "script": script, "user": first.user, "workdir": first.workdir}
        return [{"kind": "shell", "note": "", **fields}]
    if isinstance(first, Raw):
        return [{"kind": "raw", "lines": first.lines.strip("\n"), "note": "the author's own lines"}]
    return _folders([step for step in group if isinstance(step, MakeFolder)], made) + _copies(
        [step for step in group if isinstance(step, Copy)], made, sources
    )


def _folders(folders: Sequence[MakeFolder], made: dict[str, str]) -> list[dict[str, Any]]:
    if not folders:
        return []
    entries = []
    for step in folders:
        made[step.path] = step.owner or "root"
        entries.append({"path": step.path, "owner": step.owner or "root", "mode": f"{step.mode:04o}"})
    return [{"kind": "folders", "entries": part, "note": ""} for part in _portions(entries)]


def _copies(copies: Sequence[Copy], made: dict[str, str], sources: Sequence[str]) -> list[dict[str, Any]]:
    """Whole folders where they are the recipe's own, else one instruction for each folder and owner."""
    steps: list[dict[str, Any]] = []
    rest = list(copies)
    for source, path in _whole_folders(copies, made, sources):
        inside = [step for step in rest if step.path.startswith(f"{path}/")]
        rest = [step for step in rest if step not in inside]
        steps.append(_copy([f"{source}/", f"{path}/"], inside[0].owner))
    by_place: dict[tuple[str, str], list[Copy]] = {}
    for step in rest:
        by_place.setdefault((posixpath.dirname(step.path), step.owner), []).append(step)
    for (folder, owner), group in by_place.items():
        same_name = [step for step in group if _keeps_name(step)]
        steps += [
            _copy([*(item["path"] for item in part), f"{folder.rstrip('/')}/"], owner)
            for part in _portions([{"path": step.source} for step in same_name])
        ]
        steps += [_copy([step.source, step.path], owner) for step in group if not _keeps_name(step)]
    return steps + _modes(copies)


def _keeps_name(step: Copy) -> bool:
    return posixpath.basename(step.source) == posixpath.basename(step.path)


def _copy(words: list[str], owner: str) -> dict[str, Any]:
    return {"kind": "copy", "words": words, "owner": owner, "note": ""}


def _modes(copies: Sequence[Copy]) -> list[dict[str, Any]]:
    """A context carries only whether a file can be run; other bits are set afterwards."""
    entries = [
        {"mode": f"{step.mode:04o}", "path": step.path} for step in copies if step.mode not in _CONTEXT_MODES
    ]
    return [{"kind": "modes", "entries": part, "note": ""} for part in _portions(entries)]


def _portions(entries: Sequence[dict[str, str]]) -> Iterator[list[dict[str, str]]]:
    """Entries in portions small enough for a line, by the length of their paths."""
    portion: list[dict[str, str]] = []
    size = 0
    for entry in entries:
        size += len(entry["path"]) + 12
        if portion and size > _PORTION_BYTES:
            yield portion
            portion, size = [], len(entry["path"]) + 12
        portion.append(entry)
    if portion:
        yield portion


def _whole_folders(
    copies: Sequence[Copy], made: dict[str, str], sources: Sequence[str]
) -> list[tuple[str, str]]:
    """Folders that the recipe made itself and fills, in one owner's name, from one folder of the context.

    Only these: the older builder gives every folder of a copied tree to the owner, and a folder of the base
    that happens to lie in it would change hands.
    """
    found: list[tuple[str, str]] = []
    for path, folder_owner in sorted(made.items()):
        if any(path.startswith(f"{outer}/") for _, outer in found):
            continue
        inside = [step for step in copies if step.path.startswith(f"{path}/")]
        source = _common_source(inside, path)
        owners = {step.owner or "root" for step in inside}
        if source is None or owners != {folder_owner} or len(inside) < 2:
            continue
        # What another step copies, perhaps later, must not come along.
        own = {step.source for step in inside}
        if any(other.startswith(f"{source}/") and other not in own for other in sources):
            continue
        below = {folder for folder in made if folder.startswith(f"{path}/")}
        if all(made[folder] == folder_owner for folder in below):
            found.append((source, path))
    return found


def _common_source(inside: Sequence[Copy], path: str) -> str | None:
    """The context's folder whose tree is the same as that below `path`, or None."""
    sources = {
        step.source.removesuffix(step.path.removeprefix(path))
        for step in inside
        if step.source.endswith(step.path.removeprefix(path))
    }
    if len(sources) != 1 or not all(step.source.endswith(step.path.removeprefix(path)) for step in inside):
        return None
    source = sources.pop()
    return source or None
