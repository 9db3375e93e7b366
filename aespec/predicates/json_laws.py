"""What breaks a claim about JSON, what keeps it, and how it is told."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

from aespec.model.chooser import Chooser, rotated
from aespec.model.edit import Edit
from aespec.model.edit_forms import put
from aespec.predicates.arguments import misfits
from aespec.predicates.json import SIGNATURE, TYPES, freedoms_of
from aespec.predicates.misses import destroyed, near_misses
from aespec.predicates.wording import listed, told, tolerance_promises
from aespec.runtime.compare import (
    Freedoms,
    Tokens,
    is_close,
    is_number,
    join_pointer,
    lookup,
    matches,
    same,
    split_pointer,
)
from aespec.runtime.decode import LIMIT_BYTES, decode_text, parse_json
from aespec.runtime.state import State, Trouble

Args = Mapping[str, Any]

SAMPLES: dict[str, Any] = {
    "object": {},
    "array": [],
    "string": "",
    "number": 0.5,
    "integer": 0,
    "boolean": True,
    "null": None,
}
"""A value of each type."""

MOST_LITERALS = 200
"""Names beyond this many are data, not a form that could be told."""


def says(args: Args) -> str:
    """The sentence for the solver; it never shows the value."""
    path, _, pointer = args["path"].partition("#")
    part = f", at `{pointer}`," if pointer else ""
    kind = f" of type {args['type']}" if args.get("type") else ""
    if "equals" in args:
        return f"`{path}`{part} holds the right JSON value{kind}."
    return f"`{path}`{part} holds a JSON value{kind}."


def promises(args: Args) -> tuple[str, ...]:
    """What counts and what doesn't."""
    found = [
        "The file is JSON in UTF-8; its layout and the order of keys don't count, and no key stands twice."
    ]
    if "equals" not in args:
        return tuple(found)
    found.append("Numbers are compared by value (`1200` and `1200.0` are equal), texts exactly.")
    unordered = listed(args.get("unordered"))
    if unordered:
        shown = ", ".join(f"`{item}`" if item else "the list itself" for item in unordered)
        found.append(f"The order of items is free in {shown}, and counts in other lists.")
    elif _has_list(args["equals"]):
        found.append("The order of items in a list counts.")
    if _has_object(args["equals"]):
        allowed = args.get("extra_keys", "forbidden") == "allowed"
        found.append("Objects may have more keys." if allowed else "Objects have no other keys.")
    found += tolerance_promises(args)
    free = listed(args.get("free"))
    if free:
        found.append(f"Free: {', '.join(f'`{item}`' for item in free)}.")
    return tuple(found)


def reads(args: Args) -> tuple[str, ...]:
    """The document or the part of it."""
    return (str(args["path"]),)


def literals(args: Args) -> tuple[str | int | float, ...]:
    """Path, steps of the pointer, and the keys of the value in the order met."""
    path, _, pointer = args["path"].partition("#")
    steps = told(lambda _: split_pointer(pointer), args) or ()
    found: dict[str, None] = dict.fromkeys([path, *steps])
    queue = [args.get("equals")]
    while queue and len(found) <= MOST_LITERALS:
        value = queue.pop(0)
        if isinstance(value, dict):
            found.update(dict.fromkeys(value))
            queue.extend(value.values())
        elif isinstance(value, list):
            queue.extend(value)
    return tuple(found)


def faults(args: Args) -> tuple[str, ...]:
    """What is wrong with the arguments themselves."""
    if wrong := misfits(SIGNATURE, args):
        return wrong
    found = []
    try:
        split_pointer(args["path"].partition("#")[2])
        freedoms = freedoms_of(dict(args))
    except Trouble as trouble:
        return (str(trouble),)
    if "equals" not in args and not args.get("type"):
        found.append("neither equals nor type is given")
    if "equals" not in args and freedoms != Freedoms():
        found.append("freedoms are named, but nothing to compare with")
    if () in freedoms.free:
        found.append("the whole value is free, so nothing is claimed")
    if args.get("type") and args["type"] not in TYPES:
        found.append(f"there is no type {args['type']!r}")
    return tuple(found)


def needs(args: Args) -> tuple[str, ...]:
    """Bytes only."""
    return SIGNATURE.needs


