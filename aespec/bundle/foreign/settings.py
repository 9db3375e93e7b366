"""What a checked `task.toml` asks for, with Harbor's defaults and its deprecated keys read as today's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aespec.bundle.foreign.schema import as_flag, as_number, as_whole, check, size_mb
from aespec.bundle.foreign.task import BUILD_TIMEOUT_S, Artifact, Fault

CONVENTION = "/logs/artifacts"
"""What is under this path crosses to a separate verifier unasked."""

MAIN = "main"
"""The Compose service that is the agent's container."""

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """One `[environment]` table: `image` is prebuilt; None for what it leaves to defaults."""

    image: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str = ""
    system: str = "linux"
    cpu: float | None = None
    memory_mb: int | None = None
    disk_mb: int | None = None
    network: str = "public"
    extras: tuple[str, ...] = ()
    build_timeout_s: float = BUILD_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class Settings:
    """A whole `task.toml`. `verifier_surroundings` is None where it names none of its own."""

    name: str
    schema: str
    has_steps: bool
    environment: Surroundings
    is_separate: bool
    verifier_surroundings: Surroundings | None
    agent_network: str
    verifier_network: str
    agent_user: str
    verifier_user: str
    agent_timeout_s: float | None
    verifier_timeout_s: float | None
    solution_env: Mapping[str, str]
    verifier_env: Mapping[str, str]
    artifacts: tuple[Artifact, ...]
    collect: tuple[str, ...]
    extras: tuple[str, ...]


def read_settings(data: dict[str, Any], name: str) -> tuple[Settings | None, tuple[Fault, ...]]:
    """The settings of a parsed `task.toml`; None where Harbor refuses it. `name` is the folder's.

    Deprecated keys: `version` for `schema_version`, `memory` and `storage` as text, `allow_internet`.
    """
    faults = [*check(data), *_contradictions(data)]
    if any(fault.is_fatal for fault in faults):
        return None, tuple(faults)
    agent, verifier = data.get("agent", {}), data.get("verifier", {})
    environment = _surroundings(data.get("environment", {}))
    own = _surroundings(verifier["environment"]) if "environment" in verifier else None
    artifacts, sidecars = _artifacts(data.get("artifacts", []), faults)
    collect, more = _collect(verifier.get("collect", []))
    baseline = (own or environment).network
    settings = Settings(
        name=data["task"]["name"] if "task" in data else name,
        schema=str(data.get("schema_version", data.get("version", "1.4"))),
        has_steps=bool(data.get("steps")),
        environment=environment,
        is_separate=verifier.get("environment_mode", "separate" if own else "shared") == "separate",
        verifier_surroundings=own,
        agent_network=agent.get("network_mode", environment.network),
        verifier_network=verifier.get("network_mode", baseline),
        agent_user=_user(agent),
        verifier_user=_user(verifier),
        agent_timeout_s=_seconds(agent, "agent", faults),
        verifier_timeout_s=_seconds(verifier, "verifier", faults),
        solution_env=data.get("solution", {}).get("env", {}),
        verifier_env=verifier.get("env", {}),
        artifacts=artifacts,
        collect=collect,
        extras=(*sidecars, *more),
    )
    return settings, tuple(faults)


def _contradictions(data: Mapping[str, Any]) -> list[Fault]:
    """What is right in each value and wrong together."""
    found: list[Fault] = []
    tables = _tables(data)
    for place, table in tables.items():
        hosts, mode = table.get("allowed_hosts"), table.get("network_mode", "")
        if mode != "allowlist" and (hosts or (hosts is not None and not mode and "environment" not in place)):
            found.append(_refused(f'[{place}] has `allowed_hosts` without `network_mode = "allowlist"`'))
        if "environment" in place:
            for old, new in (("memory", "memory_mb"), ("storage", "storage_mb")):
                found += _sizes(table, place, old, new)
            for server in _list(table.get("mcp_servers")):
                found += _server(server)
    verifier = tables.get("verifier", {})
    if verifier.get("environment_mode") == "shared" and "environment" in verifier:
        found.append(_refused("a shared verifier can't have a [verifier.environment] of its own"))
    for item in _list(data.get("artifacts")):
        if item.get("service", MAIN) not in (None, MAIN) and not str(item.get("source", "")).startswith("/"):
            found.append(_refused("an artifact of another service needs an absolute `source`"))
    return found


def _tables(data: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Any] = {name: data.get(name) for name in ("environment", "agent", "verifier")}
    if isinstance(found["verifier"], dict):
        found["verifier.environment"] = found["verifier"].get("environment")
    return {name: table for name, table in found.items() if isinstance(table, dict)}


