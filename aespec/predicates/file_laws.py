"""What breaks a claim about a file, what keeps it, and how it is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aespec.model.chooser import Chooser
from aespec.model.edit import Edit
from aespec.model.edit_forms import delete, put
from aespec.predicates import file
from aespec.predicates.arguments import misfits
from aespec.runtime.memory import MemoryState
from aespec.runtime.state import State, Trouble
from aespec.runtime.wording import counted

Args = Mapping[str, Any]


def says(args: Args) -> str:
    """The sentence for the solver; content and digest are never shown."""
    path, kind = f"`{args['path']}`", args.get("kind", "file")
    if kind == "absent":
        return f"There is nothing at {path}."
    what = {"file": "is a regular file", "folder": "is a folder", "link": "is a symbolic link"}[kind]
    parts = [f"{path} {what}"]
    if args.get("target") is not None:
        parts.append(f"to `{args['target']}`")
    if args.get("mode") is not None:
        parts.append(f"with mode {args['mode']}")
    if args.get("content") is not None or args.get("sha256") is not None:
        parts.append("with exactly the right bytes")
    if args.get("min_size") is not None:
        parts.append(f"of at least {counted(args['min_size'], 'byte')}")
    if args.get("max_size") is not None:
        parts.append(f"of at most {counted(args['max_size'], 'byte')}")
    return " ".join(parts) + "."


def promises(args: Args) -> tuple[str, ...]:
    """Only that bytes are compared as bytes."""
    if args.get("content") is not None or args.get("sha256") is not None:
        return ("Every byte counts, line ends too.",)
    return ()


def reads(args: Args) -> tuple[str, ...]:
    """The file."""
    return (str(args["path"]),)


def literals(args: Args) -> tuple[str | int | float, ...]:
    """The path and what its sentence names."""
    named = (args.get(name) for name in ("path", "target", "mode", "min_size", "max_size"))
    return tuple(value for value in named if value is not None)


def faults(args: Args) -> tuple[str, ...]:
    """What is wrong with the arguments themselves."""
    if wrong := misfits(file.SIGNATURE, args):
        return wrong
    try:
        file.holds(MemoryState.of({args["path"]: b""}), dict(args))
    except Trouble as trouble:
        return (str(trouble),)
    least, most = args.get("min_size"), args.get("max_size")
    if least is not None and most is not None and least > most:
        return ("min_size is above max_size",)
    return ()


def needs(args: Args) -> tuple[str, ...]:
    """Permission bits are metadata, and so is a link as such."""
    if args.get("mode") is not None or args.get("kind") == "link":
        return ("bytes", "metadata")
    return file.SIGNATURE.needs


def violations(args: Args, state: State, chooser: Chooser) -> Iterator[tuple[Edit, ...]]:
    """A byte off, too short, too long, another mode, gone; or there after all."""
    path, kind = args["path"], args.get("kind", "file")
    if kind == "absent":
        yield (put(path, b""),)
        yield (put(path, b"x"),)
        return
    if kind != "file":
        yield (delete(path),)
        return
    data = state.read(path)
    if args.get("content") is not None or args.get("sha256") is not None:
        at = chooser.integer(0, max(len(data) - 1, 0))
        yield (
            (put(path, data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]),) if data else (put(path, b"\n"),)
        )
        yield (put(path, data + b"\n"),)
        if data:
            yield (put(path, data[:-1]),)
            yield (put(path, b""),)
        yield (put(path, data + data + b"\0"),)
    if args.get("min_size"):
        yield (put(path, data[: args["min_size"] - 1]),)
        yield (put(path, b""),)
    if args.get("max_size") is not None:
        yield (put(path, data + b"x" * (args["max_size"] + 1 - len(data))),)
    if args.get("mode") is not None:
        other = int(args["mode"], 8) ^ 0o100
        yield (Edit(path, "", "put", {**_content(put(path, data)), "mode": other}),)
    yield (delete(path),)


def variants(args: Args, state: State, chooser: Chooser) -> Iterator[tuple[Edit, ...]]:
    """Other content where none is claimed."""
    path = args["path"]
    if (
        args.get("kind", "file") != "file"
        or args.get("content") is not None
        or args.get("sha256") is not None
    ):
        return
    data = state.read(path)
    if data:
        yield (put(path, bytes([data[0] ^ 1]) + data[1:]),)
    if args.get("max_size") is None:
        yield (put(path, data + b"more"),)
    if args.get("min_size") is None:
        yield (put(path, b""),)


def _content(edit: Edit) -> dict[str, Any]:
    return edit.value if isinstance(edit.value, dict) else {}
