"""A certificate: the verdict on each property with its counts, what was found, and what it all rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aespec.fuzz.statistics import wilson
from aespec.model.expressions import Json
from aespec.model.json_text import json_digest
from aespec.runtime.wording import counted

PROPERTIES = (
    "builds",
    "solvable",
    "stable",
    "nop-fails",
    "sound",
    "complete",
    "guess-resistant",
    "unforgeable",
    "stated",
    "leak-free",
    "family",
)
"""Every property, in the order in which it is printed."""


@dataclass(frozen=True, slots=True)
class Property:
    """What was seen of one property: `bad` of `tried`, lines of evidence, what is missing to decide it."""

    name: str
    verdict: str
    tried: int = 0
    bad: int = 0
    evidence: tuple[str, ...] = ()
    missing: str = ""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % Wilson interval of the rate of bad ones."""
        return wilson(self.bad, self.tried)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to mend: `severity` is error, warning or advice; `replay` is a command that shows it.

    `counterexample` is the file of a probe that shows it, `difference` what that probe changes, for a reader.
    """

    slug: str
    severity: str
    property: str
    message: str
    replay: str = ""
    counterexample: str | None = None
    difference: str = ""


@dataclass(frozen=True, slots=True)
class Certificate:
    """All of it for one task. `digest` names what was certified: spec, lock and bundles together.

    `valid` is False where a property is violated or flaky, None where one could not be decided.
    """

    task: str
    properties: tuple[Property, ...]
    findings: tuple[Finding, ...] = ()
    trust: Mapping[str, Json] = field(default_factory=dict)
    digests: Mapping[str, Json] = field(default_factory=dict)
    seeds: Mapping[str, Json] = field(default_factory=dict)
    instances: int = 0
    environment: Mapping[str, Json] = field(default_factory=dict)
    cost: Mapping[str, Json] = field(default_factory=dict)
    made_on: str = ""

    @property
    def valid(self) -> bool | None:
        """Whether the task is valid as far as machines can tell."""
        verdicts = {item.verdict for item in self.properties}
        if verdicts & {"violated", "flaky"}:
            return False
        return True if verdicts == {"holds"} and len(self.properties) == len(PROPERTIES) else None

    @property
    def scope(self) -> str:
        """What the verdict covers, and what it doesn't."""
        held = [item.name for item in self.properties if item.verdict == "holds"]
        open_ = [item.name for item in self.properties if item.verdict in ("inconclusive", "not-measured")]
        count = counted(self.instances, "instance")
        text = f"{count}; holds: {', '.join(held) or 'nothing'}"
        if open_:
            text += f"; not decided: {', '.join(open_)}"
        return text

    @property
    def digest(self) -> str:
        """The hex SHA-256 of spec, lock and bundles."""
        what = {key: self.digests.get(key) for key in ("spec", "lock", "bundles")}
        return json_digest(what)


def certificate_to_json(certificate: Certificate) -> dict[str, Json]:
    """The form of `certificate.schema.json`."""
    return {
        "schema": 1,
        "task": certificate.task,
        "digest": certificate.digest,
        "valid": certificate.valid,
        "scope": certificate.scope,
        "trust": dict(certificate.trust),
        "properties": [_property(item) for item in certificate.properties],
        "findings": [_finding(item) for item in certificate.findings],
        "digests": dict(certificate.digests),
        "seeds": dict(certificate.seeds),
        "instances": certificate.instances,
        "environment": dict(certificate.environment),
        "cost": dict(certificate.cost),
        "made_on": certificate.made_on,
    }


def _property(item: Property) -> dict[str, Json]:
    interval: Json = list(item.interval) if item.interval is not None else None
    return {
        "name": item.name,
        "verdict": item.verdict,
        "tried": item.tried,
        "bad": item.bad,
        "interval": interval,
        "evidence": list(item.evidence),
        "missing": item.missing,
    }


def _finding(item: Finding) -> dict[str, Json]:
    told: dict[str, Json] = {
        "slug": item.slug,
        "severity": item.severity,
        "property": item.property,
        "message": item.message,
        "counterexample": item.counterexample,
        "replay": item.replay,
    }
    if item.difference:
        told["difference"] = item.difference
    return told


def decide(bad: int, missing: str | Sequence[str] = "") -> str:
    """`violated` where something is bad, `inconclusive` where something is missing, else `holds`."""
    if bad:
        return "violated"
    return "inconclusive" if missing else "holds"
