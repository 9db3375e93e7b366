"""One instance's bundle, with all that certification wants to know of it, read from the bundle itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aespec.bundle.plan import Bundle
from aespec.model.expressions import Json
from aespec.runtime.wording import counted
from aespec.trial import BundleError, Examples, read_examples
from aespec.trial.archives import files_below


@dataclass(frozen=True, slots=True)
class Subject:
    """One instance.

    `values` are by kind (`answer`, `secret`, …) and name; `checks` are as in checks.json; `context` holds
    what goes into the agent's image, by path relative to `environment/`; `hidden` the verifier's hidden
    files.
    """

    bundle: Bundle = field(repr=False)
    seed: int
    instruction: str = field(repr=False)
    values: Mapping[str, Mapping[str, Json]] = field(repr=False)
    examples: Examples = field(repr=False)
    checks: tuple[Mapping[str, Json], ...] = field(repr=False)
    checks_json: bytes = field(repr=False)
    context: Mapping[str, bytes] = field(repr=False)
    hidden: Mapping[str, bytes] = field(repr=False)

    @property
    def task(self) -> str:
        """The task's name."""
        return str(self.bundle.manifest.get("task", self.bundle.name))

    @property
    def name(self) -> str:
        """How this instance is called in evidence."""
        return f"instance {self.seed}"

    def stated(self) -> dict[str, str]:
        """What the instruction shows of values: name → text as it stands there."""
        told = self.bundle.manifest.get("stated")
        found: dict[str, str] = {}
        for item in told if isinstance(told, list) else []:
            if isinstance(item, dict):
                found[str(item.get("name"))] = str(item.get("text"))
            elif isinstance(item, str):
                found[item] = item
        return found


def name_all(subjects: Sequence[Subject]) -> str:
    """How several instances are called in one finding: the first by its name, the others by their number."""
    others = len({subject.seed for subject in subjects}) - 1
    return subjects[0].name + (f" and {counted(others, 'other')}" if others else "")


def read_subject(bundle: Bundle) -> Subject:
    """Everything of a bundle; raises `BundleError` where a part is missing or can't be read."""
    values = _object(bundle, "aespec/values.json")
    checks_json = _bytes(bundle, "tests/checks.json")
    checks = _object(bundle, "tests/checks.json").get("checks")
    instance = bundle.manifest.get("instance")
    seed = instance.get("seed") if isinstance(instance, dict) else 0
    tests = _folder(bundle.path / "tests")
    return Subject(
        bundle=bundle,
        seed=seed if isinstance(seed, int) else 0,
        instruction=_bytes(bundle, "instruction.md").decode("utf-8", "replace"),
        values={kind: table for kind, table in values.items() if isinstance(table, dict)},
        examples=read_examples(bundle),
        checks=tuple(item for item in checks if isinstance(item, dict)) if isinstance(checks, list) else (),
        checks_json=checks_json,
        context=_folder(bundle.path / bundle.environment.context),
        hidden=files_below(tests, "hidden"),
    )


def iterate_claims(condition: object) -> Iterator[Mapping[str, Json]]:
    """Every claim below a condition of checks.json."""
    if isinstance(condition, dict):
        if "predicate" in condition:
            yield condition
        for key in ("all", "any"):
            for item in condition.get(key) or ():
                yield from iterate_claims(item)
        if "not" in condition:
            yield from iterate_claims(condition["not"])


def claims_of(check: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    """Every claim of a check and of its rules."""
    yield from iterate_claims(check.get("when"))
    rules = check.get("rules")
    for rule in rules if isinstance(rules, list) else []:
        if isinstance(rule, dict):
            yield from iterate_claims(rule.get("when"))


def iterate_leaves(value: Json, path: str = "") -> Iterator[tuple[str, bool | int | float | str | None]]:
    """The leaves of a value with their place in it (keys are places, not leaves)."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from iterate_leaves(item, f"{path}/{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from iterate_leaves(item, f"{path}/{index}")
    else:
        yield path, value


def _bytes(bundle: Bundle, name: str) -> bytes:
    try:
        return (bundle.path / name).read_bytes()
    except OSError as fault:
        raise BundleError(f"{name} can't be read: {fault.strerror}") from None


def _object(bundle: Bundle, name: str) -> Mapping[str, Json]:
    try:
        told: Json = json.loads(_bytes(bundle, name))
    except (ValueError, RecursionError):
        raise BundleError(f"{name} is not JSON") from None
    if not isinstance(told, dict):
        raise BundleError(f"{name} is not an object")
    return told


def _folder(folder: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found
