"""*stated*: every check has its sentence; every path and name that a predicate reads is told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from aespec import predicates
from aespec.fuzz.certificate import Property
from aespec.fuzz.study import Study
from aespec.fuzz.subject import Subject, claims_of
from aespec.model.expressions import Json
from aespec.model.quoting import write_plain
from aespec.runtime.wording import counted


def measure(study: Study) -> Property:
    """Read checks.json and instruction.md of every instance; what a reference shows is left to the rules."""
    tried = 0
    unsaid: list[str] = []
    untold: list[str] = []
    doubtful: list[str] = []
    for subject in study.subjects:
        text = subject.instruction
        for check in subject.checks:
            tried += 1
            says = str(check.get("says") or "").strip()
            if says and says not in _flat(text):
                unsaid.append(f"check {check.get('id')}: its sentence is not in the instruction")
            for name, literal in _literals(check):
                tried += 1
                if literal.startswith("/") and not _is_told(literal, text):
                    untold.append(f"check {check.get('id')}: {name} reads {literal}, which isn't told")
                elif not literal.startswith("/") and not _can_be_known(literal, subject):
                    doubtful.append(f"check {check.get('id')}: {name} wants {literal!r}, which isn't told")
    bad = 0
    for message in dict.fromkeys(unsaid):
        bad += study.report("untold-path", "error", "stated", message, may_be_allowed=False)
    for message in dict.fromkeys(untold):
        bad += study.report("untold-path", "error", "stated", message)
    doubtful = [
        message
        for message in dict.fromkeys(doubtful)
        if study.report("untold-literal", "warning", "stated", message)
    ]
    texts = counted(len(study.subjects), "instruction")
    evidence = [f"sentences, paths and literals looked up: {tried}, in {texts}"]
    if doubtful:
        evidence.append(f"not told as they stand: {counted(len(doubtful), 'literal')}, see the warnings")
    return Property("stated", "violated" if bad else "holds", tried, bad, tuple(evidence))


def _flat(text: str) -> str:
    """The text with the indentation of list items taken off, so that a sentence of several lines is found."""
    return re.sub(r"^[ \t]*(- )?", "", text, flags=re.MULTILINE) + text


def _literals(check: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """What the claims of a check take as known: paths, names, keys, numbers."""
    for claim in claims_of(check):
        name, args = str(claim.get("predicate")), claim.get("args")
        if isinstance(args, dict) and name in predicates.names():
            for literal in predicates.laws(name).literals(args):
                yield name, literal.partition("#")[0] if isinstance(literal, str) else write_plain(literal)


def _is_told(path: str, text: str) -> bool:
    """Whether a path, one of its folders as a whole, or its name relative to a told folder stands there."""
    bare = path.partition("#")[0].rstrip("/")
    if bare in text:
        return True
    parts = bare.split("/")
    for cut in range(len(parts) - 1, 1, -1):
        folder, rest = "/".join(parts[:cut]), "/".join(parts[cut:])
        whole = re.escape(folder) + r"(?:/(?![\w.])|(?![\w/-]|\.\w))"
        if re.search(whole, text) and (rest in text or cut == len(parts) - 1):
            return True
    return False


def _can_be_known(literal: str, subject: Subject) -> bool:
    """Whether a literal is told, stands in the start state, or is a computed value to be found out."""
    if len(literal) < 2 or literal in subject.instruction:
        return True
    data = literal.encode()
    if any(data in content for content in subject.context.values()):
        return True
    return any(
        literal in _texts(dict(subject.values.get(kind, {}))) for kind in ("answer", "hidden", "secret")
    )


def _texts(value: Json) -> Iterator[str]:
    """Every leaf and key of a value as text."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    else:
        yield write_plain(value)
