"""What a target is: a format of bundles, as one module of this folder that is found by a scan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from aespec.bundle.plan import BundlePlan
from aespec.diagnostics.diagnostic import Diagnostic
from aespec.model.instance import Instance
from aespec.model.lock import Lock
from aespec.model.task import CheckedTask
from aespec.records import dataclass

NETWORKS = ("compose", "harbor")
"""Who keeps the network away: the bundle's own Compose files, or the consumer by the task's settings."""


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """What may differ between two bundles of the same instance.

    `org` is the first half of the task's public name. `network`: one of `NETWORKS`; `compose` needs nothing
    beyond the engine, `harbor` holds lists of hosts too but pulls images from a registry. `agent_network` is
    the agent phase's own, for agents that are installed in the container: `task` (the same as the task's),
    `open`, or hosts. `images` maps a public image name to a local one, which is then taken as it is. `name`
    replaces the bundle's name.
    """

    org: str = "aespec"
    network: str = "compose"
    agent_network: str | tuple[str, ...] = "task"
    images: Mapping[str, str] = field(default_factory=dict)
    lock: Lock | None = None
    name: str = ""


class Target(Protocol):
    """A module of this folder."""

    NAME: str
    CARRIES: tuple[str, ...]

    def plan(
        self, task: CheckedTask, instance: Instance, options: TargetOptions
    ) -> tuple[BundlePlan | None, tuple[Diagnostic, ...]]:
        """All files of the bundle; a pure function. The plan is None where a diagnostic is an error."""
        ...
