"""The keys of a Harbor `task.toml`, schema 1.0 to 1.4, and what each may hold; as Harbor 0.26 reads them.

Harbor reads leniently: `"600"` and `true` pass for numbers, unknown keys are passed over. Where it refuses
a value, so does this; source: `models/task/config.py` of the package harbor 0.26.0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from aespec.bundle.foreign.hosts import is_host
from aespec.bundle.foreign.task import Fault
from aespec.diagnostics.escape import escape_controls
from aespec.diagnostics.suggest import suggest

_UNKNOWN_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Value:
    """One value: `holds` tells whether it is one of those, `wanted` names them."""

    wanted: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Table:
    """A table with these keys; others are passed over by Harbor."""

    keys: Mapping[str, Value | Table | Items]
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Items:
    """A list of tables; `or_text` allows plain texts among them."""

    item: Table
    or_text: bool = False


def as_number(value: Any) -> float | None:
    """A number as Harbor takes one; None for what is none. May be infinite."""
    try:
        return float(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None


def as_whole(value: Any) -> int | None:
    """A whole number as Harbor takes one; None for what is none."""
    if isinstance(value, str):
        found = re.fullmatch(r"\s*([+-]?\d{1,18})(?:\.0+)?\s*", value, re.ASCII)
        return int(found[1]) if found else None
    if isinstance(value, float):
        return int(value) if abs(value) < 2**63 and value.is_integer() else None
    return int(value) if isinstance(value, int) else None


def as_flag(value: Any) -> bool | None:
    """A truth value as Harbor takes one; None for what is none."""
    word = value.lower() if isinstance(value, str) else value
    if word in (True, "true", "yes", "on", "t", "y", "1"):
        return True
    return False if word in (False, "false", "no", "off", "f", "n", "0") else None


def _number_or_nan(value: Any) -> float:
    number = as_number(value)
    return math.nan if number is None else number


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_text_map(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _is_size(value: Any) -> bool:
    return not isinstance(value, str) or size_mb(value) is not None


def _is_destination(value: Any) -> bool:
    if not _is_text(value) or "\\" in value:
        return False
    parts = PurePosixPath(value).parts
    return value == "" or (
        bool(parts) and parts[0] != "/" and ".." not in parts and value.rstrip("/") != "manifest.json"
    )


def size_mb(text: str) -> int | None:
    """Mebibytes of the old way to write a size (`2G`, `512M`, `64K`); None for what is none."""
    factors = {"G": 1024.0, "M": 1.0, "K": 1 / 1024}
    text = text.strip().upper()
    number = as_number(text[:-1]) if text[-1:] in factors else None
    return int(number * factors[text[-1]]) if number is not None and math.isfinite(number) else None


def _one_of(*words: str) -> Value:
    return Value(" or ".join(f"`{word}`" for word in words), lambda value: value in words)


TEXT = Value("a text", _is_text)
NUMBER = Value("a number", lambda value: as_number(value) is not None)
FINITE = Value("a finite number", lambda value: math.isfinite(_number_or_nan(value)))
WHOLE = Value("a whole number", lambda value: as_whole(value) is not None)
FLAG = Value("true or false", lambda value: as_flag(value) is not None)
TEXTS = Value("a list of texts", _are_texts)
TEXT_MAP = Value("a table of texts", _is_text_map)
USER = Value(
    "an account's name or number", lambda value: isinstance(value, str) or as_whole(value) is not None
)
ANY_TABLE = Value("a table", lambda value: isinstance(value, dict))
ANYTHING = Value("anything", lambda value: True)

_NAME = Value(
    "`organisation/name` of letters, digits, `-`, `_` and `.`",
    lambda value: (
        _is_text(value)
        and re.match(r"^[a-zA-Z0-9][a-zA-Z0-9._-]*/[a-zA-Z0-9][a-zA-Z0-9._-]*$", value) is not None
        and ".." not in value
    ),
)
_FILLED = Value("a text that isn't empty", lambda value: _is_text(value) and value != "")
_SIZE = Value("a size as `2G` or `512M`", _is_size)
_SERVICE = Value(
    "the name of a Compose service",
    lambda value: _is_text(value) and re.match(r"^[a-zA-Z0-9][a-zA-Z0-9_.-]*$", value.strip()) is not None,
)
_SOURCE = Value("a path without `..`", lambda value: _is_text(value) and ".." not in value.split("/"))
_DESTINATION = Value("a relative path without `..`, and not manifest.json", _is_destination)
_HOSTS = Value(
    "a list of host names, IP addresses or CIDR ranges",
    lambda value: _are_texts(value) and all(is_host(item) for item in value),
)
_SYSTEM = Value(
    "`linux` or `windows`", lambda value: _is_text(value) and value.lower() in ("linux", "windows")
)
_TOPOLOGY = Value(
    "dimensions as `2x4`",
    lambda value: _is_text(value) and re.match(r"^[1-9]\d*(x[1-9]\d*)+$", value.strip()) is not None,
)
_LEAST = Value(
    "a number, or a table of numbers",
    lambda value: (
        as_number(value) is not None
        or (isinstance(value, dict) and all(as_number(item) is not None for item in value.values()))
    ),
)

_NETWORK: dict[str, Value | Table | Items] = {
    "network_mode": _one_of("no-network", "public", "allowlist"),
    "allowed_hosts": _HOSTS,
}
_HEALTH = Table(
    {
        "command": TEXT,
        "interval_sec": NUMBER,
        "timeout_sec": NUMBER,
        "start_period_sec": NUMBER,
        "start_interval_sec": NUMBER,
        "retries": WHOLE,
    },
    required=("command",),
)
_MCP = Table(
    {
        "name": TEXT,
        "transport": _one_of("stdio", "sse", "streamable-http", "http"),
        "url": TEXT,
        "command": TEXT,
        "args": TEXTS,
        "headers": TEXT_MAP,
    },
    required=("name",),
)
_ARTIFACTS = Items(
    Table(
        {"source": _SOURCE, "destination": _DESTINATION, "exclude": TEXTS, "service": _SERVICE},
        required=("source",),
    ),
    or_text=True,
)
_ENVIRONMENT = Table(
    {
        **_NETWORK,
        "build_timeout_sec": NUMBER,
        "docker_image": TEXT,
        "os": _SYSTEM,
        "cpus": FINITE,
        "memory_mb": WHOLE,
        "storage_mb": WHOLE,
        "memory": _SIZE,
        "storage": _SIZE,
        "gpus": WHOLE,
        "gpu_types": TEXTS,
        "tpu": Table({"type": _FILLED, "topology": _TOPOLOGY}, required=("type", "topology")),
        "mcp_servers": Items(_MCP),
        "env": TEXT_MAP,
        "skills_dir": TEXT,
        "healthcheck": _HEALTH,
        "workdir": TEXT,
        "allow_internet": FLAG,
    }
)
_AGENT = Table({**_NETWORK, "timeout_sec": NUMBER, "user": USER})
_VERIFIER = Table(
    {
        **_NETWORK,
        "timeout_sec": NUMBER,
        "env": TEXT_MAP,
        "user": USER,
        "environment_mode": _one_of("shared", "separate"),
        "environment": _ENVIRONMENT,
        "collect": Items(
            Table(
                {"command": TEXT, "service": _SERVICE, "timeout_sec": NUMBER, "user": USER},
                required=("command",),
            )
        ),
    }
)
_STEP = Table(
    {
        "name": TEXT,
        "agent": _AGENT,
        "verifier": _VERIFIER,
        "min_reward": _LEAST,
        "healthcheck": _HEALTH,
        "artifacts": _ARTIFACTS,
    },
    required=("name",),
)

TASK = Table(
    {
        "schema_version": TEXT,
        "version": TEXT,
        "task": Table(
            {
                "name": _NAME,
                "version": _FILLED,
                "description": TEXT,
                "authors": Items(Table({"name": TEXT, "email": TEXT}, required=("name",))),
                "keywords": TEXTS,
            },
            required=("name",),
        ),
        "metadata": ANY_TABLE,
        "verifier": _VERIFIER,
        "agent": _AGENT,
        "environment": _ENVIRONMENT,
        "solution": Table({"env": TEXT_MAP}),
        "source": TEXT,
        "multi_step_reward_strategy": _one_of("mean", "final"),
        "steps": Items(_STEP),
        "artifacts": _ARTIFACTS,
    }
)
"""A whole `task.toml`."""


def check(data: Mapping[str, Any], table: Table = TASK, place: str = "") -> list[Fault]:
    """What is wrong with the values (fatal), and which keys nothing reads (not fatal)."""
    holder = _shown(place) or "task.toml"
    found = [
        Fault("bad-value", f"{holder} has no `{name}`", "Add it: Harbor refuses the task as it is.")
        for name in table.required
        if name not in data
    ]
    unknown = 0
    for name, value in data.items():
        where = f"{place}.{name}" if place else name
        kind = table.keys.get(name)
        if kind is not None:
            found += _check_one(value, kind, where)
        elif (unknown := unknown + 1) <= _UNKNOWN_LIMIT:
            found.append(_unknown(name, where, table))
    return found


def _check_one(value: Any, kind: Value | Table | Items, where: str) -> list[Fault]:
    if isinstance(kind, Value):
        return [] if kind.holds(value) else [_bad(where, kind.wanted, value)]
    if isinstance(kind, Table):
        return check(value, kind, where) if isinstance(value, dict) else [_bad(where, "a table", value)]
    if not isinstance(value, list):
        return [_bad(where, "a list", value)]
    found: list[Fault] = []
    for number, item in enumerate(value):
        if isinstance(item, dict):
            found += check(item, kind.item, f"{where}[{number}]")
        elif not (kind.or_text and isinstance(item, str)):
            found.append(_bad(f"{where}[{number}]", "a table", item))
    return found


def _bad(where: str, wanted: str, value: Any) -> Fault:
    return Fault(
        "bad-value",
        f"{_shown(where)} = {_shown(repr(value))} is not {wanted}",
        "Mend the value in task.toml: Harbor refuses the task as it is.",
    )


def _unknown(name: str, where: str, table: Table) -> Fault:
    nearest = suggest(name[:80], table.keys)
    return Fault(
        "unknown-key",
        f"nothing reads `{_shown(where)}` in task.toml",
        f"Did you mean `{nearest}`?" if nearest else "Remove it, or put it below [metadata].",
        is_fatal=False,
    )


def _shown(text: str) -> str:
    return escape_controls(text if len(text) <= 80 else text[:79] + "…")
