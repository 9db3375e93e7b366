"""What breaks a claim about a program, what keeps it, and how it is told."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from aespec.model.chooser import Chooser
from aespec.model.edit import Edit
from aespec.model.edit_forms import delete, put
from aespec.predicates import command
from aespec.predicates.arguments import misfits
from aespec.predicates.wording import listed, told, tolerance_promises
from aespec.runtime.state import State, Trouble

Args = Mapping[str, Any]

OUTPUTS = (
    "stdout",
    "stdout_lines",
    "stdout_matches",
    "stdout_json",
    "stderr",
    "stderr_matches",
    "creates",
    "same",
)
"""What can be claimed beyond the exit status."""


def says(args: Args) -> str:
    """The sentence for the solver; outputs are never shown."""
    line = " ".join(listed(args["argv"]))
    where = f" in `{args['cwd']}`" if args.get("cwd", "/") != "/" else ""
    parts = [f"ends with status {args.get('status', 0)}"]
    if any(args.get(name) is not None for name in OUTPUTS[:4]):
        parts.append("writes the right output")
    if args.get("stderr") is not None or args.get("stderr_matches") is not None:
        parts.append("writes the right messages to standard error")
    if args.get("creates"):
        parts.append(f"makes {_shown(list(args['creates']))} with the right content")
    if args.get("same"):
        parts.append(
            f"makes {_shown(listed(args['same']))} the same byte for byte in every run{_varied(args)}"
        )
    return f"`{line}`, run{where}, {_joined(parts)}."


def _varied(args: Args) -> str:
    """How the runs differ, in words."""
    words = {
        "env": "environment variables",
        "umask": "umask",
        "mtime": "modification times of the sources",
        "copy_to": "folder",
    }
    runs = told(command.runs_of, args) or []
    keys = {key for item in runs for key in item}
    named = [text for key, text in words.items() if key in keys]
    return f", whatever the {_joined(named)}" if named else ""


def promises(args: Args) -> tuple[str, ...]:
    """How it is run, and what is ignored in outputs."""
    limit = f"{args.get('timeout', 60.0):g}"
    found = [
        f"It is run again by the verifier: under another account, without network, for at most {limit} s."
    ]
    if any(args.get(name) is not None for name in ("stdout", "stdout_lines", "stderr", "creates")):
        found.append("In texts, line ends and blanks at line ends don't count." if _is_lenient(args) else "")
    if args.get("stdout_lines") is not None and args.get("order", "given") == "any":
        found.append("The order of the lines is free.")
    found += tolerance_promises(args)
    return tuple(text for text in found if text)


def reads(args: Args) -> tuple[str, ...]:
    """The program's files that the command names, and the folder that it is run in where those lie
    elsewhere.
    """
    named = _programs(args)
    cwd = args.get("cwd", "/").rstrip("/")
    if cwd and not any(path.startswith(f"{cwd}/") for path in named):
        named.append(cwd)
    return tuple(named)


def literals(args: Args) -> tuple[str | int | float, ...]:
    """The command, its folder, status and what it makes.

    A hidden program on the standard input of an interpreter and its arguments are the verifier's own.
    """
    is_own = args.get("stdin_file") is not None and not _programs(args)
    found: list[str | int | float] = [] if is_own else listed(args["argv"])  # type: ignore[assignment]
    if args.get("cwd", "/") != "/":
        found.append(args["cwd"])
    if args.get("status", 0) != 0:
        found.append(args["status"])
    return (*found, *(args.get("creates") or {}), *listed(args.get("same")))


def faults(args: Args) -> tuple[str, ...]:
    """What is wrong with the arguments themselves."""
    if wrong := misfits(command.SIGNATURE, args):
        return wrong
    found = []
    if not listed(args["argv"]):
        found.append("argv is empty")
    try:
        runs = command.runs_of(dict(args))
    except Trouble as trouble:
        return (str(trouble),)
    if args.get("same") and len(runs) < 2:
        found.append("one run can't differ from itself: same needs variations or a repeat of 2")
    if args.get("variations") and not args.get("same") and not _is_more_than_status(args):
        found.append("the runs of variations claim nothing but the status")
    if any("copy_to" in item for item in runs) and args.get("cwd", "/") == "/":
        found.append("copy_to needs a cwd")
    for item in runs:
        found += _variation_faults(item)
    for path, wanted in (args.get("creates") or {}).items():
        if not path.startswith("/"):
            found.append(f"creates names {path}, which isn't absolute")
        if not isinstance(wanted, str) and not (
            isinstance(wanted, dict) and (set(wanted) == {"json"} or _is_digest(wanted))
        ):
            found.append(f"creates wants a text, a sha256 or a json for {path}")
    return tuple(found)


def _is_digest(wanted: dict[str, Any]) -> bool:
    return set(wanted) == {"sha256"} and isinstance(wanted["sha256"], str)


def _variation_faults(item: Mapping[str, Any]) -> list[str]:
    """What is wrong with one of the `variations`."""
    found = []
    if not isinstance(item.get("env", {}), dict):
        found.append("env of a variation is no map")
    if "umask" in item and not re.fullmatch(r"[0-7]{1,4}", str(item["umask"])):
        found.append(f"{item['umask']!r} is no umask in octal")
    if not isinstance(item.get("mtime", 0), int) or isinstance(item.get("mtime", 0), bool):
        found.append("mtime of a variation is no whole number of seconds")
    if not str(item.get("copy_to", "/")).startswith("/"):
        found.append("copy_to of a variation isn't absolute")
    return found


def needs(args: Args) -> tuple[str, ...]:
    """A program is run."""
    return command.SIGNATURE.needs


def violations(args: Args, state: State, chooser: Chooser) -> Iterator[tuple[Edit, ...]]:
    """The program stubbed, ending otherwise, or gone; where the command names no file of the state, none."""
    for path in _programs(args):
        found = state.stat(path)
        if found is None or found.kind != "file":
            continue
        is_python = path.endswith(".py")
        other = 1 if args.get("status", 0) == 0 else 0
        yield (put(path, f"raise SystemExit({other})\n" if is_python else f"#!/bin/sh\nexit {other}\n"),)
        if _is_more_than_status(args):
            status = args.get("status", 0)
            yield (
                put(path, f"raise SystemExit({status})\n" if is_python else f"#!/bin/sh\nexit {status}\n"),
            )
        yield (delete(path),)
        return


def variants(args: Args, state: State, chooser: Chooser) -> Iterator[tuple[Edit, ...]]:
    """A blank line and a comment at the end of the program, where its language is known to take them."""
    for path in _programs(args):
        found = state.stat(path)
        if found is not None and found.kind == "file" and path.endswith((".py", ".sh")):
            data = state.read(path)
            yield (put(path, data.rstrip(b"\n") + b"\n\n# the end\n"),)
            return


def _programs(args: Args) -> list[str]:
    """The files that the command names by an absolute path or one relative to its folder."""
    cwd = args.get("cwd", "/")
    found = []
    for word in listed(args["argv"]):
        is_path = word.startswith(("/", "./")) or ("/" not in word and "." in word.strip("."))
        if is_path and not word.startswith(("-", "/usr/", "/bin/", "/sbin/", "/lib/")):
            found.append(posixpath.normpath(posixpath.join(cwd, word)))
    return found


def _is_more_than_status(args: Args) -> bool:
    return any(args.get(name) is not None for name in OUTPUTS) or "stdout_json" in args


def _is_lenient(args: Args) -> bool:
    return args.get("trim", "lines") in ("lines", "all")


def _shown(paths: list[str]) -> str:
    return _joined([f"`{path}`" for path in paths])


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
