"""Which of a verifier's own tests failed: from its CTRF report, else from what its test runner printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from aespec.runtime.memory import Node

CTRF = "/logs/verifier/ctrf.json"
NAMES_LIMIT = 200
NAME_LENGTH_LIMIT = 300
"""How many names are kept, and how much of each: what a verifier prints is not trusted to be short."""

_LINE_LIMIT = 2000

# One failed test per line, as pytest (summary, and verbose), unittest, go test, cargo test and TAP say it.
_LINES = (
    re.compile(r"^(?:FAILED|ERROR) (?P<name>\S+::.+?)(?: - .*)?$"),
    re.compile(r"^(?P<name>\S+::\S.*?) (?:FAILED|ERROR)(?: +\[ *\d+%\])?$"),
    re.compile(r"^(?:FAIL|ERROR): (?P<name>\w+ \([\w.]+\))"),
    re.compile(r"^ *--- FAIL: (?P<name>\S+) \("),
    re.compile(r"^test (?P<name>\S+) \.\.\. FAILED$"),
    re.compile(r"^ *not ok \d+(?: -)? (?P<name>.+)$"),
)


def failed_tests(nodes: Mapping[str, Node], output: str) -> tuple[str, ...]:
    """The names of the failed tests, each once, in the order told; empty where none are told."""
    node = nodes.get(CTRF)
    names: Iterable[str] = _from_ctrf(node.data) if node is not None and node.kind == "file" else ()
    found = dict.fromkeys(_short(name) for name in names)
    if not found:
        found = dict.fromkeys(_short(name) for name in _from_lines(output))
    return tuple(found)[:NAMES_LIMIT]


def _from_ctrf(data: bytes) -> list[str]:
    try:
        tests = json.loads(data)["results"]["tests"]
        return [str(test["name"]) for test in tests if test["status"] == "failed"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _from_lines(output: str) -> Iterator[str]:
    for line in output.splitlines():
        if len(line) > _LINE_LIMIT:  # no runner's line is, and the patterns would search a long one too long
            continue
        for pattern in _LINES:
            matched = pattern.match(line.rstrip())
            if matched:
                yield matched["name"]
                break


def _short(name: str) -> str:
    """The name without the folders of its file: they differ with the folder that a runner was started in."""
    file, mark, rest = name.partition("::")
    if mark:
        file = file.rpartition("/")[2]
    return (file + mark + rest)[:NAME_LENGTH_LIMIT]
