"""Names of a package that are loaded when somebody asks for them, so that no command pays for another's."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping


def on_demand(package: str, places: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package: `places` tells for each public name the module of it that has it.

    No name may be that of a module of the package: importing that module would take the name's place.
    """

    def load(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{places[name]}"), name)

    return load
