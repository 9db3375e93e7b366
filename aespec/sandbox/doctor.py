"""What can run here, found out by trying, and the exact way to what can't."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aespec.resources import cache_folder
from aespec.sandbox import backend_names, open_sandbox
from aespec.sandbox.api import Abilities, SandboxError

SCHEMA = 1
_GIGABYTE = 1 << 30
_SCARCE_BYTES = 4 * _GIGABYTE
"""A base image with compilers and two instances' layers take about this much."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing beside the backends: whether it is there, what was seen, and the way to it."""

    name: str
    is_there: bool
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The whole diagnosis. `default` is the backend that `aespec` takes unasked, None where none works."""

    default: str | None
    backends: tuple[Abilities, ...]
    roots: tuple[Finding, ...]
    cache: Finding

    @property
    def is_usable(self) -> bool:
        """Whether specs can be run at all: a backend works, and some base image is to be had for it."""
        return self.default is not None and any(root.is_there for root in self.roots)

    def text(self) -> str:
        """For people; one line for what works, an indented one for each fact and remedy."""
        lines = []
        for abilities in self.backends:
            is_default = " (default)" if abilities.name == self.default else ""
            lines.append(f"sandbox {abilities.name}: {_tier_text(abilities)}{is_default}")
            lines += [f"    {name}: {value}" for name, value in abilities.facts.items()]
            lines += [
                f"    missing {name}\n        to have it: {way}" for name, way in abilities.missing.items()
            ]
        lines.append("base images")
        for finding in (*self.roots, self.cache):
            lines.append(f"    {'yes' if finding.is_there else 'no '} {finding.name}: {finding.detail}")
            if finding.remedy:
                lines.append(f"        to have it: {finding.remedy}")
        return "\n".join(lines) + "\n"

    def as_json(self) -> dict[str, Any]:
        """The same as plain data, schema 1."""
        return {
            "schema": SCHEMA,
            "usable": self.is_usable,
            "default": self.default,
            "sandboxes": [
                {
                    "name": abilities.name,
                    "tier": abilities.tier,
                    "usable": abilities.is_usable,
                    "missing": dict(abilities.missing),
                    "facts": dict(abilities.facts),
                }
                for abilities in self.backends
            ],
            "roots": [_finding_as_json(finding) for finding in self.roots],
            "cache": _finding_as_json(self.cache),
        }


def _finding_as_json(finding: Finding) -> dict[str, Any]:
    return {
        "name": finding.name,
        "there": finding.is_there,
        "detail": finding.detail,
        "remedy": finding.remedy,
    }


def _tier_text(abilities: Abilities) -> str:
    return {
        "full": "works, every claim can be measured",
        "single-uid": "works with one user id: ownership and claims across users are not measured",
    }.get(abilities.tier, "does not work here")


def diagnose() -> Report:
    """Try everything. Takes a second or two; leaves nothing behind but an empty cache folder."""
    found = tuple(_try(name) for name in backend_names())
    default = next((abilities.name for abilities in found if abilities.is_usable), None)
    by_name = {abilities.name: abilities for abilities in found}
    return Report(default, found, _roots(by_name), _cache())


def _try(name: str) -> Abilities:
    try:
        return open_sandbox(name).abilities()
    except SandboxError as error:
        return Abilities(name, "none", {"a start": error.remedy or str(error)}, {"failure": str(error)})


def _roots(backends: dict[str, Abilities]) -> tuple[Finding, ...]:
    """The ways to a base image, in the order that they are tried."""
    from aespec.sandbox.fork import host

    has_engine = backends["docker"].is_usable
    programs = [name for name in ("python3", "git", "make", "gcc") if host.has_debian_package(name)]
    return (
        Finding(
            "engine",
            has_engine,
            "images of the Docker engine" if has_engine else "no engine answers",
            "" if has_engine else next(iter(backends["docker"].missing.values()), ""),
        ),
        _bootstrap_finding(),
        Finding(
            "host",
            bool(programs),
            f"the host's own /usr in place of a debian base, not reproducible; it has {', '.join(programs)}"
            if programs
            else "it lacks python3",
            "" if programs else "install python3",
        ),
    )


def _bootstrap_finding() -> Finding:
    """Whether mmdebstrap can make a root for this user, and not only whether it is installed."""
    from aespec.sandbox.fork.identity import range_remedy
    from aespec.sandbox.fork.roots import bootstrap_fault
    from aespec.sandbox.fork.worker import find_program

    program = find_program("mmdebstrap")
    if program is None:
        remedy = "as root on Debian or Ubuntu: apt-get install mmdebstrap"
        return Finding("mmdebstrap", False, "not installed", remedy)
    fault = bootstrap_fault(program)
    if fault:
        return Finding("mmdebstrap", False, f"{program} can't work here: {fault}", range_remedy())
    return Finding("mmdebstrap", True, f"{program} makes debian bases, where a Debian mirror is reached")


def _cache() -> Finding:
    folder = cache_folder()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    is_writable = os.access(existing, os.W_OK)
    is_enough = free >= _SCARCE_BYTES
    remedy = ""
    if not (is_writable and is_enough):
        remedy = "set AESPEC_CACHE to a folder of your own on a disk with 4 GiB free"
    detail = f"{_short(folder)}, {free / _GIGABYTE:.0f} GiB free" + (
        "" if is_writable else ", can't be written"
    )
    return Finding("cache", is_writable and is_enough, detail, remedy)


def _short(folder: Path) -> str:
    home = Path.home()
    return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)
