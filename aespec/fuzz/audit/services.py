"""Services that a solution leaves running: ended, replaced by stubs, or started again over changed files."""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from aespec.bundle.interpreters import PYTHONS
from aespec.fuzz.audit.inquiry import Inquiry, Services
from aespec.fuzz.audit.prober import Request
from aespec.fuzz.audit.serving import FAILED, MARK
from aespec.fuzz.audit.witness import is_confirmed
from aespec.trial.probe import Probe

PORTS_SHOWN = 4
NO_PYTHON = 127

_PROGRAM = Path(__file__).with_name("serving.py")

STUBS = (
    ("nothing listens there", ("end",)),
    ("takes calls and never answers", ("silent",)),
    ("hangs up on every call", ("close",)),
    ("answers every request with an empty 200", ("answer", "200 ")),
    ("answers every request with the text OK", ("answer", "200 OK")),
    ("answers every request with {}", ("answer", "200 {}")),
    ("answers every request with []", ("answer", "200 []")),
    ('answers every request with {"status": "ok"}', ("answer", '200 {"status": "ok"}')),
    ("answers every request with 404", ("answer", "404 not found")),
)
"""What is put in a service's place, the worst first: which of them passes says what of it is looked at."""


def look_at_services(inquiry: Inquiry) -> Services | None:
    """What the solution left running where its verdict hangs on that; None where it doesn't."""
    if not inquiry.prober.harness.is_live():
        return None
    before, after = (_ports(inquiry, base) for base in ("start", "solution"))
    ports = tuple(sorted(after - before))
    if not ports:
        inquiry.notes.append("no TCP service of the solution was seen: what it left running wasn't changed")
        return Services()
    restart = _script("restart", ports)
    judgement = inquiry.prober.judge_one(Request(Probe("services restarted", "oracle", (), restart, True)))
    works = judgement is not None and judgement.is_passed and judgement.agent_status == 0
    if not works:
        inquiry.notes.append(
            "the solution's services can't be started again, so its files weren't changed below them"
        )
    return Services(ports, restart if works else "")


def _ports(inquiry: Inquiry, base: str) -> frozenset[int]:
    probe = Probe(f"what listens ({base})", base, (), _script("list", ()), True)
    judgement = inquiry.prober.judge_one(Request(probe))
    for line in judgement.agent_output.splitlines() if judgement is not None else ():
        if line.startswith(MARK):
            # The solution's programs write to the same stream, and may say anything.
            with contextlib.suppress(ValueError, TypeError, RecursionError):
                return frozenset(int(port) for port in json.loads(line.removeprefix(MARK)))
    return frozenset()


def _script(action: str, ports: Sequence[int], text: str | None = None) -> str:
    """A command line of `/bin/sh` that carries the action out; status 127 without a Python in the image."""
    words = [action, *([",".join(map(str, ports))] if ports else []), *([text] if text is not None else [])]
    code = _PROGRAM.read_text(encoding="utf-8")
    rest = " ".join(shlex.quote(word) for word in words)
    return (
        f"for python in {' '.join(PYTHONS)}; do\n"
        f'[ -x "$python" ] && exec "$python" -I -S -c {shlex.quote(code)} {rest}\ndone\nexit {NO_PYTHON}'
    )


def try_services(inquiry: Inquiry, _seed: int) -> None:
    """Put stubs in the place of every service, one after the other; a stub that passes is a finding."""
    services = inquiry.services
    for port in services.ports[:PORTS_SHOWN] if services is not None else ():
        for says, probe in _stubs(port):
            judgement = inquiry.prober.judge_one(Request(probe))
            if judgement is None or judgement.agent_status in (FAILED, NO_PYTHON, None):
                continue
            if judgement.is_passed:
                _report(inquiry, port, says, probe)
                break


def _stubs(port: int) -> Iterator[tuple[str, Probe]]:
    for says, words in STUBS:
        script = _script(words[0], [port], words[1] if len(words) > 1 else None)
        yield says, Probe(f"service on port {port}: {says}", "oracle", (), script, True)


def _report(inquiry: Inquiry, port: int, says: str, probe: Probe) -> None:
    """A stub with nothing else of the task done is wrong whatever was meant; else it is a question."""
    alone = Probe(probe.name, "start", (), probe.script, True)
    judgement = inquiry.prober.judge_one(Request(alone))
    is_all = judgement is not None and judgement.is_passed and is_confirmed(inquiry, alone)
    inquiry.report(
        "hollow-service",
        "error" if is_all else "warning",
        "nop-fails" if is_all else "sound",
        f"in the place of the service on port {port} something that {says} passes"
        if says != STUBS[0][0]
        else f"the service on port {port} can be dead: no check needs it",
        probe=alone if is_all else probe,
        rank=2.5,
    )
