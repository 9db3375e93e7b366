"""The agent's half of a trial: the start state, who acts in it, and what is carried out of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from aespec.bundle.disk import BundleError
from aespec.bundle.interpreters import PYTHONS
from aespec.bundle.plan import Bundle
from aespec.model.edit import Edit
from aespec.model.edits import EditError, apply_edit, edit_mode, edit_target, occurrences
from aespec.model.json_text import json_digest
from aespec.sandbox.api import Image, Outcome, Program, Sandbox, SandboxError, Slot, UncarriableError
from aespec.sandbox.tars import Entry, pack
from aespec.trial.agents import Agent
from aespec.trial.archives import digest_of, iterate_members, pack_folder
from aespec.trial.examples import ScriptText, read_examples
from aespec.trial.result import EndState
from aespec.trial.settings import Settings, read_settings
from aespec.trial.stages import ARTIFACT_LIMIT_BYTES, LOG_LIMIT_BYTES, PATH, explain_fault, last_line, timed

_TOOLS = "/aespec-agent"
_FIND_PYTHON = f"""\
for python in {" ".join(PYTHONS)}; do
    if [ -x "$python" ]; then exec "$python" -B "$@"; fi
done
echo "no python3 in the image" >&2
exit 127
"""
_RUN_PYTHON = """\
import runpy
import subprocess
import sys


def oracle():
    subprocess.run(["/bin/sh", "/solution/solve.sh"], check=True)


sys.path[0] = ""
runpy.run_path("/aespec-agent/example", init_globals={"oracle": oracle}, run_name="__main__")
"""


def collect(
    bundle: Bundle, agent: Agent, sandbox: Sandbox, *, progress: Callable[[str], None] | None = None
) -> EndState:
    """Run the agent in a fresh start state and freeze the declared artifacts.

    Where there is nothing to judge (the image can't be made, an example doesn't fit), `boundary` says whose
    fault that is.
    """
    seconds: dict[str, float] = {}
    try:
        settings = read_settings(bundle)
        with timed(seconds, "environment"):
            image = prepare_environment(bundle, sandbox, progress)
        with sandbox.open(image, settings.agent_limits) as slot:
            with timed(seconds, "agent"):
                outcome = act(bundle, agent, slot, image, settings)
            with timed(seconds, "collect"):
                archive, refusal = _carry_out(slot, settings)
    except SandboxError as fault:
        return _nothing(agent, fault.boundary, explain_fault(fault), seconds)
    except (BundleError, EditError) as fault:
        return _nothing(agent, "spec", str(fault), seconds)
    return EndState(
        agent=agent.name,
        artifacts=archive,
        digest=json_digest(["refused", refusal]) if refusal else digest_of(archive),
        refusal=refusal,
        status=outcome.status if outcome else None,
        message=_agent_message(agent, outcome, settings) if outcome else "",
        seconds=seconds,
        logs={"agent.stdout": outcome.stdout, "agent.stderr": outcome.stderr} if outcome else {},
        is_reproducible=image.is_reproducible,
    )


def _carry_out(slot: Slot, settings: Settings) -> tuple[bytes, str]:
    """The declared artifacts, or why they can't be carried: then the agent, not the machine, failed.

    Otherwise a solver could turn a reward of 0 into a trial without a verdict.
    """
    try:
        archive = slot.get(settings.artifacts, limit_bytes=ARTIFACT_LIMIT_BYTES)
    except UncarriableError as fault:
        return b"", f"the end state can't be carried to the verifier: {fault}"
    room = settings.verifier_limits.disk_bytes
    if len(archive) > room:
        return b"", f"the end state is larger than the verifier's disk of {room // 1024**2} MiB"
    return archive, ""


def prepare_environment(
    bundle: Bundle, sandbox: Sandbox, progress: Callable[[str], None] | None = None
) -> Image:
    """The agent's image of a bundle; raises `SandboxError`."""
    return sandbox.prepare(bundle.environment, bundle.path / bundle.environment.context, progress=progress)


