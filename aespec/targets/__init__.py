"""Formats of bundles: one module each, found by a scan of this folder."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from typing import cast

from aespec.targets.api import NETWORKS, Target, TargetOptions

__all__ = ["NETWORKS", "Target", "TargetOptions", "find", "names"]


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """The names of all targets, sorted."""
    found = [item.name for item in pkgutil.iter_modules(__path__) if item.name not in ("api", "explanations")]
    return tuple(sorted(name.replace("_", "-") for name in found))


def find(name: str) -> Target:
    """The target of that name; LookupError, with the names that there are, for any other."""
    if name not in names():
        raise LookupError(f"there is no target {name!r}; there are {', '.join(names())}")
    return cast("Target", importlib.import_module(f"{__name__}.{name.replace('-', '_')}"))
