"""`${NAME}` and `${NAME:-default}` in a task's settings: filled by what is given, never by the machine."""

from __future__ import annotations

import re
from collections.abc import Mapping

from aespec.bundle.foreign.task import Fault

_WHOLE = re.compile(r"\$\{([^}:]+)(?::-(.*))?\}")
_WITHIN = re.compile(r"\$(?:(\$)|\{(\w+)(?:(:?[-+?])([^{}]*))?\}|([A-Za-z_]\w*))")


def fill(
    env: Mapping[str, str], given: Mapping[str, str], place: str
) -> tuple[dict[str, str], tuple[Fault, ...]]:
    """The variables of a `task.toml` table with their values; what is no template stands as it is.

    What is neither given nor has a default is left out, with a fault: Harbor would ask the machine for it.
    """
    filled: dict[str, str] = {}
    faults: list[Fault] = []
    for name, value in env.items():
        template = _WHOLE.fullmatch(value)
        if template is None:
            filled[name] = value
        elif template[1] in given:
            filled[name] = given[template[1]]
        elif template[2] is not None:
            filled[name] = template[2]
        else:
            faults.append(
                Fault(
                    "variable-not-given",
                    f"{place} wants {template[1][:80]} from the machine that runs it; it is left unset",
                    "What needs it will fail: a key for a model, say. Give it a default: `${NAME:-default}`.",
                    is_fatal=False,
                )
            )
    return filled, tuple(faults)


def interpolate(text: str, given: Mapping[str, str]) -> str:
    """A text of a Compose file with its variables replaced, as Compose does; an unknown one is empty."""

    def value(found: re.Match[str]) -> str:
        dollar, braced, how, rest, bare = found.groups()
        if dollar:
            return "$"
        known = given.get(braced or bare)
        is_set = known is not None and (known != "" or not (how or "").startswith(":"))
        if how and how.endswith("+"):
            return rest if is_set else ""
        if how and how.endswith("-") and not is_set:
            return str(rest)
        return known or ""

    return _WITHIN.sub(value, text)
