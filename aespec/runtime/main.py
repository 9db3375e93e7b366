"""The verifier's program: judge checks.json on the end state and write the verdict, or say why not."""

from __future__ import annotations

import contextlib
import gc
import math
import os
import sys
from typing import Any, Dict, List, NamedTuple, Optional

from aespec.runtime import checker
from aespec.runtime.decode import Unreadable, parse_json
from aespec.runtime.disk import DiskState
from aespec.runtime.rewards import Rewards
from aespec.runtime.state import Trouble

JUDGED, NOT_JUDGED = 0, 3

CHECKS_LIMIT_BYTES = 256 * 1024 * 1024


class Places(NamedTuple):
    """Where everything lies; other than the defaults only in tests of the checker itself."""

    root: str = "/"
    tests: str = "/tests"
    logs: str = "/logs/verifier"


def main(arguments: List[str]) -> int:
    """Exit status 0 where a verdict was reached, pass or fail; 3 where not, and then no reward was written.

    Options `--root`, `--tests`, `--logs`, each with a folder, move the places.
    """
    # The process is short and its values are trees: looking for cycles only doubles the time of large inputs.
    gc.disable()
    try:
        places = _places(arguments)
        rewards = Rewards(places.logs)
    except Trouble as trouble:
        print(f"error: {trouble}", file=sys.stderr)
        return NOT_JUDGED
    says: Dict[str, str] = {}
    details = _judge(places, says)
    try:
        rewards.write(details, says)
    except Trouble as trouble:
        print(f"error: {trouble}", file=sys.stderr)
        return NOT_JUDGED
    _print(details)
    return NOT_JUDGED if details["outcome"] == checker.ERROR else JUDGED


def _places(arguments: List[str]) -> Places:
    given = {}
    rest = list(arguments)
    while rest:
        name = rest.pop(0)
        if name not in ("--root", "--tests", "--logs") or not rest:
            raise Trouble(f"unknown argument {name!r}")
        given[name[2:]] = rest.pop(0)
    return Places(**given)


def _judge(places: Places, says: Dict[str, str]) -> Dict[str, Any]:
    checks: Optional[checker.Checks] = None
    try:
        _close_to_others(places.tests)
        checks = checker.load(_document(os.path.join(places.tests, "checks.json")))
        says.update(checks.says)
        runner = _runner(checks)
        hidden = os.path.join(places.tests, "hidden")
        state = DiskState(places.root, hidden, checks.baseline, runner)
        details = checker.judge(checks, state)
        if runner is not None:
            details["facts"] = runner.facts
        return details
    except Trouble as trouble:
        return checker.failure(str(trouble), checks)
    except Exception as error:  # noqa: BLE001 - a bug of ours must not become a verdict
        return checker.failure(f"the checker broke: {type(error).__name__}: {error}"[:500], checks)


def _document(path: str) -> Any:
    try:
        with open(path, "rb") as stream:
            data = stream.read(CHECKS_LIMIT_BYTES + 1)
    except OSError as error:
        raise Trouble(f"{path} can't be read: {error.strerror}") from None
    try:
        return parse_json(data)
    except Unreadable as reason:
        raise Trouble(f"{path} {reason}") from None


def _close_to_others(tests: str) -> None:
    """The solver's programs run under another account, and must not read what is expected of them."""
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):
            os.chmod(tests, 0o700)
        if os.stat(tests).st_mode & 0o077:
            raise Trouble(f"{tests} is open to other accounts")


def _runner(checks: checker.Checks) -> Any:
    """A runner where a claim runs programs, else None: starting one costs a look at accounts and network."""
    is_needed = any(
        "program" in sys.modules[f"aespec.predicates.{claim.predicate}"].SIGNATURE.needs
        for check in checks.checks
        for condition in (check.when, *(rule.when for rule in check.rules))
        for claim in checker.claims_of(condition)
    )
    if not is_needed:
        return None
    from aespec.runtime.runner import Runner

    limits = checks.runner
    try:
        return Runner(
            str(limits.get("user", "aespec-run")),
            timeout_s=float(limits.get("timeout_s", 60.0)),
            memory_bytes=int(limits.get("memory_bytes", 2 * 1024**3)),
            processes=int(limits.get("processes", 128)),
            total_s=float(limits.get("total_s", math.inf)),
        )
    except (TypeError, ValueError) as error:
        raise Trouble(f"the runner's limits are malformed: {error}") from None


def _print(details: Dict[str, Any]) -> None:
    """A line for each check, without reasons: those may hold what was expected."""
    for check in details["checks"]:
        print(f"{check['verdict']:5} {check['id']}")
    if details.get("message"):
        print(f"error: {details['message']}", file=sys.stderr)
    print(f"outcome {details['outcome']}")
