"""What a Compose file says of the agent's (or the verifier's) container, and what else it asks for."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aespec.bundle.foreign.task import Fault
from aespec.bundle.foreign.variables import interpolate
from aespec.diagnostics.escape import escape_controls

COMPOSE_FILES = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml")
"""Names under which authors keep one. Harbor reads the first only."""

_WITHOUT_EFFECT = frozenset(
    {
        "annotations",
        "build",
        "command",
        "container_name",
        "cpu_count",
        "cpus",
        "depends_on",
        "deploy",
        "entrypoint",
        "env_file",
        "environment",
        "expose",
        "hostname",
        "image",
        "init",
        "labels",
        "logging",
        "mem_limit",
        "mem_reservation",
        "memswap_limit",
        "network_mode",
        "networks",
        "pids_limit",
        "platform",
        "ports",
        "profiles",
        "pull_policy",
        "restart",
        "scale",
        "shm_size",
        "stdin_open",
        "stop_grace_period",
        "stop_signal",
        "tty",
        "user",
        "volumes",
        "working_dir",
    }
)
"""Keys that are read here, or that change nothing of what a trial of one container sees."""

_IDLE = ("sleep", "tail -f", "tail -F", "tail", "bash", "/bin/bash", "sh", "/bin/sh", "cat", "sleep infinity")


@dataclass(frozen=True, slots=True)
class Service:
    """One container as a Compose file has it; "" and None where it says nothing of that.

    `mounts` are pairs of what is mounted (a path relative to the Compose file, or a volume) and where.
    """

    context: str | None = None
    dockerfile: str | None = None
    inline: str | None = None
    stage: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    image: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str = ""
    user: str = ""
    has_network: bool = True
    mounts: tuple[tuple[str, str], ...] = ()
    extras: tuple[str, ...] = ()


def read_service(
    text: str, given: Mapping[str, str], main: str | None
) -> tuple[Service | None, tuple[Fault, ...]]:
    """The service named `main`; None for its name takes `client`, else the first, as Harbor's mapper does.

    All other services are extras. Where there is no such service Harbor adds it, so it says nothing. `given`
    are the variables that Compose replaces. None where the text is no Compose file.
    """
    from aespec.model.yaml_text import read_yaml

    try:
        data = read_yaml(text)
    except ValueError as error:
        return None, (_bad(f"no YAML that can be read: {escape_controls(str(error))}"),)
    services = data.get("services") if isinstance(data, dict) else None
    if data is None or (isinstance(data, dict) and services is None):
        services = {}
    if not isinstance(services, dict):
        return None, (_bad("`services` is no map"),)
    if main is None:
        main = "client" if "client" in services else next((str(name) for name in services), "")
    own = services.get(main)
    if own is not None and not isinstance(own, dict):
        return None, (_bad(f"the service `{main}` is no map"),)
    others = [f"a sidecar ({escape_controls(str(name)[:80])})" for name in services if name != main]
    service, faults = _service(own or {}, given)
    return _with_extras(service, others), faults


def _with_extras(service: Service, more: list[str]) -> Service:
    from dataclasses import replace

    return replace(service, extras=tuple(dict.fromkeys([*more, *service.extras])))


def _service(own: Mapping[Any, Any], given: Mapping[str, str]) -> tuple[Service, tuple[Fault, ...]]:
    def text(value: Any) -> str:
        return interpolate(_plain(value), given)

    build = own.get("build")
    build = {"context": build} if isinstance(build, str) else build if isinstance(build, dict) else {}
    env = _pairs(own.get("environment"), given)
    unread = (_bad("variables from an `env_file` aren't read", is_fatal=False),)
    return Service(
        context=text(build["context"]) if build.get("context") else None,
        dockerfile=text(build["dockerfile"]) if build.get("dockerfile") else None,
        inline=_plain(build["dockerfile_inline"]) if build.get("dockerfile_inline") else None,
        stage=text(build.get("target")),
        arguments=_pairs(build.get("args"), given),
        image=text(own.get("image")) or None,
        env=env,
        workdir=text(own.get("working_dir")),
        user=text(own.get("user")),
        has_network=text(own.get("network_mode")) != "none",
        mounts=tuple(_mounts(own.get("volumes"), given)),
        extras=tuple(_extras(own, given)),
    ), unread if "env_file" in own else ()


def _extras(own: Mapping[Any, Any], given: Mapping[str, str]) -> list[str]:
    found = []
    for key, value in own.items():
        name = escape_controls(str(key)[:80])
        if key in ("command", "entrypoint") and not _is_idle(value):
            found.append(f"a program of its own in the container ({name})")
        elif key == "volumes":
            found += [f"a mount ({escape_controls(place[:80])})" for _, place in _mounts(value, given)]
        elif key == "deploy" and "reservations" in _plain(value):
            found.append("reserved devices")
        elif key not in _WITHOUT_EFFECT and not name.startswith("x-") and value not in (None, False, []):
            found.append(f"a setting of the container ({name})")
    return found


def _is_idle(value: Any) -> bool:
    """Whether the command only keeps the container up."""
    words = [_plain(item) for item in value] if isinstance(value, list) else _plain(value).split()
    said = " ".join(words).strip()
    return said == "" or said in _IDLE or "sleep infinity" in said or "tail -f /dev/null" in said


def _mounts(value: Any, given: Mapping[str, str]) -> list[tuple[str, str]]:
    """What is mounted and where in the container, but for the logs, which Harbor mounts itself."""
    found = []
    for item in value if isinstance(value, list) else []:
        if isinstance(item, dict):
            source, place = _plain(item.get("source")), _plain(item.get("target"))
        else:
            source, place = _sides(_plain(item))
        place = interpolate(place, given)
        if place and not place.startswith(("/logs", "/agent-logs")):
            found.append((interpolate(source, given), place))
    return found


def _sides(text: str) -> tuple[str, str]:
    """Both sides of `source:place:options`; the source may hold a variable with colons of its own."""
    depth, parts = 0, [""]
    for char in text:
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == ":" and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return (parts[0], parts[1]) if len(parts) > 1 else ("", parts[0])


def _pairs(value: Any, given: Mapping[str, str]) -> dict[str, str]:
    """A map or a list of `NAME=value`; a name without a value is taken from the variables given."""
    found: dict[str, str] = {}
    if isinstance(value, dict):
        items = [(_plain(name), item) for name, item in value.items()]
    elif isinstance(value, list):
        split = [_plain(item).partition("=") for item in value]
        items = [(name, rest if sign else None) for name, sign, rest in split]
    else:
        items = []
    for name, item in items:
        if item is not None:
            found[name] = interpolate(_plain(item), given)
        elif name in given:
            found[name] = given[name]
    return found


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def join_below(folder: str, path: str) -> str | None:
    """A path of a Compose file, relative to its folder's place in the task; None where it leads out."""
    if path.startswith(("/", "~")) or "://" in path:
        return None
    joined = posixpath.normpath(posixpath.join(folder, path))
    return None if joined.startswith("..") else "" if joined == "." else joined


def _bad(message: str, *, is_fatal: bool = True) -> Fault:
    return Fault(
        "bad-compose",
        f"the Compose file: {message}",
        "Mend the file that lies beside the Dockerfile.",
        is_fatal,
    )
