"""The verifier's part of a run, as Harbor 0.26 does it: old rewards away, tests merged in, test.sh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from aespec.runtime.memory import Node
from aespec.sandbox.api import Difference, Outcome, Program, SandboxError, Slot, UncarriableError
from aespec.sandbox.tars import Entry, pack
from aespec.trial.archives import read_files, read_nodes
from aespec.trial.foreign import seats
from aespec.trial.foreign.acting import Acted
from aespec.trial.foreign.reports import CTRF
from aespec.trial.foreign.rewards import FOLDER, REWARD_JSON, REWARD_TEXT
from aespec.trial.foreign.troubles import TAIL_CHARACTERS, tail

LOGS_LIMIT_BYTES = 32 * 1024**2
LOG_FILE_LIMIT_BYTES = 4 * 1024**2
"""How much is read of the verifier's folder; where it holds more, how much of each file that is needed."""

FILES_LIMIT_BYTES = 256 * 1024**2
"""How much is handed out of the files that a perturbation wants kept."""

_TAIL_TIMEOUT_S = 20.0
_ROOM = "/logs/.aespec-room"
_ROOM_BYTES = 64 * 1024

NO_REMOVAL = "reward.txt or reward.json is a folder, which can't be removed before the tests"
NO_TESTS = "the tests can't be copied to /tests over what stands there (AddTestsDirError)"
NO_BASH = "the image has no bash, which Harbor runs scripts with"


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of one run: `nodes` lie below `/logs/verifier`, `output` is the end of what was said.

    `problem` is what kept it from being a run at all, and `boundary` whose doing that is. `difference` is of
    the slot that the verifier ran in, where it was asked for; `left` are names of processes that the agent's
    part left running, where it is known. `is_disk_full` tells why there is no reward.
    """

    outcome: Outcome
    nodes: Mapping[str, Node] = field(default_factory=dict, repr=False)
    output: str = field(default="", repr=False)
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    agent_status: int | None = None
    agent_output: str = field(default="", repr=False)
    agent_message: str = ""
    problem: str = ""
    boundary: str = "verifier"
    left: tuple[str, ...] = ()
    is_disk_full: bool = False
    difference: Difference | None = field(default=None, repr=False)
    seconds: Mapping[str, float] = field(default_factory=dict)


def no_run(problem: str, boundary: str = "verifier") -> Seen:
    """A run that came to no verifier."""
    return Seen(Outcome(None, b"", b""), problem=problem, boundary=boundary)


def with_agent(seen: Seen, acted: Acted, seconds: Mapping[str, float]) -> Seen:
    """What was seen, with how the agent's part ended and where the time went."""
    return replace(
        seen,
        agent_status=acted.status,
        agent_output=acted.output,
        agent_message=acted.message,
        seconds=dict(seconds),
    )


def clear_the_way(slot: Slot, tests: Mapping[str, Node]) -> str:
    """Prepare a state that an agent touched for the tests; what makes it impossible, else "".

    `tests` are what will be put, by absolute path. Harbor's own folder is a mount, so a link in its place is
    no state that it meets.
    """
    found = read_nodes(slot.get([FOLDER, seats.TESTS], limit_bytes=LOGS_LIMIT_BYTES))
    folder = found.get(FOLDER)
    if folder is None or folder.kind != "folder":
        slot.put(pack([Entry(FOLDER, None, 0o777)]), clean=[FOLDER])
    elif any(
        found.get(path, folder).kind == "folder" for path in (REWARD_JSON, REWARD_TEXT) if path in found
    ):
        return NO_REMOVAL
    for path, node in tests.items():
        there = found.get(path)
        if node.kind == "folder" or there is None or there.kind != "folder":
            continue
        if any(other.startswith(path + "/") for other in found):
            return NO_TESTS
    return ""


def read_logs(slot: Slot) -> tuple[dict[str, Node], str]:
    """What lies in the verifier's folder, and the end of its output; of a large one only what is needed."""
    try:
        nodes = read_nodes(slot.get([FOLDER], limit_bytes=LOGS_LIMIT_BYTES))
    except UncarriableError:
        nodes = {}
        for path in (REWARD_JSON, REWARD_TEXT, CTRF, seats.VERIFIER_LOG):
            try:
                nodes |= read_nodes(slot.get([path], limit_bytes=LOG_FILE_LIMIT_BYTES))
            except UncarriableError:
                nodes[path] = Node("large")
    log = nodes.pop(seats.VERIFIER_LOG, None)
    if log is None or log.kind in ("link", "folder"):
        return nodes, ""
    return nodes, tail(log.data if log.kind == "file" else _end_of_log(slot))


def is_disk_full(slot: Slot) -> bool:
    """Whether nothing more can be written: then what the verifier said of it was lost as well."""
    try:
        slot.put(pack([Entry(_ROOM, bytes(_ROOM_BYTES))]))
        slot.put(b"", clean=[_ROOM])
    except SandboxError as fault:
        return "is full" in str(fault)
    return False


def _end_of_log(slot: Slot) -> bytes:
    """The end of an output that is too large to be read whole; nothing where the image has no `tail`."""
    argv = ("/usr/bin/env", "tail", "-c", str(4 * TAIL_CHARACTERS), seats.VERIFIER_LOG)
    return slot.run(Program(argv, timeout_s=_TAIL_TIMEOUT_S)).stdout


def read_kept(slot: Slot, paths: Sequence[str]) -> dict[str, bytes]:
    """The files at and below the paths; nothing where they are too large."""
    if not paths:
        return {}
    try:
        return read_files(slot.get(paths, limit_bytes=FILES_LIMIT_BYTES))
    except UncarriableError:
        return {}
