"""What a bundle asks of a trial: times, resources, network, and what crosses to the verifier."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aespec.bundle.disk import BundleError
from aespec.bundle.plan import Bundle
from aespec.sandbox.api import SandboxLimits


@dataclass(frozen=True, slots=True)
class Settings:
    """Read from `task.toml` and the manifest. `network` is Harbor's word for the agent's container."""

    artifacts: tuple[str, ...]
    agent_timeout_s: float
    verifier_timeout_s: float
    agent_limits: SandboxLimits
    verifier_limits: SandboxLimits
    network: str

    @property
    def has_network(self) -> bool:
        """Whether the agent's programs reach the network; an allow-list, not enforced here, counts as no."""
        return self.network == "public"


def read_settings(bundle: Bundle) -> Settings:
    """The settings of a bundle; raises `BundleError` for a `task.toml` that can't be read."""
    try:
        told = tomllib.loads((bundle.path / "task.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise BundleError(f"task.toml can't be read: {fault}") from None
    environment = _table(told, "environment")
    network = str(environment.get("network_mode", "public"))
    verifier = _table(told, "verifier")
    paths = bundle.manifest.get("artifacts")
    artifacts = tuple(str(path) for path in paths) if isinstance(paths, list) else ()
    return Settings(
        artifacts=(*artifacts, "/logs/artifacts"),
        agent_timeout_s=_number(_table(told, "agent"), "timeout_sec", 900.0),
        verifier_timeout_s=_number(verifier, "timeout_sec", 600.0),
        agent_limits=_limits(environment),
        verifier_limits=_limits(_table(verifier, "environment") or environment),
        network="no-network" if _is_cut_off(bundle) else network,
    )


def _is_cut_off(bundle: Bundle) -> bool:
    """Whether the bundle's own Compose file takes the network away from the agent's container."""
    try:
        text = (bundle.path / "environment" / "docker-compose.yaml").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return any(line.strip() == "network_mode: none" for line in text.splitlines())


def _table(told: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = told.get(name)
    return value if isinstance(value, dict) else {}


def _number(table: Mapping[str, Any], name: str, default: float) -> float:
    value = table.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default


def _limits(environment: Mapping[str, Any]) -> SandboxLimits:
    usual = SandboxLimits()
    mib = 1024**2
    return SandboxLimits(
        memory_bytes=int(_number(environment, "memory_mb", usual.memory_bytes / mib) * mib),
        disk_bytes=int(_number(environment, "storage_mb", usual.disk_bytes / mib) * mib),
        cpu=_number(environment, "cpus", usual.cpu),
    )
