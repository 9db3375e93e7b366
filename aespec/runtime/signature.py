"""How a predicate declares its arguments and what it needs of the end state."""

from __future__ import annotations

from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple

NEEDS = ("bytes", "metadata", "program", "service", "process", "display", "device")
"""What a predicate may need; a target that can't carry one refuses to compile the spec."""

KINDS = (
    "path",  # absolute path of the end state, perhaps with a `#selector`
    "paths",  # one path or a list of them
    "text",
    "texts",  # one text or a list of them
    "regex",  # Python `re` syntax, compiled when the spec is resolved
    "bool",
    "integer",
    "number",
    "duration",  # seconds at run time
    "size",  # bytes at run time
    "enum",  # one of `choices`
    "value",  # any JSON value; may be a reference to an answer
    "map",  # text to any JSON value
    "hidden-file",  # name of a `hidden` file of the verifier
)


class Param(NamedTuple):
    """One argument. `default` counts where `is_required` is false; `doc` is a sentence for the reference."""

    name: str
    kind: str
    doc: str
    is_required: bool = False
    default: Any = None
    choices: Tuple[str, ...] = ()


class Signature(NamedTuple):
    """A predicate: its name, what it claims in a sentence, its arguments (the first is positional), its
    needs.

    `requires_one_of` lists groups of arguments of which at least one must be given, so that no claim is
    empty.
    """

    name: str
    doc: str
    params: Tuple[Param, ...]
    needs: Tuple[str, ...] = ("bytes",)
    requires_one_of: Tuple[Tuple[str, ...], ...] = ()

    def param(self, name: str) -> Optional[Param]:
        """The argument of that name, or None."""
        return next((item for item in self.params if item.name == name), None)

    def complete(self, args: Mapping[str, Any]) -> Dict[str, Any]:
        """The arguments with the defaults of those that were left out.

        An argument whose default is None stays out: `"equals" in args` tells a given null from none.
        """
        filled = {item.name: item.default for item in self.params if item.default is not None}
        filled.update(args)
        return filled
