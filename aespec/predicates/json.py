"""A JSON document, or a part of it, has a value; numbers by value, order and more keys only where freed."""

from __future__ import annotations

from typing import Any, Dict

from aespec.runtime.compare import NONE, Freedoms, Tokens, difference, lookup, place, same, split_pointer
from aespec.runtime.decode import LIMIT_BYTES, parse_json, show
from aespec.runtime.signature import Param, Signature
from aespec.runtime.state import HELD, Missing, State, Trouble, Verdict, failed

TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")

SIGNATURE = Signature(
    "json",
    "A JSON file, or the part of it that a pointer names, has this value or this type.",
    (
        Param(
            "path",
            "path",
            "The file, at most 16 MiB; `/app/out.json#/total` is the part at a JSON pointer.",
            is_required=True,
        ),
        Param(
            "equals",
            "value",
            "The value. Numbers are equal by value (1200 and 1200.0), a boolean is never a number.",
        ),
        Param("type", "enum", "The type of the value; `integer` also holds for 3.0.", choices=TYPES),
        Param(
            "unordered",
            "texts",
            'Pointers below the value to lists whose order is free, `*` for any step: `["/rows", "/*/x"]`; '
            '`""` is the value itself.',
        ),
        Param(
            "extra_keys",
            "enum",
            "Whether objects may hold more keys than `equals` has.",
            default="forbidden",
            choices=("forbidden", "allowed"),
        ),
        Param("tolerance", "number", "How far a number may be off, absolutely."),
        Param("relative", "number", "How far a number may be off, as a fraction of the expected one."),
        Param(
            "free", "texts", "Pointers below the value to what may be anything or missing, `*` for any step."
        ),
    ),
    requires_one_of=(("equals", "type"),),
)


def holds(state: State, args: Dict[str, Any]) -> Verdict:
    """Judge the claim."""
    path, _, pointer = args["path"].partition("#")
    try:
        document = parse_json(state.read(path, LIMIT_BYTES))
    except Missing as missing:
        return failed(_sentence(path, str(missing)))
    at: Tokens = ()
    if pointer:
        at = split_pointer(pointer)
        is_there, document = lookup(document, at)
        if not is_there:
            return failed(f"{path}: there is nothing at {place(at)}")
    wanted_type = args.get("type")
    if wanted_type is not None and not _is_of(document, wanted_type):
        return failed(f"{path}: {place(at)} is {show(document)}, not of type {wanted_type}")
    if "equals" not in args:
        if wanted_type is None:
            raise Trouble("json: neither equals nor type is given")
        return HELD
    wanted = args["equals"]
    freedoms = freedoms_of(args)
    if freedoms is NONE and same(document, wanted):
        return HELD
    # Places in `unordered` and `free` count from the value, so the comparison starts at its top.
    reason = difference(document, wanted, freedoms)
    return HELD if reason is None else failed(f"{path}{'#' + pointer if pointer else ''}: {reason}")


def freedoms_of(args: Dict[str, Any]) -> Freedoms:
    """The freedoms that the arguments name; the one object `NONE` where there are none."""
    if len(args) <= 2 or not (
        args.get("unordered")
        or args.get("free")
        or args.get("tolerance")
        or args.get("relative")
        or args.get("extra_keys", "forbidden") != "forbidden"
    ):
        return NONE
    return Freedoms(
        tolerance=float(args.get("tolerance") or 0),
        relative=float(args.get("relative") or 0),
        unordered=tuple(split_pointer(pointer) for pointer in _texts(args.get("unordered"))),
        free=tuple(split_pointer(pointer) for pointer in _texts(args.get("free"))),
        extra_keys=args.get("extra_keys") == "allowed",
    )


def _texts(value: Any) -> Any:
    return [value] if isinstance(value, str) else value or []


def _is_of(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "number":
        return isinstance(value, (int, float))
    if name == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    kinds: Dict[str, type] = {"object": dict, "array": list, "string": str, "null": type(None)}
    return name in kinds and isinstance(value, kinds[name])


def _sentence(path: str, reason: str) -> str:
    return reason if path in reason else f"{path} {reason}"