def violations(args: Args, state: State, chooser: Chooser) -> Iterator[tuple[Edit, ...]]:
    """Leaves off by a little; keys and items lost, doubled, renamed, swapped; then the document broken."""
    path, _, pointer = args["path"].partition("#")
    text = decode_text(state.read(path, LIMIT_BYTES))
    document = parse_json(text.encode())
    base = split_pointer(pointer)
    value = lookup(document, base)[1]
    if "equals" in args:
        freedoms = freedoms_of(dict(args))
        nodes = list(_judged(value, args["equals"], freedoms, ()))
        for at, found, wanted in rotated(nodes, chooser):
            yield from _broken_node(path, base, at, found, wanted, freedoms)
    else:
        for name in rotated([name for name in TYPES if not _suits(args["type"], name)], chooser):
            yield (Edit(path, join_pointer(base), "set", SAMPLES[name]),)
    yield from _broken_text(path, text, document)
    yield from destroyed(path)


def _suits(wanted: str, name: str) -> bool:
    return wanted == name or (wanted == "number" and name == "integer")


def _judged(found: Any, wanted: Any, freedoms: Freedoms, at: Tokens) -> Iterator[tuple[Tokens, Any, Any]]:
    """Each node of the found value whose change must be noticed, with what is wanted there."""
    if matches(at, freedoms.free):
        return
    yield at, found, wanted
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in wanted:
            if key in found:
                yield from _judged(found[key], wanted[key], freedoms, (*at, key))
    elif isinstance(wanted, list) and isinstance(found, list):
        if not matches(at, freedoms.unordered):
            for index, (item, value) in enumerate(zip(found, wanted, strict=False)):
                yield from _judged(item, value, freedoms, (*at, str(index)))
        elif freedoms == Freedoms(unordered=freedoms.unordered):
            # Order is the only freedom, so an item that changes at all has no partner any more.
            for index, item in enumerate(found):
                yield from _judged(item, item, freedoms, (*at, str(index)))


def _broken_node(
    path: str, base: Tokens, at: Tokens, found: Any, wanted: Any, freedoms: Freedoms
) -> Iterator[tuple[Edit, ...]]:
    pointer = join_pointer((*base, *at))
    if isinstance(found, dict):
        yield from _broken_object(path, pointer, at, found, wanted, freedoms)
    elif isinstance(found, list):
        yield from _broken_list(path, pointer, found, freedoms, at)
    else:
        bound = max(freedoms.tolerance, freedoms.relative * abs(wanted)) if is_number(wanted) else 0.0
        for other in near_misses(found, bound):
            yield (Edit(path, pointer, "set", other),)
        yield (Edit(path, pointer, "set", [found]),)


def _broken_object(
    path: str, pointer: str, at: Tokens, found: dict[str, Any], wanted: dict[str, Any], freedoms: Freedoms
) -> Iterator[tuple[Edit, ...]]:
    for key in wanted:
        if key in found and not matches((*at, key), freedoms.free):
            below = pointer + join_pointer([key])
            yield (Edit(path, below, "remove"),)
            other = _other_key(key, {*found, *wanted})
            yield (Edit(path, below, "rename", other),)
            break
    if not freedoms.extra_keys:
        other = _other_key("more", {*found, *wanted})
        if not matches((*at, other), freedoms.free):
            yield (Edit(path, pointer + join_pointer([other]), "set", None),)
    yield (Edit(path, pointer, "set", None),)


def _other_key(key: str, taken: set[str]) -> str:
    other = key.swapcase() if key.swapcase() != key else f"{key}_"
    while other in taken:
        other += "_"
    return other


def _broken_list(
    path: str, pointer: str, found: list[Any], freedoms: Freedoms, at: Tokens
) -> Iterator[tuple[Edit, ...]]:
    if found:
        yield (Edit(path, f"{pointer}/{len(found) - 1}", "remove"),)
        yield (Edit(path, f"{pointer}/0", "insert", found[0]),)
        if not matches(at, freedoms.unordered):
            yield from _swapped(path, pointer, found, freedoms, at)
    else:
        yield (Edit(path, f"{pointer}/0", "insert", None),)
    yield (Edit(path, pointer, "set", None),)


def _swapped(
    path: str, pointer: str, found: list[Any], freedoms: Freedoms, at: Tokens
) -> Iterator[tuple[Edit, ...]]:
    """Two neighbours in each other's place, if that can be told: exact items, or numbers far apart."""
    is_exact = freedoms == Freedoms()
    for index, (one, other) in enumerate(zip(found, found[1:], strict=False)):
        bound = 3 * freedoms.tolerance
        is_told = (
            not same(one, other)
            if is_exact
            else (
                is_number(one)
                and is_number(other)
                and not is_close(one, other, bound, 3 * freedoms.relative)
                and not is_close(other, one, bound, 3 * freedoms.relative)
            )
        )
        is_free = any(matches((*at, str(place)), freedoms.free) for place in (index, index + 1))
        if is_told and not is_free:
            yield (
                Edit(path, f"{pointer}/{index}", "set", other),
                Edit(path, f"{pointer}/{index + 1}", "set", one),
            )
            return


