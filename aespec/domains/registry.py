"""Finds domains: the folder scan for ours, the entry points `aespec.domains` for others."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

from aespec import resources
from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.records import dataclass

API = 1
"""The version of `domain.toml` that this code reads."""

ENTRY_POINTS = "aespec.domains"
"""The entry-point group of other distributions; each entry names a package that holds a `domain.toml`."""

_KEYS = {"name": str, "api": int, "title": str, "image": str}
_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")


@dataclass(frozen=True, slots=True)
class Domain:
    """A subject area.

    `image` is the base of a spec that names none. `origin` is "" for ours, else the distribution's name.
    """

    name: str
    title: str
    image: str
    folder: Path | None = None
    origin: str = ""


def find(name: str) -> tuple[Domain | None, tuple[Diagnostic, ...]]:
    """The domain of that name, ours or an installed distribution's; what is wrong with it if it is broken."""
    if not _NAME.fullmatch(name):
        return None, ()
    folder = resources.folder("domains") / name
    if (folder / "domain.toml").is_file():
        return load(folder, "")
    found, faults = _installed()
    domain = next((item for item in found if item.name == name), None)
    return (
        (domain, ())
        if domain is not None
        else (None, tuple(item for item in faults if f"`{name}`" in item.headline))
    )


def names() -> tuple[str, ...]:
    """The names of all domains that load, sorted."""
    return tuple(item.name for item in all_domains()[0])


def all_domains() -> tuple[tuple[Domain, ...], tuple[Diagnostic, ...]]:
    """All domains by name, and a diagnostic for each that is broken. Of two with one name ours counts."""
    found: dict[str, Domain] = {}
    faults: list[Diagnostic] = []
    for folder in sorted(resources.folder("domains").iterdir()):
        if (folder / "domain.toml").is_file():
            domain, problems = load(folder, "")
            faults.extend(problems)
            if domain is not None:
                found[domain.name] = domain
    installed, problems = _installed()
    faults.extend(problems)
    for domain in installed:
        if domain.name in found:
            text = f"the domain `{domain.name}` is already there"
            faults.append(_broken(text, domain.origin, "Rename the plug-in's domain."))
        else:
            found[domain.name] = domain
    return tuple(found[name] for name in sorted(found)), tuple(faults)


def load(folder: Path, origin: str) -> tuple[Domain | None, tuple[Diagnostic, ...]]:
    """The domain of a folder, or what is wrong with its `domain.toml`. `origin` names the distribution."""
    path = folder / "domain.toml"
    try:
        stamp = path.stat().st_mtime_ns
    except OSError as trouble:
        return None, (_broken(f"`{path}` can't be read: {trouble.strerror}", origin),)
    return _load(path, origin, stamp)


@lru_cache(maxsize=64)
def _load(path: Path, origin: str, stamp: int) -> tuple[Domain | None, tuple[Diagnostic, ...]]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as trouble:
        return None, (_broken(f"the domain `{path.parent.name}` can't be read: {trouble}", origin),)
    fault = _fault(table)
    if fault is None and not origin and table["name"] != path.parent.name:
        fault = f"its name is `{table['name']}` and its folder's another"
    if fault is not None:
        return None, (_broken(f"the domain `{path.parent.name}` is broken: {fault}", origin),)
    return Domain(table["name"], table["title"], table["image"], path.parent, origin), ()


def _fault(table: dict[str, Any]) -> str | None:
    for key in _KEYS:
        if key not in table:
            return f"`{key}` is missing"
    for key, value in table.items():
        wanted = _KEYS.get(key)
        if wanted is None:
            return f"`{key}` is not known in version {API}"
        if not isinstance(value, wanted) or isinstance(value, bool):
            return f"`{key}` is of the wrong type"
    if table["api"] != API:
        return f"it is made for version {table['api']}, and {API} is known here"
    return None if _NAME.fullmatch(table["name"]) else "its name has other characters than a-z, 0-9 and `-`"


def _installed() -> tuple[tuple[Domain, ...], tuple[Diagnostic, ...]]:
    """Domains of other distributions. A package that can't even be found is a fault that names it."""
    from importlib import metadata, util

    found: list[Domain] = []
    faults: list[Diagnostic] = []
    for entry in sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda item: item.name):
        origin = entry.dist.name if entry.dist is not None else entry.value
        try:
            spec = util.find_spec(entry.value.partition(":")[0])
        except (ImportError, ValueError, AttributeError) as trouble:
            faults.append(_broken(f"the domain `{entry.name}` can't be found: {trouble}", origin))
            continue
        places = list(spec.submodule_search_locations or ()) if spec is not None else []
        if not places:
            faults.append(
                _broken(f"the domain `{entry.name}` can't be found: no package {entry.value}", origin)
            )
            continue
        domain, problems = load(Path(places[0]), origin)
        faults.extend(problems)
        if domain is not None:
            found.append(domain)
    return tuple(found), tuple(faults)


def _broken(headline: str, origin: str, help: str = "") -> Diagnostic:
    source = f"It comes from the distribution `{origin}`." if origin else "It comes with aespec itself."
    remedy = f"Update or uninstall `{origin}`." if origin else "Install aespec again."
    return Diagnostic("broken-domain", Severity.ERROR, headline, None, why=source, help=help or remedy)