def act(bundle: Bundle, agent: Agent, slot: Slot, image: Image, settings: Settings) -> Outcome | None:
    """Let the agent act in a start state: its program as the agent's account, then an example's edits.

    None where there is nothing to run. Raises `BundleError`, `EditError` and `SandboxError`.
    """
    example = agent.example
    if not agent.has_solution and agent.script is None:
        return None
    entries: list[Entry] = []
    if agent.has_solution:
        entries += pack_folder(bundle.path / "solution", "/solution")
        if example is not None and example.oracle_edits:
            entries = _edit_oracle(entries, read_examples(bundle).oracle, example.oracle_edits)
    argv: tuple[str, ...] = ("/bin/sh", "/solution/solve.sh")
    env = {"PATH": PATH, **image.env}
    if agent.script is not None:
        entries += _tools(agent.script)
        argv = ("/bin/sh", f"{_TOOLS}/start")
        if agent.has_solution:
            env["PATH"] = f"{_TOOLS}/bin:{env['PATH']}"
    slot.put(pack(entries))
    outcome = slot.run(
        Program(
            argv=argv,
            env=env,
            cwd=image.workdir or "/",
            user=image.user or "root",
            timeout_s=settings.agent_timeout_s,
            output_limit_bytes=LOG_LIMIT_BYTES,
            has_network=settings.has_network,
        )
    )
    for edit in example.edits if example is not None else ():
        edit_slot(slot, edit)
    return outcome


def edit_slot(slot: Slot, edit: Edit) -> None:
    """Carry out an edit on the state in a slot; raises `EditError` where it doesn't fit.

    `delete` removes whatever stands at the path, a folder with all below it; what is made takes its place.
    What is put or changed has the time of now, as if a solver had written it: programs such as make look at
    that.
    """
    found = [
        (member, data)
        for member, data in iterate_members(slot.get([edit.path], limit_bytes=ARTIFACT_LIMIT_BYTES))
        if "/" + member.name.strip("/") == edit.path.rstrip("/")
    ]
    if edit.operation == "delete" and found:
        slot.put(pack(()), clean=[edit.path])
        return
    before = next(((member, data) for member, data in found if member.isreg()), None)
    after = apply_edit(before[1] if before else None, edit)
    uid, gid = (before[0].uid, before[0].gid) if before else (0, 0)
    if after is None:
        target = edit_target(edit) if edit.operation == "link" else ""
        made = Entry(edit.path, None, 0o755, uid, gid, mtime=int(time.time()), target=target)
        slot.put(pack([made]), clean=[edit.path])
        return
    mode = edit_mode(edit)
    if mode is None:
        mode = before[0].mode if before else 0o644
    made = Entry(edit.path, after, mode, uid, gid, mtime=int(time.time()))
    slot.put(pack([made]), clean=[edit.path] if found and not before else ())


def _tools(script: ScriptText) -> list[Entry]:
    start = "exec /bin/sh /aespec-agent/example\n"
    if script.interpreter == "python":
        start = f"set -- {_TOOLS}/run.py\n{_FIND_PYTHON}"
    return [
        Entry(_TOOLS, None, 0o755),
        Entry(f"{_TOOLS}/bin", None, 0o755),
        Entry(f"{_TOOLS}/bin/oracle", b"#!/bin/sh\nexec /bin/sh /solution/solve.sh\n", 0o755),
        Entry(f"{_TOOLS}/example", script.text.encode()),
        Entry(f"{_TOOLS}/run.py", _RUN_PYTHON.encode()),
        Entry(f"{_TOOLS}/start", start.encode()),
    ]


def edit_text(text: str, edits: tuple[tuple[str, str], ...]) -> str:
    """The oracle's program after its edits; raises `BundleError` where `old` doesn't stand exactly once."""
    for old, new in edits:
        count = occurrences(text, old)
        if count != 1:
            raise BundleError(
                f"swap(oracle, …): {old!r} stands in the oracle's program {count} times, not once"
            )
        text = text.replace(old, new)
    return text


def _edit_oracle(entries: list[Entry], oracle: ScriptText, edits: tuple[tuple[str, str], ...]) -> list[Entry]:
    """The solution's files with the oracle's own program changed, wherever among them it stands."""
    before, after = oracle.text.encode(), edit_text(oracle.text, edits).encode()
    found = [entry for entry in entries if entry.data is not None and before in entry.data]
    if len(found) != 1:
        raise BundleError("the solution doesn't hold the oracle's program, so it can't be edited")
    changed = replace(found[0], data=(found[0].data or b"").replace(before, after, 1))
    return [changed if entry is found[0] else entry for entry in entries]


def _agent_message(agent: Agent, outcome: Outcome, settings: Settings) -> str:
    if outcome.is_timed_out:
        return f"{agent.name} ran longer than {settings.agent_timeout_s:g} s"
    if outcome.status == 0:
        return ""
    said = last_line(outcome.stderr) or last_line(outcome.stdout)
    return f"{agent.name} ended with status {outcome.status}" + (f": {said}" if said else "")


def _nothing(agent: Agent, boundary: str, message: str, seconds: Mapping[str, float]) -> EndState:
    return EndState(agent.name, b"", "", message=message, boundary=boundary, seconds=seconds)
