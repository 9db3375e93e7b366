"""A Harbor task folder that aespec did not write, as data: nothing of it has been run or built yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a task folder. One that `is_fatal` leaves nothing to run."""

    slug: str
    message: str
    help: str = ""
    is_fatal: bool = True


BUILD_TIMEOUT_S = 600.0
"""What a build may take where the task doesn't say: Harbor's own default."""


@dataclass(frozen=True, slots=True)
class Container:
    """How a container of a task comes about: from a Dockerfile and its context, or a prebuilt image.

    `dockerfile` is its text, `arguments` are the build's. `env` is set over the image's own; `workdir` "" is
    the image's own, `user` "" too. `build_timeout_s` is what all steps of a build together may take.
    """

    context: Path
    dockerfile: str | None = field(default=None, repr=False)
    image: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str = ""
    user: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    build_timeout_s: float = BUILD_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class Artifact:
    """What crosses to a separate verifier: an absolute path, and globs of what below it is left out."""

    path: str
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignTask:
    """One task. Times are seconds, sizes bytes; the folders are as they lie on disk, links refused.

    `layout` is `harbor` or `terminal-bench` (the older one); `schema` what its file says of itself.
    `mode` is `shared` (the verifier runs in the agent's container) or `separate`. `verifier` is the separate
    verifier's own container; None there stands for a copy of the agent's. `solution` is None where a task has
    none, else its folder, with `solution_script` in it. `tests` is the folder that goes to `/tests`, with
    `test_script` in it. `added` are files that don't lie in those folders as such, by absolute path in the
    container: the scripts of the older layout, whose `solution` is the task's own folder. What really goes to
    `/tests` and `/solution` is told by `read_tests` and `read_solution`, which mind all of this.
    `has_own_tests` is true where the separate verifier's image owns `/tests` itself and nothing is put there.
    `network` holds where the programs of `agent` and `verifier` may reach the network.
    `collect` are commands that run as root before artifacts are taken. `extras` names what the task asks for
    and aespec doesn't do (a sidecar, a health check, GPUs): each is told once.
    """

    path: Path
    name: str
    layout: str
    schema: str
    instruction: str = field(repr=False)
    environment: Container = field(repr=False)
    mode: str
    tests: Path
    test_script: str
    verifier: Container | None = field(default=None, repr=False)
    solution: Path | None = None
    solution_script: str = "solve.sh"
    solution_env: Mapping[str, str] = field(default_factory=dict)
    verifier_env: Mapping[str, str] = field(default_factory=dict)
    agent_user: str = ""
    verifier_user: str = ""
    agent_timeout_s: float = 900.0
    verifier_timeout_s: float = 600.0
    memory_bytes: int = 4 * 1024**3
    disk_bytes: int = 8 * 1024**3
    cpu: float = 2.0
    network: Mapping[str, bool] = field(default_factory=dict)
    artifacts: tuple[Artifact, ...] = ()
    collect: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    digest: str = ""
    added: Mapping[str, str] = field(default_factory=dict, repr=False)
    has_own_tests: bool = False
