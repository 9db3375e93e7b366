"""Where code of specs and of solvers runs: one interface (`api`), several backends.

Importing this package is cheap; a backend is loaded when it is opened.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aespec.sandbox.api import Sandbox

# Name to module and class. The supervisor imports this package too, so nothing here is loaded early.
_BACKENDS = {
    "fork": ("aespec.sandbox.fork.backend", "ForkSandbox"),
    "docker": ("aespec.sandbox.docker.backend", "DockerSandbox"),
}


def backend_names() -> tuple[str, ...]:
    """The names that `open_sandbox` knows."""
    return tuple(_BACKENDS)


def open_sandbox(name: str, **options: Any) -> Sandbox:
    """The backend of that name, made with its options. Raises SandboxError for a name that there isn't.

    Nothing is started; a backend that can't work here says so in `abilities`, and raises when it is used.
    """
    if name not in _BACKENDS:
        import difflib

        from aespec.sandbox.api import SandboxError

        near = difflib.get_close_matches(name, _BACKENDS, n=1)
        raise SandboxError(
            f"there is no sandbox {name!r}" + (f", did you mean {near[0]!r}?" if near else ""),
            remedy=f"the sandboxes are {', '.join(_BACKENDS)}",
        )
    module, kind = _BACKENDS[name]
    sandbox: Sandbox = getattr(importlib.import_module(module), kind)(**options)
    return sandbox


def default_sandbox(**options: Any) -> Sandbox:
    """The first backend that works here: `fork`, else `docker`. Raises SandboxError with the way out of each.

    `options` that a backend doesn't have are not given to it.
    """
    import inspect

    from aespec.sandbox.api import SandboxError

    failures = []
    for name, (module, kind) in _BACKENDS.items():
        made = getattr(importlib.import_module(module), kind)
        known = inspect.signature(made).parameters
        sandbox: Sandbox = made(**{key: value for key, value in options.items() if key in known})
        abilities = sandbox.abilities()
        if abilities.is_usable:
            return sandbox
        failures += [f"{name}: no {what}: {remedy}" for what, remedy in abilities.missing.items()]
    raise SandboxError("no sandbox works here", remedy="; ".join(failures))
