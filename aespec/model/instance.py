"""One evaluated draw of a task: parameter values, computed values, and the bytes of the start state."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import field

from aespec.model.expressions import Json, Kind, Values
from aespec.model.json_text import json_digest
from aespec.records import dataclass


@dataclass(frozen=True, slots=True)
class FixtureFile:
    """A file of the start state whose bytes are known.

    `path` is absolute and normal (in `RepoFiles` it is relative to the repository, POSIX). `mode` are the
    permission bits, `owner` is an account's name with the defaults applied (never ""). `step` is the index in
    `setup.steps` of the step that makes it, so that a later file of the same path replaces an earlier one.
    """

    path: str
    data: bytes = field(repr=False)
    mode: int = 0o644
    owner: str = "root"
    step: int = 0


@dataclass(frozen=True, slots=True)
class RepoFiles:
    """The files that each commit of a `repo` puts: `commits[i]` belongs to `RepoStep.commits[i]`.

    `path` is the repository's absolute path, `owner` the account that it belongs to, `step` as in
    `FixtureFile`. Files of a commit belong to the repository's owner unless their `owner` (else "") says so.
    """

    path: str
    commits: tuple[tuple[FixtureFile, ...], ...]
    owner: str = "root"
    step: int = 0


@dataclass(frozen=True, slots=True)
class Planted:
    """A secret that setup puts somewhere to be found; `how` is `file`, `append` or `env`, `target` where.

    A `file`, and an `append` to a file whose bytes are known, stand in `Instance.files` too (under this
    `step`): copying those files in order is all that is left to do. `is_in_files` tells so. Where it is
    False, an `append` is to a file that a build step made: `value` and a line end are to be appended then.
    """

    secret: str
    value: str = field(repr=False)
    how: str
    target: str
    is_in_files: bool = False
    step: int = 0


@dataclass(frozen=True, slots=True)
class Instance:
    """A task with its parameter values, evaluated. Planning a bundle is a pure function of it.

    `values` holds every declaration by kind and name, parameters and secrets too. `files` holds what setup
    puts by `file`, `generate`, `asset` and `plant`, in the order of the steps; what a repository holds stands
    in `repos`.
    `digest` is the hex SHA-256 of the canonical JSON of all that (computed here, never given).
    `evaluator` names the root that the programs ran in ("" where there was no program), and `is_reproducible`
    is False where that root was the host's own.
    """

    task: str
    seed: int
    params: Mapping[str, Json]
    values: Values
    files: tuple[FixtureFile, ...] = ()
    repos: tuple[RepoFiles, ...] = ()
    planted: tuple[Planted, ...] = ()
    evaluator: str = field(default="", compare=False)
    is_reproducible: bool = field(default=True, compare=False)
    digest: str = field(default="", init=False)

    def __post_init__(self) -> None:
        """Compute the digest."""
        object.__setattr__(self, "digest", json_digest(_content(self)))

    def value(self, kind: Kind, name: str) -> Json:
        """The value of a declaration; KeyError where there is none of that name."""
        return self.values[(kind, name)]


def _content(instance: Instance) -> object:
    return {
        "task": instance.task,
        "seed": instance.seed,
        "values": {f"{kind.value}.{name}": value for (kind, name), value in instance.values.items()},
        "params": dict(instance.params),
        "files": [_file(item) for item in instance.files],
        "repos": [
            {
                "path": repo.path,
                "owner": repo.owner,
                "step": repo.step,
                "commits": [[_file(item) for item in commit] for commit in repo.commits],
            }
            for repo in instance.repos
        ],
        "planted": [[item.secret, item.how, item.target, item.step] for item in instance.planted],
    }


def _file(item: FixtureFile) -> list[object]:
    return [item.path, hashlib.sha256(item.data).hexdigest(), item.mode, item.owner, item.step]
