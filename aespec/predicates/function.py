"""The solver's Python function, called in a child process, returns or raises what it should."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List, Mapping, Optional

from aespec.runtime.compare import Freedoms, difference, split_pointer
from aespec.runtime.decode import parse_json, show
from aespec.runtime.signature import Param, Signature
from aespec.runtime.state import HELD, Finished, Missing, NotStarted, State, Trouble, Verdict, failed

OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024

CASE_KEYS = {"args", "kwargs", "returns", "raises", "message", "after"}

SIGNATURE = Signature(
    "function",
    "A function of a Python file is called in a child process under an account of its own; what it returned "
    "is compared afterwards as data. Tuples count as lists; `{ '$set' = [1, 2] }`, `$bytes` (base64), "
    "`$map` (pairs) and `$float` (`nan`, `inf`) stand for what JSON lacks, in arguments also `$tuple`.",
    (
        Param("path", "path", "The Python file.", is_required=True),
        Param("name", "text", "The function; a dotted name leads through classes.", is_required=True),
        Param(
            "cases",
            "value",
            "A list of maps: `args` (a list), `kwargs` (a map), and `returns` (the value) or `raises` (a "
            "class's name, perhaps with `message`); with `after`, also what the arguments are afterwards.",
        ),
        Param("cases_file", "hidden-file", "The same list in a hidden JSON file."),
        Param(
            "driver",
            "hidden-file",
            "A hidden Python program that runs in the child instead: it finds the module as `subject`, the "
            "value of `given` as `given`, and calls `emit(value)`. It should emit what it observed, never a "
            "verdict: the solver's code runs in the same process and could emit too.",
        ),
        Param("given", "value", "A value for the driver."),
        Param("emits", "value", "What the driver emits: a list of the values."),
        Param("root", "path", "The folder that imports start from; without it, the file's own."),
        Param("writes", "paths", "The folders that it may write; without it, `root`."),
        Param("python", "path", "The interpreter; without it, the verifier's own."),
        Param("timeout", "duration", "How long each child may take.", default=60.0),
        Param("isolate", "bool", "Whether each case has a process of its own.", default=False),
        Param("tolerance", "number", "How far a number may be off, absolutely."),
        Param("relative", "number", "How far a number may be off, as a fraction of the expected one."),
        Param(
            "unordered", "texts", "Pointers into each result to lists whose order is free, `*` for any step."
        ),
    ),
    needs=("bytes", "program"),
    requires_one_of=(("cases", "cases_file", "driver"),),
)


def holds(state: State, args: Dict[str, Any]) -> Verdict:
    """Judge the claim. What is expected never enters the child."""
    try:
        if args.get("driver") is not None:
            reason = _driver_fault(state, args)
        else:
            reason = _cases_fault(state, args, cases_of(state, args))
    except Missing as missing:
        reason = str(missing)
    return failed(f"{args['path']} {args['name']}: {reason}") if reason else HELD


def cases_of(state: State, args: Dict[str, Any]) -> List[Dict[str, Any]]:
    """The cases, given or from the hidden file. Raises `Trouble` where one of them claims nothing."""
    cases = args.get("cases")
    if args.get("cases_file") is not None:
        cases = parse_json(state.hidden(args["cases_file"]))
    if not isinstance(cases, list) or not cases:
        raise Trouble("function: there are no cases")
    for case in cases:
        if not isinstance(case, dict) or not set(case) <= CASE_KEYS:
            raise Trouble(f"function: {show(case)} is no case")
        if ("returns" in case) == ("raises" in case):
            raise Trouble(f"function: the case {show(case)} must have one of returns and raises")
        if not isinstance(case.get("args", []), list) or not isinstance(case.get("kwargs", {}), dict):
            raise Trouble(f"function: in the case {show(case)} args is no list, or kwargs no map")
        if not isinstance(case.get("raises", ""), str):
            raise Trouble(f"function: in the case {show(case)} raises is no name of a class")
    return cases


def _cases_fault(state: State, args: Dict[str, Any], cases: List[Dict[str, Any]]) -> str:
    calls = [{"args": case.get("args", []), "kwargs": case.get("kwargs", {})} for case in cases]
    if args.get("isolate"):
        results = []
        for call in calls:
            results += _results(_ask(state, args, {"cases": [call]}), 1)
    else:
        results = _results(_ask(state, args, {"cases": calls}), len(calls))
    freedoms = _freedoms(args)
    for call, case, result in zip(calls, cases, results):
        reason = _case_fault(case, result, freedoms)
        if reason:
            return f"called with {_shown_call(call)}: {reason}"
    return ""


def _case_fault(case: Mapping[str, Any], result: Any, freedoms: Freedoms) -> str:
    if not isinstance(result, dict):
        return "its answer was not understood"
    if "raises" in case:
        names = result.get("raised")
        if not isinstance(names, list) or case["raises"] not in names:
            return f"expected it to raise {case['raises']}, but it {_shown_end(result)}"
        if "message" in case and result.get("message") != case["message"]:
            return f"expected the message {show(case['message'])}, found {show(result.get('message'))}"
        return ""
    if "returned" not in result:
        return f"it {_shown_end(result)}"
    reason = difference(result["returned"], case["returns"], freedoms)
    if reason is None and "after" in case:
        reason = difference(result.get("after"), case["after"], freedoms)
        return "" if reason is None else f"its arguments afterwards: {reason}"
    return reason or ""


def _driver_fault(state: State, args: Dict[str, Any]) -> str:
    if "emits" not in args:
        raise Trouble("function: a driver needs emits")
    text = state.hidden(args["driver"]).decode()
    result = _ask(state, args, {"driver": text, "given": args.get("given")})
    if not isinstance(result.get("emitted"), list):
        return f"with the driver, it {_shown_end(result)}"
    return difference(result["emitted"], args["emits"], _freedoms(args)) or ""


def root_of(args: Dict[str, Any]) -> str:
    """The folder that imports start from. Raises `Trouble` where the file doesn't lie below it."""
    path: str = args["path"]
    root = (args.get("root") or os.path.dirname(path)).rstrip("/") or "/"
    if not path.startswith(root.rstrip("/") + "/"):
        raise Trouble(f"function: {path} is not below {root}")
    return root


