"""A certificate for a terminal: the verdict first, then each property with its counts, then what to mend."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping

from aespec.diagnostics.escape import escape_controls
from aespec.fuzz.certificate import Certificate, certificate_to_json
from aespec.model.expressions import Json
from aespec.report.telling import WIDTH, mapping, objects, safe, tell_cost
from aespec.runtime.wording import counted

CAVEAT = "Mechanical means can't show that the author meant the right thing: read its text and checks, too."
_VALID = {True: "VALID", False: "NOT VALID", None: "NOT DECIDED"}
_NAME_COLUMNS = 18
_REJECT = re.compile(
    r"(?P<who>reject .+): fails as it should on (?P<right>\d+) of (?P<tried>\d+) instances?(?P<rest>[,;].*)?"
)
_MARKS = {"holds": "+", "violated": "x", "flaky": "x", "inconclusive": "?", "not-measured": "-"}


def render_certificate(certificate: Certificate | Mapping[str, Json], *, width: int = WIDTH) -> str:
    """The text of a certificate, from the object or from its JSON form; lines are at most `width` columns."""
    told = certificate_to_json(certificate) if isinstance(certificate, Certificate) else certificate
    lines = [*_head(told, width), "", *_table(told), "", *_evidence(told, width)]
    findings = objects(told.get("findings"))
    if findings:
        lines += ["", *_findings(findings, width)]
    lines += ["", *_foot(told, width)]
    return "\n".join(lines).rstrip() + "\n"


def _head(told: Mapping[str, Json], width: int) -> Iterator[str]:
    valid = told.get("valid")
    verdict = f"{_VALID[valid if isinstance(valid, bool) else None]} as far as machines can tell"
    verdicts = [item.get("verdict") for item in objects(told.get("properties"))]
    held = verdicts.count("holds")
    if valid is None and held:
        rest = f"{_held(held, len(verdicts))}, {_open(len(verdicts) - held)}"
        verdict = f"no fault found; {rest}"
    yield f"{safe(told.get('task'))}: {verdict}"
    yield from textwrap.wrap(
        safe(told.get("scope")), width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
    )


def _held(held: int, of: int) -> str:
    return f"{held} of {counted(of, 'property', 'properties')} {'holds' if held == 1 else 'hold'}"


def _open(others: int) -> str:
    return "the other isn't decided" if others == 1 else "the others aren't decided"


def _table(told: Mapping[str, Json]) -> Iterator[str]:
    """One line per property: verdict and counts."""
    rows = [_row(item) for item in objects(told.get("properties"))]
    header = ("  property", "verdict", "tried", "bad", "95 % interval")
    sizes = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    for cells in [header, *rows]:
        yield _line(cells, sizes).rstrip()


def _row(item: Mapping[str, Json]) -> tuple[str, ...]:
    verdict = safe(item.get("verdict"))
    tried = item.get("tried") or 0
    return (
        f"{_MARKS.get(verdict, ' ')} {safe(item.get('name'))}",
        verdict,
        str(tried) if tried else "",
        str(item.get("bad") or 0) if tried else "",
        _interval(item.get("interval")),
    )


def _evidence(told: Mapping[str, Json], width: int) -> Iterator[str]:
    """What was seen of each property, and what is missing to decide it."""
    yield "what was seen:"
    for item in objects(told.get("properties")):
        texts = item.get("evidence")
        lines = [escape_controls(str(text)) for text in texts] if isinstance(texts, list) else []
        lines = _condense(lines)
        if item.get("missing"):
            lines.append(f"missing: {escape_controls(str(item.get('missing')))}")
        name = f"  {safe(item.get('name'))}"
        for number, line in enumerate(lines):
            head = (name if number == 0 else "").ljust(_NAME_COLUMNS)
            yield from _wrap(line, width, head, " " * (_NAME_COLUMNS + 2))


def _condense(lines: list[str]) -> list[str]:
    """One line for all rejects that went right, and what is to be said of some beyond that."""
    found = [(line, _REJECT.fullmatch(line)) for line in lines]
    rejects = [match for _, match in found if match]
    if not rejects:
        return lines
    right = sum(match["right"] == match["tried"] != "0" for match in rejects)
    kept = [f"rejects that fail as they should on every instance: {right} of {len(rejects)}"]
    for line, match in found:
        if match is None or match["right"] != match["tried"] or match["tried"] == "0":
            kept.append(line)
        elif match["rest"]:
            kept.append(f"{match['who']}: {match['rest'].lstrip(',; ')}")
    return kept


def _line(cells: tuple[str, ...], sizes: list[int]) -> str:
    left, right = cells[:2], cells[2:]
    parts = [cell.ljust(size) for cell, size in zip(left, sizes[:2], strict=True)]
    parts += [cell.rjust(size) for cell, size in zip(right, sizes[2:], strict=True)]
    return "  ".join(parts) + "  "


def _interval(value: Json) -> str:
    if not isinstance(value, list) or len(value) != 2:
        return ""
    low, high = value
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return ""
    return f"{low:.1%} … {high:.1%}"


def _findings(findings: list[Mapping[str, Json]], width: int) -> Iterator[str]:
    yield f"{counted(len(findings), 'finding')}:"
    for item in findings:
        head = f"  {safe(item.get('severity'))}[{safe(item.get('slug'))}] {safe(item.get('property'))}: "
        yield from _wrap(escape_controls(str(item.get("message"))), width, head, " " * 6)
        if item.get("replay"):
            yield f"      see it again: {safe(item.get('replay'))}"


def _wrap(text: str, width: int, head: str, indent: str) -> Iterator[str]:
    """A text behind its head, each of its lines and what is too long for one on lines of their own."""
    for number, line in enumerate(text.split("\n")):
        yield from textwrap.wrap(
            line,
            width,
            initial_indent=indent if number else head,
            subsequent_indent=indent,
            break_on_hyphens=False,
        )


def _foot(told: Mapping[str, Json], width: int) -> Iterator[str]:
    environment, cost, trust = (mapping(told.get(key)) for key in ("environment", "cost", "trust"))
    if environment.get("sandbox"):
        text = (
            f"measured in {safe(environment.get('sandbox'))} ({safe(environment.get('tier'))} tier), "
            f"reference {safe(environment.get('reference'))}; trust: {safe(trust.get('level'))}"
        )
        yield from textwrap.wrap(text, width)
        if environment.get("is_reproducible") is False:
            yield "on this machine's own /usr: not reproducible elsewhere"
    yield tell_cost(cost)
    yield f"digest: {safe(told.get('digest'))}"
    yield from textwrap.wrap(CAVEAT, width)
