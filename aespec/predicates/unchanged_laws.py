"""What breaks the claim that something is unchanged, what keeps it, and how it is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aespec.model.chooser import Chooser, rotated
from aespec.model.edit import Edit
from aespec.model.edit_forms import delete, put
from aespec.predicates import unchanged
from aespec.predicates.arguments import misfits
from aespec.predicates.wording import listed
from aespec.runtime.state import State

Args = Mapping[str, Any]


def says(args: Args) -> str:
    """The sentence for the solver."""
    path = f"`{args['path']}`"
    excepted = listed(args.get("except"))
    but = f", but for {', '.join(f'`{item}`' for item in excepted)}" if excepted else ""
    more = ", and nothing is added to it" if args.get("strict") else ""
    return f"{path} stays as it is{but}{more}."


def promises(args: Args) -> tuple[str, ...]:
    """What may change after all; of a single file it is asked for as strict, as nothing lies below it."""
    found = ["Caches that common tools write by themselves don't count."]
    if not args.get("strict"):
        found.append(f"New files below `{args['path'].rstrip('/') or '/'}` are no change.")
    return tuple(found)


def reads(args: Args) -> tuple[str, ...]:
    """The file, or the folder with all below it."""
    return (str(args["path"]),)


def literals(args: Args) -> tuple[str | int | float, ...]:
    """The path."""
    return (str(args["path"]),)


def faults(args: Args) -> tuple[str, ...]:
    """An exception that leaves nothing of the claim."""
    if wrong := misfits(unchanged.SIGNATURE, args):
        return wrong
    path = args["path"].rstrip("/")
    if any(item.rstrip("/") in (path, "*", f"{path}/*") for item in listed(args.get("except"))):
        return ("all of it is excepted, so nothing is claimed",)
    return ()


def needs(args: Args) -> tuple[str, ...]:
    """Bytes only; the one bit of the mode that counts travels with them."""
    return unchanged.SIGNATURE.needs


def violations(args: Args, state: State, chooser: Chooser) -> Iterator[tuple[Edit, ...]]:
    """A byte of a file off, a file longer, emptied, gone, no longer or newly executable; or one more if
    strict.
    """
    path = args["path"].rstrip("/")
    baseline = state.baseline(args["path"])
    patterns = unchanged.patterns_of(dict(args))
    files = sorted(
        relative
        for relative, facts in baseline.items()
        if facts.get("kind", "file") == "file" and not unchanged.is_excepted(relative, patterns)
    )
    for relative in rotated(files, chooser)[:4]:
        place = f"{path}/{relative}" if relative else args["path"]
        data = state.read(place, 1 << 62)
        if data:
            at = chooser.integer(0, len(data) - 1)
            yield (put(place, data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]),)
            yield (put(place, b""),)
        yield (put(place, data + b"\n"),)
        mode = baseline[relative].get("mode")
        if mode is not None:
            same = put(place, data)
            yield (Edit(place, "", "put", {**same.value, "mode": mode ^ 0o100}),)  # type: ignore[dict-item]
        yield (delete(place),)
    if args.get("strict") and "" not in baseline:
        yield (put(f"{path}/aespec-new", b"new"),)


def variants(args: Args, state: State, chooser: Chooser) -> Iterator[tuple[Edit, ...]]:
    """A cache beside the files, and any new file unless that is forbidden."""
    path = args["path"].rstrip("/")
    if "" in state.baseline(args["path"]) and state.baseline(args["path"])[""].get("kind") == "file":
        return
    yield (put(f"{path}/__pycache__/new.pyc", b"\0"),)
    if not args.get("strict"):
        yield (put(f"{path}/aespec-new", b"new"),)