def _broken_text(path: str, text: str, document: Any) -> Iterator[tuple[Edit, ...]]:
    bare = text.strip()
    if isinstance(document, dict) and document:
        key = json.dumps(next(iter(document)))
        yield (put(path, f"{{{key}: null, {bare[1:]}"),)
    if isinstance(document, (dict, list)):
        yield (put(path, bare[:-1]),)
    yield (put(path, f"{bare} {{}}"),)
    yield (put(path, f"result = {bare}"),)
    yield (put(path, b"\xff" + bare.encode()),)


def variants(args: Args, state: State, chooser: Chooser) -> Iterator[tuple[Edit, ...]]:
    """Other layout, order of keys, spelling of numbers; then what the named freedoms leave open."""
    path, _, pointer = args["path"].partition("#")
    text = decode_text(state.read(path, LIMIT_BYTES))
    document = parse_json(text.encode())
    yield (put(path, json.dumps(_reversed(document), indent=4, ensure_ascii=True) + "\n\n"),)
    yield (put(path, json.dumps(document, separators=(",", ":"), ensure_ascii=False)),)
    yield (put(path, b"\xef\xbb\xbf" + text.encode()),)
    yield (put(path, json.dumps(_as_floats(document), indent=1)),)
    if "equals" not in args:
        return
    base = split_pointer(pointer)
    freedoms = freedoms_of(dict(args))
    for changed in _freed(lookup(document, base)[1], args["equals"], freedoms, chooser):
        whole = copy.deepcopy(document)
        if base:
            parent = lookup(whole, base[:-1])[1]
            parent[int(base[-1]) if isinstance(parent, list) else base[-1]] = changed
        else:
            whole = changed
        yield (put(path, json.dumps(whole, indent=2) + "\n"),)


def _freed(value: Any, wanted: Any, freedoms: Freedoms, chooser: Chooser) -> Iterator[Any]:
    if freedoms.unordered:
        yield _shuffled(value, freedoms, ())
    if freedoms.extra_keys and isinstance(value, dict):
        yield {**value, _other_key("more", {*value, *wanted}): 1}
    if freedoms.tolerance or freedoms.relative:
        yield _shifted(value, wanted, freedoms, 0.5)
        yield _shifted(value, wanted, freedoms, -0.5)
    for pattern in freedoms.free:
        is_there, _ = lookup(value, pattern)
        if is_there and pattern:
            changed = copy.deepcopy(value)
            parent = lookup(changed, pattern[:-1])[1]
            parent[int(pattern[-1]) if isinstance(parent, list) else pattern[-1]] = "anything"
            yield changed


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(item) for key, item in reversed(value.items())}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


def _as_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_floats(item) for item in value]
    is_small = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53
    return float(value) if is_small else value


def _shuffled(value: Any, freedoms: Freedoms, at: Tokens) -> Any:
    """Every list in free order turned round."""
    if isinstance(value, dict):
        return {key: _shuffled(item, freedoms, (*at, key)) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    items = [_shuffled(item, freedoms, (*at, str(index))) for index, item in enumerate(value)]
    return items[::-1] if matches(at, freedoms.unordered) else items


def _shifted(value: Any, wanted: Any, freedoms: Freedoms, share: float, at: Tokens = ()) -> Any:
    """Every wanted number off by a share of the tolerance; what is not paired one to one stays as found."""
    if isinstance(value, dict) and isinstance(wanted, dict):
        return {
            key: _shifted(item, wanted[key], freedoms, share, (*at, key)) if key in wanted else item
            for key, item in value.items()
        }
    if isinstance(value, list) and isinstance(wanted, list) and not matches(at, freedoms.unordered):
        return [
            _shifted(item, other, freedoms, share, (*at, str(index)))
            for index, (item, other) in enumerate(zip(value, wanted, strict=False))
        ]
    if is_number(wanted):
        return wanted + share * max(freedoms.tolerance, freedoms.relative * abs(wanted))
    return value


def _has_list(value: Any) -> bool:
    below = value.values() if isinstance(value, dict) else ()
    return isinstance(value, list) or any(_has_list(item) for item in below)


def _has_object(value: Any) -> bool:
    below = value if isinstance(value, list) else ()
    return isinstance(value, dict) or any(_has_object(item) for item in below)
