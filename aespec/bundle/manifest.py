"""The manifest: what a bundle is, which files it has, and the digest that identifies it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from aespec.bundle.places import MANIFEST_PATH
from aespec.bundle.plan import BundlePlan, PlannedFile
from aespec.bundle.recipe import AddUser, Copy, MakeFolder, Packages, Raw, Recipe, RecipeStep, Shell
from aespec.model.expressions import Json
from aespec.model.json_text import json_digest

SCHEMA = 1
"""The schema of manifest and recipes that is written; a reader refuses a newer one."""


def build_manifest(plan: BundlePlan) -> dict[str, Json]:
    """The whole manifest of a plan: its fields, the table of files, and the digest over both."""
    files = {path: file_entry(file) for path, file in plan.files.items() if path != MANIFEST_PATH}
    body: dict[str, Json] = {**plan.manifest, "files": dict(files)}
    return {**body, "digest": manifest_digest(body)}


def manifest_digest(manifest: Mapping[str, Json]) -> str:
    """The hex SHA-256 of the canonical JSON of a manifest without its `digest`: the bundle's identity."""
    body = {key: value for key, value in manifest.items() if key != "digest"}
    return json_digest(body)


def file_entry(file: PlannedFile) -> dict[str, Json]:
    """A row of the table of files: `sha256`, `size` in bytes, `mode` as permission bits."""
    return {"sha256": hashlib.sha256(file.data).hexdigest(), "size": len(file.data), "mode": file.mode}


def recipes_to_json(environment: Recipe, verifier: Recipe) -> dict[str, Json]:
    """The form of `recipes.schema.json`."""
    return {
        "schema": SCHEMA,
        "environment": recipe_to_json(environment),
        "verifier": recipe_to_json(verifier),
    }


def recipe_to_json(recipe: Recipe) -> dict[str, Json]:
    """One recipe, its steps as objects that name their kind."""
    return {
        "base": recipe.base,
        "context": recipe.context,
        "env": [[name, value] for name, value in recipe.env],
        "workdir": recipe.workdir,
        "user": recipe.user,
        "steps": [_step_to_json(step) for step in recipe.steps],
    }


def recipe_from_json(value: Json) -> Recipe:
    """The recipe of a JSON object. Raises ValueError for anything that is not one."""
    try:
        if not isinstance(value, dict):
            raise ValueError("a recipe is an object")
        steps, pairs = value["steps"], value["env"]
        if not isinstance(steps, list) or not isinstance(pairs, list):
            raise ValueError("`steps` and `env` are lists")
        return Recipe(
            base=_text(value["base"]),
            context=_text(value["context"]),
            workdir=_text(value["workdir"]),
            user=_text(value["user"]),
            env=tuple(_pair(pair) for pair in pairs),
            steps=tuple(_step_from_json(step) for step in steps),
        )
    except KeyError as missing:
        raise ValueError(f"a recipe lacks {missing.args[0]!r}") from None


def _step_to_json(step: RecipeStep) -> Json:
    if isinstance(step, Packages):
        return {"step": "packages", "manager": step.manager, "names": list(step.names)}
    if isinstance(step, AddUser):
        return {"step": "add-user", "name": step.name, "uid": step.uid, "home": step.home}
    if isinstance(step, Copy):
        return {
            "step": "copy",
            "source": step.source,
            "path": step.path,
            "mode": step.mode,
            "owner": step.owner,
        }
    if isinstance(step, MakeFolder):
        return {"step": "make-folder", "path": step.path, "mode": step.mode, "owner": step.owner}
    if isinstance(step, Shell):
        return {
            "step": "shell",
            "source": step.source,
            "user": step.user,
            "workdir": step.workdir,
            "has_network": step.has_network,
        }
    return {"step": "raw", "lines": step.lines}


def _step_from_json(value: Json) -> RecipeStep:
    if not isinstance(value, dict):
        raise ValueError("a step is an object")
    kind = value.get("step")
    if kind == "packages":
        names = value["names"]
        if not isinstance(names, list):
            raise ValueError("`names` is a list")
        return Packages(_text(value["manager"]), tuple(_text(name) for name in names))
    if kind == "add-user":
        return AddUser(_text(value["name"]), _integer(value["uid"]), _text(value["home"]))
    if kind == "copy":
        mode = _integer(value["mode"])
        return Copy(_text(value["source"]), _text(value["path"]), mode, _text(value["owner"]))
    if kind == "make-folder":
        return MakeFolder(_text(value["path"]), _integer(value["mode"]), _text(value["owner"]))
    if kind == "shell":
        has_network = value["has_network"] is True
        return Shell(_text(value["source"]), _text(value["user"]), _text(value["workdir"]), has_network)
    if kind == "raw":
        return Raw(_text(value["lines"]))
    raise ValueError(f"no step of a recipe is called {kind!r}")


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise ValueError(f"wanted a text, found {value!r}")
    return value


def _integer(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"wanted an integer, found {value!r}")
    return value


def _pair(value: Json) -> tuple[str, str]:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("a variable is a pair of texts")
    return _text(value[0]), _text(value[1])
