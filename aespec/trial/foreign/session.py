"""A probe run in one live session: its steps, the program that carries them out, what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from aespec.sandbox.api import Outcome, Program, Slot
from aespec.sandbox.tars import Entry, pack
from aespec.trial.archives import read_files
from aespec.trial.foreign import acting, live, seats
from aespec.trial.foreign.acting import Acted, Solved
from aespec.trial.foreign.editing import plan_edits
from aespec.trial.foreign.troubles import tail
from aespec.trial.foreign.verifying import Seen, no_run, with_agent
from aespec.trial.judging import Perturbation
from aespec.trial.probe import Probe
from aespec.trial.stages import LOG_LIMIT_BYTES, PATH, timed

if TYPE_CHECKING:
    from aespec.trial.foreign.bench import Bench, Ways

SLACK_S = 30.0
"""What a session may take beyond its parts: unpacking, looking for tools, the time to linger."""

_LONG_SCRIPT_CHARACTERS = 32 * 1024
_SCRIPT_FILE = "/tmp/.aespec-script"


def run_live(bench: Bench, probe: Probe, shift: Perturbation, ways: Ways) -> Seen:
    """Run a probe so that what the agent's part starts lives on until the verdict or the collecting."""
    is_separate = bench.task.mode == "separate"
    steps = _steps(bench, probe, ways)
    verifier = None if is_separate else _verifier_step(bench, shift, ways)
    text = live.session_text(
        steps,
        verifier,
        entrypoint=_entrypoint(bench),
        umask=shift.umask,
        # Only edits of what a service reads leave no process that could be after the verdict.
        lingers=bool(probe.script) or not probe.edits,
    )
    stdin = b"" if is_separate else pack([*bench.tests(), *shift.entries])
    program = _program(steps, verifier, ways, stdin, shift.cores)
    seconds: dict[str, float] = {}
    with bench.open(ways.start) as slot:
        with timed(seconds, "session"):
            _prepare(bench, slot, probe)
            slot.put(pack([*live.waiting_files(steps, text), *_script_file(probe)]))
            with bench.taking_turns(ways):
                outcome = slot.run(program)
        told = live.read_told(outcome.stderr)
        done = _acted(slot, probe, told, outcome, ways)
        seen = _fault(told, outcome, is_separate=is_separate)
        archive = acting.artifacts(slot, bench.task) if seen is None and is_separate else b""
        if seen is None and not is_separate:
            seen = bench.read(slot, _verifier_end(told, outcome, ways), shift, ways)
    if seen is None:
        with timed(seconds, "verify"):
            seen = bench.verify_apart(archive, shift, ways)
    return with_agent(replace(seen, left=told.left), done, seconds)


def solve_live(bench: Bench) -> Solved:
    """What the solution leaves on disk where services of the image run beside it, and its own to the end."""
    task, start = bench.task, bench.grounds.start()
    probe = Probe("the solution", "solution")
    has_network = task.network.get("agent", True)
    ways = bench.plain_ways(is_live=True, has_network=has_network)
    steps = [_solution_step(bench, ways)]
    text = live.session_text(steps, None, entrypoint=_entrypoint(bench))
    seconds: dict[str, float] = {}
    with bench.open(start) as slot:
        _prepare(bench, slot, probe)
        slot.put(pack(live.waiting_files(steps, text)))
        with timed(seconds, "solution"):
            outcome = slot.run(_program(steps, None, ways, b"", None))
        done = _acted(slot, probe, live.read_told(outcome.stderr), outcome, ways)
        difference = slot.difference(limit_bytes=acting.STATE_LIMIT_BYTES)
    image = bench.sandbox.freeze(start, difference)
    return Solved(image, difference, done, acting.solved_nodes(difference), seconds["solution"])


def _program(
    steps: Sequence[live.Step], verifier: live.Step | None, ways: Ways, stdin: bytes, cores: int | None
) -> Program:
    parts = [*steps, *([verifier] if verifier is not None else [])]
    return Program(
        argv=("/bin/sh", live.SESSION_FILE),
        env={"PATH": PATH, **ways.start.env},
        stdin=stdin,
        timeout_s=sum(step.timeout_s for step in parts) + SLACK_S,
        output_limit_bytes=LOG_LIMIT_BYTES,
        has_network=ways.has_network,
        cores=cores,
    )


def _prepare(bench: Bench, slot: Slot, probe: Probe) -> None:
    """What can be done before the session: edits of the start state, the solution's files."""
    if probe.base != "start":
        slot.put(bench.solution())
    elif probe.edits:
        acting.edit_state_in(slot, probe.edits, {})


