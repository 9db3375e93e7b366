"""Why a trial ended as it did, per check, rule and claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aespec.diagnostics.escape import escape_controls
from aespec.model.expressions import Json
from aespec.trial.result import TrialResult, checks_of, objects

REASON_LIMIT = 600
FULL_REASON_LIMIT = 20_000
"""How many characters of a reason are shown; `aespec why` shows the full length."""

STREAMS = ("agent.stderr", "agent.output", "verifier.stderr", "verifier.output")
STREAM_TAIL_BYTES = 8192
STREAM_TAIL_LINES = 15
"""How much of the end of a stream is told."""

_WHOSE = {
    "spec": "the spec or the bundle",
    "image": "the image, which could not be made",
    "oracle": "the oracle",
    "verifier": "the verifier",
    "sandbox": "the sandbox or the machine",
}


def explain(result: TrialResult, *, is_full: bool = False) -> str:
    """A text for a terminal: the outcome and whose doing it is, then each check with what failed in it.

    `is_full` adds what the task says of what failed, reasons in their full length, and the last lines that
    the agent and the verifier wrote.
    """
    reward = "no reward" if result.reward is None else f"reward {result.reward:g}"
    lines = [f"{_safe(result.task)}  {_safe(result.agent)}  {result.outcome.upper()}  {reward}"]
    if result.boundary is not None:
        lines.append(f"  It is up to {_WHOSE.get(result.boundary, result.boundary)}.")
    if result.message:
        lines.extend(f"  {_safe(line)}" for line in result.message.splitlines())
    if result.details is None:
        lines.append("  The verifier left no details.")
    for check in checks_of(result.details):
        lines.extend(_check_lines(check, result.sentences if is_full else {}, is_full=is_full))
    if is_full:
        for name in STREAMS:
            lines.extend(_stream_lines(name, result.logs.get(name, b"")))
    if not result.is_reproducible:
        lines.append("  Tried on this machine's own /usr: another machine may come to another result.")
    return "\n".join(lines) + "\n"


def _check_lines(check: Mapping[str, Json], sentences: Mapping[str, str], *, is_full: bool) -> Iterator[str]:
    """A check, its rules, and its claims that don't hold; a reason stands once, at the lowest that has it."""
    limit = FULL_REASON_LIMIT if is_full else REASON_LIMIT
    claims = [claim for claim in objects(check.get("claims")) if claim.get("verdict") != "pass"]
    told = {claim.get("reason") for claim in claims}
    for part, kind, indent in (
        (check, "check", "  "),
        *((rule, "rule", "      ") for rule in objects(check.get("rules"))),
    ):
        reason = "" if part.get("reason") in told else _reason(part, limit)
        told.add(part.get("reason"))
        yield f"{indent}{_verdict(part)} {kind} {_safe(part.get('id'))}{reason}"
        sentence = sentences.get(str(part.get("id")))
        if sentence:
            yield f"{indent}      “{_safe(sentence)}”"
    shown: set[object] = set()
    for claim in claims:
        name = f"{_safe(claim.get('predicate'))} {_safe(claim.get('id'))}"
        reason = ": the same" if claim.get("reason") in shown else _reason(claim, limit)
        shown.add(claim.get("reason"))
        yield f"      {_verdict(claim)} {name}{reason}"


def _stream_lines(name: str, data: bytes) -> Iterator[str]:
    """The end of a stream, harmless for a terminal; nothing where nothing was written."""
    lines = data[-STREAM_TAIL_BYTES:].decode("utf-8", "replace").splitlines()
    lines = [line for line in lines if line.strip()][-STREAM_TAIL_LINES:]
    if lines:
        who, _, stream = name.partition(".")
        yield f"  the last lines of the {who}'s {stream}:"
        yield from (f"    {_safe(line)}" for line in lines)


def _verdict(part: Mapping[str, Json]) -> str:
    return {"pass": "pass ", "fail": "FAIL ", "error": "ERROR"}.get(str(part.get("verdict")), "?    ")


def _reason(part: Mapping[str, Json], limit: int) -> str:
    reason = part.get("reason")
    return f": {_safe(reason, limit)}" if isinstance(reason, str) and reason else ""


def _safe(value: object, limit: int = REASON_LIMIT) -> str:
    text = escape_controls(str(value)).replace("\n", "\\n")
    return text if len(text) <= limit else text[:limit] + " …"