def _list(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _sizes(table: Mapping[str, Any], place: str, old: str, new: str) -> list[Fault]:
    if old not in table:
        return []
    if not isinstance(table[old], str):
        return [
            Fault(
                "ignored-value",
                f"[{place}] {old} is no text, and Harbor passes it over",
                f"Write `{new}`, a whole number of MiB.",
                is_fatal=False,
            )
        ]
    if new in table and size_mb(table[old]) != table[new]:
        return [_refused(f"[{place}] has `{old}` and `{new}`, and they differ")]
    return []


def _server(server: Mapping[str, Any]) -> list[Fault]:
    transport = server.get("transport", "sse")
    if transport == "stdio":
        if server.get("headers"):
            return [_refused("an MCP server by stdio can't have `headers`")]
        return [] if server.get("command") else [_refused("an MCP server by stdio needs a `command`")]
    return [] if server.get("url") else [_refused(f"an MCP server by {transport!r} needs a `url`")]


def _refused(message: str) -> Fault:
    return Fault("bad-value", message, "Mend it in task.toml: Harbor refuses the task as it is.")


def _surroundings(table: Mapping[str, Any]) -> Surroundings:
    network = table.get("network_mode")
    internet = as_flag(table.get("allow_internet"))
    if network is None and internet is not None and "allowed_hosts" not in table:
        network = "public" if internet else "no-network"
    sizes: dict[str, int | None] = {}
    for old, new in (("memory", "memory_mb"), ("storage", "storage_mb")):
        text = table.get(old)
        sizes[new] = as_whole(table.get(new, size_mb(text) if isinstance(text, str) else None))
    return Surroundings(
        image=table.get("docker_image") or None,
        env=table.get("env", {}),
        workdir=table.get("workdir", ""),
        system=table.get("os", "linux").lower(),
        cpu=as_number(table.get("cpus")),
        memory_mb=sizes["memory_mb"],
        disk_mb=sizes["storage_mb"],
        network=network or "public",
        extras=_extras(table),
        build_timeout_s=_build_seconds(table),
    )


def _build_seconds(table: Mapping[str, Any]) -> float:
    value = as_number(table.get("build_timeout_sec"))
    return min(value, _DAY_S) if value is not None and value > 0 else BUILD_TIMEOUT_S


def _extras(table: Mapping[str, Any]) -> tuple[str, ...]:
    found = []
    if count := as_whole(table.get("gpus")):
        found.append(f"GPUs ({count})")
    if "tpu" in table:
        found.append("a TPU")
    if "healthcheck" in table:
        found.append("a health check")
    found += [f"an MCP server ({server['name']})" for server in table.get("mcp_servers", [])]
    if table.get("skills_dir"):
        found.append("skills for the agent")
    return tuple(found)


def _artifacts(items: list[Any], faults: list[Fault]) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """The artifacts of the main container, the convention's among them, and what is asked of others."""
    found: list[Artifact] = []
    extras: list[str] = []
    for item in items:
        told = {"source": item} if isinstance(item, str) else item
        source, service = told["source"], told.get("service", MAIN).strip()
        if service != MAIN:
            extras.append(f"an artifact of another service ({service}: {source})")
            continue
        if not source.startswith("/"):
            faults.append(
                Fault(
                    "artifact-relative",
                    f"the artifact {source!r} is no absolute path, and is looked for below /",
                    "Write it from / on.",
                    is_fatal=False,
                )
            )
        path = "/" + "/".join(part for part in source.split("/") if part not in ("", "."))
        found.append(Artifact(path, tuple(told.get("exclude", ()))))
    if not any(item.path == CONVENTION for item in found):
        found.insert(0, Artifact(CONVENTION))
    return tuple(found), tuple(dict.fromkeys(extras))


def _collect(items: list[dict[str, Any]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    own = [item for item in items if item.get("service", MAIN).strip() == MAIN]
    extras = [f"a collect step in another service ({item['service']})" for item in items if item not in own]
    extras += [
        f"a collect step as a user of its own ({item['user']})"
        for item in own
        if str(item.get("user", "root")) not in ("root", "0")
    ]
    return tuple(item["command"] for item in own), tuple(dict.fromkeys(extras))


def _user(table: Mapping[str, Any]) -> str:
    value = table.get("user", "")
    return value if isinstance(value, str) else str(as_whole(value))


def _seconds(table: Mapping[str, Any], place: str, faults: list[Fault]) -> float | None:
    """The limit of time; None for the default, also where what is written is no time to run in."""
    if "timeout_sec" not in table:
        return None
    value = as_number(table["timeout_sec"])
    if value is None or math.isnan(value) or value <= 0:
        faults.append(
            Fault(
                "odd-timeout",
                f"[{place}] timeout_sec = {table['timeout_sec']!r} leaves no time; the default is taken",
                "Write how many seconds it may take.",
                is_fatal=False,
            )
        )
        return None
    return min(value, _DAY_S)