def _ask(state: State, args: Dict[str, Any], request: Dict[str, Any]) -> Dict[str, Any]:
    """Run one child. Raises `Missing` where it gives no answer."""
    path, root = args["path"], root_of(args)
    writes = args.get("writes")
    if writes is None:
        writes = [] if root == "/" else [root]
    found = state.stat(path)
    if found is None:
        raise Missing("the file is missing")
    # The child stands in `root`, so paths relative to it hold wherever the state lies.
    body = {"path": os.path.relpath(path, root), "root": ".", "name": args["name"], **request}
    ended = _run(
        state, args, root, [writes] if isinstance(writes, str) else writes, json.dumps(body).encode()
    )
    if ended.is_timed_out:
        raise Missing("it took too long")
    if ended.is_truncated or not ended.stdout:
        raise Missing("the process ended before it answered" if not ended.stdout else "it answered too much")
    try:
        answer = parse_json(ended.stdout)
    except Missing:
        raise Missing("its answer was not understood") from None
    if not isinstance(answer, dict):
        raise Missing("its answer was not understood")
    if "load" in answer:
        raise Missing(f"it can't be loaded: it {_shown_end(answer['load'])}")
    return answer


def _run(state: State, args: Dict[str, Any], root: str, writes: List[str], stdin: bytes) -> Finished:
    """The child, in `root`. The verifier's own interpreter must start; one that the spec names may be the
    solver's.
    """
    python = args.get("python") or sys.executable or "/usr/bin/python3"
    try:
        return state.run(
            [python, "-I", "-B", "-c", _program()],
            cwd=root,
            stdin=stdin,
            timeout_s=float(args.get("timeout", 60.0)),
            env={"PYTHONHASHSEED": "0"},
            output_limit_bytes=OUTPUT_LIMIT_BYTES,
            writes=writes,
        )
    except NotStarted as reason:
        if args.get("python") is None:
            raise Trouble(str(reason)) from None
        raise


def _results(answer: Mapping[str, Any], count: int) -> List[Any]:
    results = answer.get("results")
    if not isinstance(results, list) or len(results) != count:
        raise Missing("its answer was not understood")
    return results


_text: Optional[str] = None


def _program() -> str:
    """The child's program, from the library's own file: it ships beside this one."""
    global _text  # noqa: PLW0603 - read once
    if _text is None:
        from aespec.runtime import subject

        with open(subject.__file__, encoding="utf-8") as stream:
            _text = stream.read()
    return _text


def _freedoms(args: Dict[str, Any]) -> Freedoms:
    pointers = args.get("unordered") or []
    return Freedoms(
        tolerance=float(args.get("tolerance") or 0),
        relative=float(args.get("relative") or 0),
        unordered=tuple(
            split_pointer(item) for item in ([pointers] if isinstance(pointers, str) else pointers)
        ),
    )


def _shown_call(call: Mapping[str, Any]) -> str:
    kwargs = f" and {show(call['kwargs'])}" if call["kwargs"] else ""
    return show(call["args"]) + kwargs


def _shown_end(result: Any) -> str:
    if not isinstance(result, dict):
        return "gave no answer"
    if isinstance(result.get("raised"), list) and result["raised"]:
        return f"raised {show(result['raised'][0], 60)[1:-1]}: {show(result.get('message'), 160)}"
    if "returned" in result:
        return f"returned {show(result['returned'])}"
    return "gave no answer"
