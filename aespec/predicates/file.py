"""A file, folder or link stands at a path, perhaps of some size, mode or content; or nothing does."""

from __future__ import annotations

import re
from typing import Any, Dict

from aespec.runtime.signature import Param, Signature
from aespec.runtime.state import HELD, Missing, Stat, State, Trouble, Verdict, failed
from aespec.runtime.wording import counted

SIGNATURE = Signature(
    "file",
    "Something stands at a path, or nothing does; its bytes, size or mode are as said.",
    (
        Param("path", "path", "Where it stands.", is_required=True),
        Param(
            "kind",
            "enum",
            "What stands there. `file` and `folder` may be reached through links, `link` is the link itself.",
            default="file",
            choices=("file", "folder", "link", "absent"),
        ),
        Param("content", "text", "The exact content, byte for byte in UTF-8."),
        Param("sha256", "text", "The SHA-256 of the content, in hexadecimal."),
        Param("min_size", "size", "The least size, in bytes."),
        Param("max_size", "size", "The largest size, in bytes."),
        Param("mode", "text", 'The permission bits in octal, `"0755"`.'),
        Param("target", "text", "Where a link points to, as written in it."),
    ),
)


def holds(state: State, args: Dict[str, Any]) -> Verdict:
    """Judge the claim. Arguments that contradict each other are trouble of the spec's."""
    path, kind = args["path"], args.get("kind", "file")
    _demand_sense(args, kind)
    found = state.stat(path)
    if kind == "absent":
        return HELD if found is None else failed(f"{path} is there and must not be")
    if found is None:
        return failed(f"there is nothing at {path}")
    if kind == "link":
        return _judge_link(state, args, found)
    if kind == "folder":
        try:
            state.names(path)
        except Missing as missing:
            return failed(str(missing))
        return _judge_mode(args, found)
    return _judge_file(state, args, found)


def _demand_sense(args: Dict[str, Any], kind: str) -> None:
    of_files = [name for name in ("content", "sha256", "min_size", "max_size") if args.get(name) is not None]
    if of_files and kind != "file":
        raise Trouble(f"file: {of_files[0]} means nothing for kind {kind}")
    if args.get("target") is not None and kind != "link":
        raise Trouble(f"file: target means nothing for kind {kind}")
    if args.get("mode") is not None and kind not in ("file", "folder"):
        raise Trouble(f"file: mode means nothing for kind {kind}")
    if args.get("mode") is not None and not re.fullmatch(r"[0-7]{1,4}", args["mode"]):
        raise Trouble(f"file: {args['mode']!r} is no mode in octal")


def _judge_link(state: State, args: Dict[str, Any], found: Stat) -> Verdict:
    path, target = args["path"], args.get("target")
    if found.kind != "link":
        return failed(f"{path} is a {found.kind}, not a link")
    if target is not None and state.link(path) != target:
        return failed(f"{path} points to {state.link(path)!r}, not to {target!r}")
    return HELD


def _judge_file(state: State, args: Dict[str, Any], found: Stat) -> Verdict:
    path = args["path"]
    try:
        wanted = args.get("content")
        if wanted is not None:
            data = wanted.encode()
            # One byte more than wanted is enough to tell.
            if state.read(path, max(len(data), 1)) != data:
                return failed(f"{path} has another content than expected")
        digest = args.get("sha256")
        if digest is not None and state.digest(path) != digest.lower():
            return failed(f"{path} has another SHA-256 than expected")
        size = _size(state, path, found)
    except Missing as missing:
        return failed(str(missing))
    least, most = args.get("min_size"), args.get("max_size")
    if least is not None and size < least:
        return failed(f"{path} has {counted(size, 'byte')}, fewer than {least}")
    if most is not None and size > most:
        return failed(f"{path} has {counted(size, 'byte')}, more than {most}")
    return _judge_mode(args, found)


def _size(state: State, path: str, found: Stat) -> int:
    """The size of a regular file; what a link leads to has to be read to be known."""
    if found.kind == "file":
        return found.size
    if found.kind == "link":
        return len(state.read(path))
    raise Missing(f"{path} is not a regular file")


def _judge_mode(args: Dict[str, Any], found: Stat) -> Verdict:
    wanted = args.get("mode")
    if wanted is None:
        return HELD
    bits = int(wanted, 8)
    if found.kind == "link":
        return failed(f"{args['path']} is a link, so its mode says nothing")
    if found.mode != bits:
        return failed(f"{args['path']} has mode {found.mode:04o}, not {bits:04o}")
    return HELD
