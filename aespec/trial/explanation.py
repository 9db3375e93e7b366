"""Why a trial ended as it did, per check, rule and claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aespec.diagnostics.escape import escape_controls
from aespec.model.expressions import Json
from aespec.trial.result import TrialResult, checks_of, objects

REASON_LIMIT = 2000
_WHOSE = {
    "spec": "the spec or the bundle",
    "image": "the image, which could not be made",
    "oracle": "the oracle",
    "verifier": "the verifier",
    "sandbox": "the sandbox or the machine",
}


def explain(result: TrialResult) -> str:
    """A text for a terminal: the outcome and whose doing it is, then each check with what failed in it."""
    reward = "no reward" if result.reward is None else f"reward {result.reward:g}"
    lines = [f"{_safe(result.task)}  {_safe(result.agent)}  {result.outcome.upper()}  {reward}"]
    if result.boundary is not None:
        lines.append(f"  It is up to {_WHOSE.get(result.boundary, result.boundary)}.")
    if result.message:
        lines.append(f"  {_safe(result.message)}")
    if result.details is None:
        lines.append("  The verifier left no details.")
    for check in checks_of(result.details):
        lines.extend(_check_lines(check))
    if not result.is_reproducible:
        lines.append("  Tried on this machine's own /usr: another machine may come to another result.")
    return "\n".join(lines) + "\n"


def _check_lines(check: Mapping[str, Json]) -> Iterator[str]:
    yield f"  {_verdict(check)} check {_safe(check.get('id'))}{_reason(check)}"
    for rule in objects(check.get("rules")):
        yield f"      {_verdict(rule)} rule {_safe(rule.get('id'))}{_reason(rule)}"
    for claim in objects(check.get("claims")):
        if claim.get("verdict") != "pass":
            name = f"{_safe(claim.get('predicate'))} {_safe(claim.get('id'))}"
            yield f"      {_verdict(claim)} {name}{_reason(claim)}"


def _verdict(part: Mapping[str, Json]) -> str:
    return {"pass": "pass ", "fail": "FAIL ", "error": "ERROR"}.get(str(part.get("verdict")), "?    ")


def _reason(part: Mapping[str, Json]) -> str:
    reason = part.get("reason")
    return f": {_safe(reason)}" if isinstance(reason, str) and reason else ""


def _safe(value: object) -> str:
    text = escape_controls(str(value)).replace("\n", "\\n")
    return text if len(text) <= REASON_LIMIT else text[:REASON_LIMIT] + " …"
