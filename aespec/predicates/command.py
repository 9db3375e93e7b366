"""A program, run again by the verifier, ends as it should, says what it should, makes what it should."""

from __future__ import annotations

import hashlib
import re
import time
from typing import Any, Dict, List, Mapping, Optional, Tuple

from aespec.runtime.compare import Freedoms, difference, split_pointer
from aespec.runtime.decode import decode_text, parse_json, show
from aespec.runtime.lines import TRIMS, line_difference, normal_lines
from aespec.runtime.patterns import full_match
from aespec.runtime.signature import Param, Signature
from aespec.runtime.state import HELD, Finished, Missing, State, Trouble, Verdict, failed

OUTPUT_LIMIT_BYTES = 4 * 1024 * 1024

PAUSE_LIMIT_S = 5.0
"""How long a run is held back for the clock to show another second, should the clock stand still."""

SIGNATURE = Signature(
    "command",
    "A program is run under an account of its own, without network. What it writes below `writes` counts "
    "only for this claim and is put back afterwards.",
    (
        Param(
            "argv",
            "texts",
            'The program and its arguments, no shell: `["/app/run.sh", "--all"]`.',
            is_required=True,
        ),
        Param("cwd", "path", "The folder that it is run in.", default="/"),
        Param("writes", "paths", "The folders that it may write; without it, `cwd` where that is not `/`."),
        Param("stdin", "text", "What it gets on standard input.", default=""),
        Param(
            "stdin_file",
            "hidden-file",
            "The same from a hidden file. A program may stand there that starts the solver's; what it starts "
            "has its account, but neither sees its variables nor reaches its memory.",
        ),
        Param("env", "map", "Environment variables beyond PATH, HOME, LANG and TZ."),
        Param("timeout", "duration", "How long it may take.", default=60.0),
        Param("status", "integer", "Its exit status.", default=0),
        Param("stdout", "text", "What it writes to standard output, line by line."),
        Param("stdout_lines", "texts", "The lines that it writes."),
        Param(
            "order",
            "enum",
            "Whether `stdout_lines` come as given.",
            default="given",
            choices=("given", "any"),
        ),
        Param("stdout_matches", "regex", "A pattern of Python's `re` that its whole output matches."),
        Param("stdout_json", "value", "The JSON value that it writes."),
        Param("unordered", "texts", "Pointers to lists of that value whose order is free, `*` for any step."),
        Param("tolerance", "number", "How far a number of that value may be off, absolutely."),
        Param("stderr", "text", "What it writes to standard error, line by line."),
        Param("stderr_matches", "regex", "A pattern that its whole standard error matches."),
        Param("trim", "enum", "What is ignored in texts, as for `text`.", default="lines", choices=TRIMS),
        Param(
            "creates",
            "map",
            'Files that it makes, to their text or to `{ sha256 = "…" }` or `{ json = … }`.',
        ),
        Param(
            "same",
            "paths",
            "Files or folders that it makes, which must come out byte for byte the same in every run.",
        ),
        Param(
            "variations",
            "value",
            'Further runs, each a map: `env`, `umask` (`"077"`), `mtime` (seconds since 1970, of all that it '
            "may write), "
            "`copy_to` (a free path: the run takes place on a copy of `cwd` there).",
        ),
        Param(
            "repeat",
            "integer",
            "How many plain runs there are; 2 where `same` is given without variations, else 1.",
        ),
    ),
    needs=("bytes", "program"),
)


def holds(state: State, args: Dict[str, Any]) -> Verdict:
    """Judge the claim, run by run."""
    first: Optional[Dict[str, str]] = None
    named = _list(args.get("same"))
    for number, variation in enumerate(runs_of(args)):
        if named and number:
            _await_next_second()
        try:
            ended = _run(state, args, variation)
            reason = _fault(ended, args)
        except Missing as missing:
            reason = str(missing)
        else:
            digests = {path: hashlib.sha256(data).hexdigest() for path, data in ended.files.items()}
            if not reason and named:
                first = digests if first is None else first
                reason = _unlike(digests, first, named)
        if reason:
            return failed(f"{_name(args, variation)}: {reason}")
    return HELD


def _await_next_second() -> None:
    """Wait until the clock shows a later second than any program that has ended can have seen."""
    second, deadline = int(time.time()), time.monotonic() + PAUSE_LIMIT_S
    while int(time.time()) <= second and time.monotonic() < deadline:
        time.sleep(max(0.001, second + 1 - time.time()))


def runs_of(args: Dict[str, Any]) -> List[Mapping[str, Any]]:
    """The variation of each run; plain ones come first."""
    variations = args.get("variations") or []
    if not isinstance(variations, list) or not all(isinstance(item, dict) for item in variations):
        raise Trouble("command: variations is not a list of maps")
    for item in variations:
        unknown = sorted(set(item) - {"env", "umask", "mtime", "copy_to"})
        if unknown:
            raise Trouble(f"command: a variation has {unknown[0]!r}")
    plain = args.get("repeat")
    if plain is None:
        plain = 2 if args.get("same") and not variations else 1
    if plain < 1:
        raise Trouble("command: repeat is below 1, so nothing would be run")
    return [*({} for _ in range(plain)), *variations]


