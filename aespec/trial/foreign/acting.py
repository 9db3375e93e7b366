"""The agent's part of a run where nothing lives on: the solution, edits, a script, what is collected."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aespec.bundle.foreign import ForeignTask
from aespec.model.edit import Edit
from aespec.runtime.memory import Node
from aespec.sandbox.api import Difference, Image, Outcome, SandboxError, Slot, UncarriableError
from aespec.sandbox.tars import pack
from aespec.trial.archives import iterate_members, read_nodes
from aespec.trial.foreign import crossing, seats
from aespec.trial.foreign.editing import plan_edits
from aespec.trial.foreign.troubles import explain_end, tail
from aespec.trial.stages import ARTIFACT_LIMIT_BYTES

STATE_LIMIT_BYTES = 1024**3
"""How much a solution may leave to be frozen; one that leaves more is run afresh for each probe."""

COLLECT_TIMEOUT_S = 60.0
"""Harbor's own default for a command that collects."""

TIMEOUT_STATUS = 124
"""The status by which the program `timeout` says that it ended another."""

_LOG_LIMIT_BYTES = 16 * 1024**2


@dataclass(frozen=True, slots=True)
class Acted:
    """How the agent's part ended: its last program's status, the end of what it said, what went wrong."""

    status: int | None = None
    output: str = ""
    message: str = ""
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class Solved:
    """What the solution left: an image with it, its difference to the start state, and how it ended.

    `nodes` are those of `solved_nodes`; `seconds` is how long its script took.
    """

    image: Image
    difference: Difference
    acted: Acted
    nodes: Mapping[str, Node | None]
    seconds: float

    @property
    def is_late(self) -> bool:
        """Whether the solution ran longer than it may."""
        return self.acted.is_late


def run_solution(slot: Slot, task: ForeignTask, start: Image, solution: bytes, timeout_s: float) -> Acted:
    """Upload the solution and run its script as the agent, as Harbor's oracle does."""
    if task.solution is None:
        raise SandboxError("the task has no solution", boundary="oracle")
    slot.put(solution)
    outcome = slot.run(
        seats.program(
            seats.agent_seat(task, start),
            seats.in_bash(seats.solution_command(task)),
            timeout_s=timeout_s,
            env=seats.solution_env(task),
        )
    )
    return acted(outcome, _log(slot, outcome), "the solution", timeout_s)


def run_script(slot: Slot, task: ForeignTask, start: Image, script: str, timeout_s: float) -> Acted:
    """Run a script of a probe as the agent."""
    argv, stdin = seats.script_argv(script)
    wanted = seats.program(seats.agent_seat(task, start), argv, timeout_s=timeout_s)
    outcome = slot.run(replace(wanted, stdin=stdin))
    return acted(outcome, tail(outcome.stdout + outcome.stderr), "the script", timeout_s)


def acted(outcome: Outcome, output: str, who: str, timeout_s: float) -> Acted:
    """How a program of the agent's side ended, in words where it did badly."""
    is_bad = outcome.is_timed_out or outcome.status != 0
    message = f"{who}: {explain_end(outcome, output, timeout_s)}" if is_bad else ""
    return Acted(outcome.status, output, message, outcome.is_timed_out)


def solved_nodes(difference: Difference) -> dict[str, Node | None]:
    """What a solution wrote, by path (None: it is gone), folders left out."""
    nodes: dict[str, Node | None] = dict.fromkeys(difference.deleted)
    found = read_nodes(difference.archive)
    return nodes | {path: node for path, node in found.items() if node.kind in ("file", "link")}


def edit_state_in(slot: Slot, edits: Sequence[Edit], known: Mapping[str, Node | None]) -> None:
    """Carry out edits on the state in a slot, in one go. Raises `EditError` where one doesn't fit."""
    plan = plan_edits(edits, known, lambda paths: nodes_at(slot, paths))
    slot.put(pack(plan.entries), clean=plan.gone)


def nodes_at(slot: Slot, paths: Sequence[str], limit_bytes: int = STATE_LIMIT_BYTES) -> dict[str, Node]:
    """The nodes at and below paths."""
    return read_nodes(slot.get(paths, limit_bytes=limit_bytes)) if paths else {}


def turned_around(archive: bytes) -> bytes:
    """An archive with its files in the opposite order: folders list them in another one where it is put.

    Folders stay first, second names of a file come last.
    """
    members = list(iterate_members(archive))
    folders = [item for item in members if item[0].isdir()]
    names = [item for item in members if item[0].islnk()]
    files = [item for item in members if not item[0].isdir() and not item[0].islnk()]
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for member, data in [*folders, *reversed(files), *names]:
            member.pax_headers = {}
            tar.addfile(member, io.BytesIO(data) if member.isreg() else None)
    return stream.getvalue()


def collect(slot: Slot, task: ForeignTask, start: Image) -> bytes:
    """The artifacts, after the task's own commands to collect them; what fails of those ends nothing.

    Raises `UncarriableError` for artifacts that are too large to be carried.
    """
    seat = replace(seats.agent_seat(task, start), user="root")
    for command in task.collect:
        slot.run(seats.program(seat, seats.in_bash(command), timeout_s=COLLECT_TIMEOUT_S))
    return artifacts(slot, task)


def artifacts(slot: Slot, task: ForeignTask) -> bytes:
    """What crosses to a separate verifier, as it stands in the agent's slot."""
    paths = [artifact.path for artifact in crossing.all_artifacts(task.artifacts)]
    return slot.get(paths, limit_bytes=ARTIFACT_LIMIT_BYTES)


def _log(slot: Slot, outcome: Outcome) -> str:
    """The end of what the solution said: it goes to a file, and Harbor's own words to the streams."""
    try:
        found = read_nodes(slot.get([seats.AGENT_LOG], limit_bytes=_LOG_LIMIT_BYTES)).get(seats.AGENT_LOG)
    except UncarriableError:
        return "(more than 16 MiB of output, of which nothing is shown)"
    said = found.data if found is not None and found.kind == "file" else b""
    return tail(said + outcome.stdout + outcome.stderr)
