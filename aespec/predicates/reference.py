"""The reference of all predicates as Markdown, made from their signatures: `docs/predicates.md`."""

from __future__ import annotations

from aespec.predicates import Predicate, all_predicates
from aespec.runtime.signature import Param

HEAD = """# Predicates

Each states one claim about the end state; a `check` groups them. This page is made from their signatures
(`AESPEC_UPDATE=1 python -m pytest tests/predicates/test_reference.py` writes it anew). The first argument may
stand without its name. What a predicate *needs* must be carried by the target; a spec that needs more is a
compile error.
"""


def render_reference() -> str:
    """The whole page, LF line ends, one final newline."""
    return "\n".join([HEAD, *(_section(predicate) for predicate in all_predicates())])


def _section(predicate: Predicate) -> str:
    signature = predicate.signature
    lines = [f"## {predicate.name}", "", signature.doc, ""]
    lines += ["| argument | kind | default | what it says |", "|---|---|---|---|"]
    lines += [_row(param) for param in signature.params]
    lines += ["", f"Needs: {', '.join(signature.needs)}."]
    for group in signature.requires_one_of:
        named = [f"`{name}`" for name in group]
        lines[-1] += f" At least one of {', '.join(named[:-1])} and {named[-1]} is given."
    return "\n".join([*lines, ""])


def _row(param: Param) -> str:
    kind = " · ".join(f"`{choice}`" for choice in param.choices) if param.kind == "enum" else param.kind
    default = "required" if param.is_required else "" if param.default is None else f"`{_shown(param)}`"
    return f"| `{param.name}` | {kind} | {default} | {param.doc.replace('|', chr(92) + '|')} |"


def _shown(param: Param) -> str:
    """A default as it would be written in a spec."""
    value = param.default
    if isinstance(value, bool):
        return str(value).lower()
    if param.kind == "duration":
        return f"{value:g}s"
    return str(value) if param.kind in ("enum", "path") or not isinstance(value, str) else f'"{value}"'