def _steps(bench: Bench, probe: Probe, ways: Ways) -> list[live.Step]:
    task, account = bench.task, bench.agent_account()
    seat = seats.agent_seat(task, bench.grounds.start())
    steps: list[live.Step] = []
    if probe.base != "start":
        steps.append(_solution_step(bench, ways))
        if probe.edits:
            solved = bench.solved()
            with bench.open(solved.image) as slot:
                plan = plan_edits(probe.edits, solved.nodes, lambda paths: acting.nodes_at(slot, paths))
            steps.append(live.Step(seat, account, plan=plan, timeout_s=0.0))
    if probe.script:
        command = f". {_SCRIPT_FILE}" if _script_file(probe) else probe.script
        steps.append(live.Step(seat, account, command, timeout_s=ways.agent_timeout_s))
    if task.mode == "separate":
        root = replace(seat, user="root")
        steps += [
            live.Step(root, live.ROOT, _bash(command), timeout_s=acting.COLLECT_TIMEOUT_S)
            for command in task.collect
        ]
    return steps


def _solution_step(bench: Bench, ways: Ways) -> live.Step:
    task = bench.task
    seat = seats.agent_seat(task, bench.grounds.start())
    command = _bash(seats.solution_command(task))
    return live.Step(seat, bench.agent_account(), command, seats.solution_env(task), ways.agent_timeout_s)


def _entrypoint(bench: Bench) -> live.Step | None:
    """What a container of the image starts by itself: Harbor leaves its entrypoint alone."""
    start = bench.grounds.start()
    if not start.entrypoint:
        return None
    seat = seats.container_seat(bench.task, start)
    command = live.quoted((*start.entrypoint, "sh", "-c", "sleep infinity"))
    return live.Step(seat, bench.container_account(), command, timeout_s=0.0)


def _verifier_step(bench: Bench, shift: Perturbation, ways: Ways) -> live.Step:
    seat = seats.verifier_seat(bench.task, bench.grounds.start())
    command = _bash(seats.verifier_command(bench.task))
    env = {**ways.env, **shift.env}
    return live.Step(seat, bench.verifier_account(), command, env, ways.verifier_timeout_s)


def _bash(command: str) -> str:
    return live.quoted(seats.in_bash(command))


def _script_file(probe: Probe) -> Sequence[Entry]:
    """A script that is too long for a command line lies in a file."""
    if len(probe.script) <= _LONG_SCRIPT_CHARACTERS:
        return ()
    return (Entry(_SCRIPT_FILE, probe.script.encode("utf-8", "surrogateescape"), 0o644),)


def _fault(told: live.Told, outcome: Outcome, *, is_separate: bool) -> Seen | None:
    """Why the session was no run of the verifier, if so."""
    if told.problem:
        return no_run(*live.PROBLEMS[told.problem])
    if is_separate or told.has_begun_to_verify:
        return None
    why = (
        "ran longer than it may, and nothing in the image can end it"
        if outcome.is_timed_out
        else (f"ended the session's own shell: {tail(outcome.stderr)[-200:]}")
    )
    return no_run(f"the agent's part {why}", "sandbox")


def _verifier_end(told: live.Told, outcome: Outcome, ways: Ways) -> Outcome:
    """How the verifier ended within the session; 124 is a word of `timeout`, and may be the script's own."""
    took = outcome.seconds.get("run", ways.verifier_timeout_s)
    is_late = told.verifier_status == acting.TIMEOUT_STATUS and took >= ways.verifier_timeout_s
    status = None if is_late else told.verifier_status
    return Outcome(status, b"", b"", is_timed_out=is_late or outcome.is_timed_out, signal=outcome.signal)


def _acted(slot: Slot, probe: Probe, told: live.Told, outcome: Outcome, ways: Ways) -> Acted:
    if not told.statuses:
        return Acted()
    count = (probe.base != "start") + bool(probe.script)  # what collects comes after those
    status = told.statuses[:count][-1] if count else None
    output = tail(outcome.stdout)
    if probe.base != "start" and not probe.script:
        output = tail(read_files(slot.get([seats.AGENT_LOG], limit_bytes=1 << 24)).get(seats.AGENT_LOG, b""))
    who = "the script" if probe.script else "the solution"
    is_late = status == acting.TIMEOUT_STATUS
    number = status - 128 if status is not None and 128 < status < 128 + 65 else None
    ended = Outcome(None if is_late or number else status, b"", b"", is_timed_out=is_late, signal=number)
    return acting.acted(ended, output, who, ways.agent_timeout_s)
