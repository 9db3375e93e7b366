"""What kept a verifier or an agent from its work, read off how its program ended and what it printed."""

from __future__ import annotations

import re

from aespec.diagnostics.escape import escape_controls
from aespec.sandbox.api import Outcome

TAIL_CHARACTERS = 64 * 1024
"""How much of the end of an output is kept and searched."""

# Names that can't be resolved, networks that can't be reached. A refused connection is none of it: that may
# be the agent's own service.
_NETWORK = re.compile(
    r"could not resolve host|temporary failure (?:in name resolution|resolving)|name or service not known"
    r"|network is unreachable|getaddrinfo (?:failed|ENOTFOUND|EAI_AGAIN)|nodename nor servname"
    r"|error sending request for url|no route to host|unable to connect to .{1,200} \[IP:"
    r"|failed to lookup address information|dial tcp: lookup .{1,200} (?:on|: no such host)",
    re.IGNORECASE,
)
_DISK = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)
_MEMORY = re.compile(
    r"cannot allocate memory|out of memory|oom-kill|fork: (?:retry: )?resource temporarily unavailable"
    r"|can't start new thread|cannot fork",
    re.IGNORECASE,
)
_MISSING_PROGRAM = re.compile(
    r"(?:bad interpreter|cannot execute): *(?:no such file|required file not found)|: command not found"
    r"|: not found$|‘bash’: no such file|'bash': no such file|bash: no such file",
    re.IGNORECASE | re.MULTILINE,
)


def tail(data: bytes) -> str:
    """The end of an output as text."""
    return data[-4 * TAIL_CHARACTERS :].decode("utf-8", "replace")[-TAIL_CHARACTERS:]


def misses_network(output: str) -> bool:
    """Whether an output says that the network couldn't be reached."""
    return _NETWORK.search(output) is not None


def lacks_disk(output: str) -> bool:
    """Whether an output says that the disk is full."""
    return _DISK.search(output) is not None


def explain_end(outcome: Outcome, output: str, timeout_s: float) -> str:
    """Why a program ended without what was wanted of it, in one line; "" where nothing is to be seen."""
    reasons: list[str] = []
    if outcome.is_timed_out:
        reasons.append(f"it ran longer than {timeout_s:g} s")
    elif outcome.status is None:
        number = f" by signal {outcome.signal}" if outcome.signal else ""
        reasons.append(f"it was ended{number}: memory or disk may have run out")
    elif outcome.status:
        reasons.append(f"it ended with status {outcome.status}")
    for pattern, words in (
        (_DISK, "its disk was full"),
        (_MEMORY, "it ran out of memory or processes"),
        (_NETWORK, "it couldn't reach the network"),
        (_MISSING_PROGRAM, "a program is missing"),
    ):
        matched = pattern.search(output)
        if matched:
            reasons.append(f"{words} ({_line_around(output, matched.start())})")
            break
    else:
        said = last_words(output)
        if said:
            reasons.append(said)
    return "; ".join(reasons)


def last_words(output: str) -> str:
    """The last line that says something, short and harmless for a terminal."""
    lines = [line.strip() for line in output[-4096:].splitlines() if line.strip()]
    return escape_controls(lines[-1][:200]) if lines else ""


def _line_around(output: str, at: int) -> str:
    start = output.rfind("\n", 0, at) + 1
    end = output.find("\n", at)
    return escape_controls(output[start : end if end >= 0 else None].strip()[:200])
