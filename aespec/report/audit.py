"""An audit for a terminal: what is wrong first, with its smallest example, then what the verdict reads."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from aespec.fuzz.audit.audit import Audit, audit_to_json
from aespec.model.expressions import Json
from aespec.report.telling import WIDTH, mapping, objects, safe, tell_cost
from aespec.runtime.wording import counted

MAP_ROWS = 24
DIFFERENCE_LINES = 16
_TRUST = {
    "separate": "separate verifier: the agent's processes and programs are gone when it judges",
    "shared-non-root": "shared container, the agent isn't root: it can't replace the verifier's programs",
    "forgeable": "shared container and a root agent, which can replace what any verifier stands on; "
    "no test in it can help: judge in a separate container",
}
_CAVEAT = (
    "What nobody told a machine it can't know: a warning may be meant so, and silence is no proof. "
    "`aespec explain SLUG` tells more of each."
)


def render_audit(audit: Audit | Mapping[str, Json], *, width: int = WIDTH) -> str:
    """The text of an audit, from the object or from its JSON form; lines are at most `width` columns."""
    told = audit_to_json(audit) if isinstance(audit, Audit) else audit
    lines = [*_head(told, width)]
    for item in objects(told.get("findings")):
        lines += ["", *_finding(item, width)]
    rows = objects(told.get("sensitivity"))
    if rows:
        lines += ["", *_map(rows)]
    lines += ["", *_properties(told, width), "", *_foot(told, width)]
    return "\n".join(lines).rstrip() + "\n"


def _head(told: Mapping[str, Json], width: int) -> Iterator[str]:
    severities = [item.get("severity") for item in objects(told.get("findings"))]
    counts = [
        counted(severities.count(name), name) if name != "advice" else f"{severities.count(name)} of advice"
        for name in ("error", "warning", "advice")
        if severities.count(name)
    ]
    partial = " (not everything was tried)" if told.get("is_partial") else ""
    yield f"{safe(told.get('task'))}: {', '.join(counts) or 'nothing found'}{partial}"
    trust = mapping(told.get("trust"))
    if trust.get("level"):
        text = _TRUST.get(str(trust.get("level")), safe(trust.get("level")))
        yield from textwrap.wrap(f"trust: {text}", width, initial_indent="  ", subsequent_indent="    ")


def _finding(item: Mapping[str, Json], width: int) -> Iterator[str]:
    head = f"{safe(item.get('severity'))}[{safe(item.get('slug'))}]: "
    for number, line in enumerate(str(item.get("message") or "").splitlines() or [""]):
        indent = "" if number == 0 else "    "
        yield from textwrap.wrap(
            (head if number == 0 else "") + safe(line),
            width,
            initial_indent=indent,
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
    lines = str(item.get("difference") or "").splitlines()
    for line in lines[:DIFFERENCE_LINES]:
        yield f"    | {safe(line)[: width - 6]}".rstrip()
    if len(lines) > DIFFERENCE_LINES:
        yield f"    | … {counted(len(lines) - DIFFERENCE_LINES, 'further line')}"
    if item.get("replay"):
        yield f"    see it again: {safe(item.get('replay'))}"


def _map(rows: list[Mapping[str, Json]]) -> Iterator[str]:
    """Which leaves the verdict depends on: those that go unnoticed first."""
    yield "what the verdict reads (changes noticed, of those tried):"
    ordered = sorted(rows, key=lambda row: (_share(row), str(row.get("leaf"))))
    wide = max(len(safe(row.get("leaf"))) for row in ordered[:MAP_ROWS])
    for row in ordered[:MAP_ROWS]:
        noticed, tried = row.get("noticed"), row.get("tried")
        share = _share(row)
        word = "not read" if share == 0 else "read" if share == 1 else "in part"
        told = "" if row.get("told") else "  (the instruction doesn't name it)"
        yield f"  {safe(row.get('leaf')).ljust(wide)}  {noticed:>4}/{tried:<4} {word}{told}"
    if len(ordered) > MAP_ROWS:
        yield f"  … {counted(len(ordered) - MAP_ROWS, 'further leaf', 'further leaves')}: see --format json"


def _share(row: Mapping[str, Json]) -> float:
    noticed, tried = row.get("noticed"), row.get("tried")
    return (
        float(noticed) / float(tried)
        if isinstance(noticed, int) and isinstance(tried, int) and tried
        else 0.0
    )


def _properties(told: Mapping[str, Json], width: int) -> Iterator[str]:
    yield "what was seen:"
    for item in objects(told.get("properties")):
        texts = item.get("evidence")
        lines = [safe(text) for text in texts] if isinstance(texts, list) else []
        if item.get("missing"):
            lines.append(f"missing: {safe(item.get('missing'))}")
        head = f"  {safe(item.get('name')).ljust(16)} {safe(item.get('verdict')).ljust(13)}"
        for number, line in enumerate(lines or [""]):
            yield from textwrap.wrap(
                line or " ",
                width,
                initial_indent=head if number == 0 else " " * 34,
                subsequent_indent=" " * 34,
                drop_whitespace=True,
                break_on_hyphens=False,
            ) or [head.rstrip()]


def _foot(told: Mapping[str, Json], width: int) -> Iterator[str]:
    notes = told.get("notes")
    for note in notes if isinstance(notes, list) else []:
        yield from textwrap.wrap(f"note: {safe(note)}", width, subsequent_indent="    ")
    cost, environment = mapping(told.get("cost")), mapping(told.get("environment"))
    yield tell_cost(cost)
    if environment.get("sandbox"):
        sandbox, reference = (safe(environment.get(name)) for name in ("sandbox", "reference"))
        yield f"measured in {sandbox}; errors judged again in {reference}"
    yield from textwrap.wrap(_CAVEAT, width)