def _run(state: State, args: Dict[str, Any], variation: Mapping[str, Any]) -> Finished:
    cwd = args.get("cwd", "/").rstrip("/") or "/"
    writes = args.get("writes")
    stdin = args.get("stdin", "").encode()
    if args.get("stdin_file") is not None:
        stdin = state.hidden(args["stdin_file"])
    relocate: Optional[Tuple[str, str]] = None
    if variation.get("copy_to"):
        if cwd == "/":
            raise Trouble("command: copy_to needs a cwd")
        relocate = (cwd, str(variation["copy_to"]).rstrip("/"))
    env = {**(args.get("env") or {}), **(variation.get("env") or {})}
    return state.run(
        _list(args["argv"]),
        cwd=cwd,
        stdin=stdin,
        timeout_s=float(args.get("timeout", 60.0)),
        env={str(name): _word(value) for name, value in env.items()},
        output_limit_bytes=OUTPUT_LIMIT_BYTES,
        writes=([] if cwd == "/" else [cwd]) if writes is None else _list(writes),
        collect=sorted({*(args.get("creates") or {}), *_list(args.get("same"))}),
        relocate=relocate,
        umask=_octal(variation.get("umask", "022")),
        mtime_s=variation.get("mtime"),
        is_guarded=args.get("stdin_file") is not None,
    )


def _fault(ended: Finished, args: Dict[str, Any]) -> str:
    if ended.is_timed_out:
        return "it took too long"
    status = args.get("status", 0)
    if ended.status != status:
        how = "was ended by a signal" if ended.status is None else f"ended with status {ended.status}"
        return f"it {how}, not with {status}{_last_words(ended)}"
    if ended.is_truncated:
        return f"it wrote more than {OUTPUT_LIMIT_BYTES} bytes"
    trim = args.get("trim", "lines")
    for stream in ("stdout", "stderr"):
        reason = _text_fault(getattr(ended, stream), stream, args, trim)
        if reason:
            return f"its {stream}: {reason}"
    for path, wanted in (args.get("creates") or {}).items():
        if path not in ended.files:
            return f"it made no file {path}"
        reason = _file_fault(ended.files[path], wanted, trim)
        if reason:
            return f"{path}: {reason}"
    return ""


def _text_fault(data: bytes, stream: str, args: Dict[str, Any], trim: str) -> str:
    names = (stream, f"{stream}_lines", f"{stream}_matches", f"{stream}_json")
    if not any(name in args for name in names):
        return ""
    try:
        text = decode_text(data)
        found = normal_lines(text, trim)
        if args.get(stream) is not None:
            reason = line_difference(found, normal_lines(args[stream], trim))
            if reason:
                return reason
        if args.get(f"{stream}_lines") is not None:
            wanted = [
                line for item in _list(args[f"{stream}_lines"]) for line in normal_lines(item, trim) or [""]
            ]
            reason = line_difference(found, wanted, args.get("order", "given"))
            if reason:
                return reason
        if args.get(f"{stream}_matches") is not None and not _is_match(args[f"{stream}_matches"], found):
            return "it does not match the pattern"
        if f"{stream}_json" in args:
            return difference(parse_json(data), args[f"{stream}_json"], _freedoms(args)) or ""
    except Missing as missing:
        return f"it {missing}"
    return ""


def _is_match(pattern: str, found: List[str]) -> bool:
    try:
        return bool(full_match(pattern, "\n".join(found)))
    except re.error as error:
        raise Trouble(f"command: the pattern is invalid: {error}") from None


def _file_fault(data: bytes, wanted: Any, trim: str) -> str:
    if isinstance(wanted, dict) and set(wanted) == {"sha256"}:
        return (
            "" if hashlib.sha256(data).hexdigest() == wanted["sha256"].lower() else "it has another SHA-256"
        )
    if isinstance(wanted, dict) and set(wanted) == {"json"}:
        try:
            return difference(parse_json(data), wanted["json"]) or ""
        except Missing as missing:
            return f"it {missing}"
    if not isinstance(wanted, str):
        raise Trouble("command: creates wants a text, a sha256 or a json for each file")
    try:
        return line_difference(normal_lines(decode_text(data), trim), normal_lines(wanted, trim)) or ""
    except Missing as missing:
        return f"it {missing}"


def _unlike(found: Mapping[str, str], first: Mapping[str, str], named: List[str]) -> str:
    """What is missing or differs between a run and the first; an output that isn't there is not the same."""
    for path in named:
        if not any(name == path or name.startswith(path.rstrip("/") + "/") for name in found):
            return f"it made nothing at {path}"
    for path in sorted({*found, *first}):
        if not any(path == name or path.startswith(name.rstrip("/") + "/") for name in named):
            continue
        if found.get(path) != first.get(path):
            return f"{path} came out another than in the first run"
    return ""


def _freedoms(args: Dict[str, Any]) -> Freedoms:
    return Freedoms(
        tolerance=float(args.get("tolerance") or 0),
        unordered=tuple(split_pointer(pointer) for pointer in _list(args.get("unordered"))),
    )


def _name(args: Dict[str, Any], variation: Mapping[str, Any]) -> str:
    how = ", ".join(f"{key} = {show(value, 60)}" for key, value in sorted(variation.items()))
    return f"{' '.join(_list(args['argv']))[:100]}" + (f" (with {how})" if how else "")


def _last_words(ended: Finished) -> str:
    lines = ended.stderr[-2000:].decode("utf-8", "replace").strip().splitlines()
    return f" ({show(lines[-1], 160)})" if lines else ""


def _list(value: Any) -> List[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else [str(item) for item in value]


def _word(value: Any) -> str:
    return value if isinstance(value, str) else show(value, 4000)


def _octal(text: Any) -> int:
    try:
        return int(str(text), 8)
    except ValueError:
        raise Trouble(f"command: {text!r} is no umask in octal") from None
