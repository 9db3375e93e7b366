"""One trial of a foreign task for a person: which probe an agent's name stands for, and its result."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from aespec.bundle.foreign import ForeignTask
from aespec.model.expressions import Json
from aespec.trial.agents import EXAMPLE_KINDS, AgentError, script_agent
from aespec.trial.foreign.harness import NOP, ORACLE, ForeignHarness
from aespec.trial.probe import Judgement, Probe, probe_from_json
from aespec.trial.result import TrialResult

PROBE_LIMIT_BYTES = 64 * 1024**2

_END = "AESPEC-END-OF-SCRIPT"
_FILE = "/tmp/.aespec-agent"


@dataclass(frozen=True, slots=True)
class NamedProbe:
    """A probe, what a trial's result calls its agent, and the digest of the task that it was found on."""

    agent: str
    probe: Probe
    digest: str = ""


def find_probe(task: ForeignTask, name: str) -> NamedProbe:
    """What `oracle`, `nop`, the path of a script, or the path of a probe's JSON stands for.

    A script runs in the start state; in shared mode what it leaves running goes on, as in Harbor. Raises
    `AgentError`.
    """
    if name in ("oracle", "nop"):
        return NamedProbe(name, ORACLE if name == "oracle" else NOP)
    kind, _, label = name.partition(":")
    if kind in EXAMPLE_KINDS:
        raise AgentError(
            f"a task that aespec did not write has no {kind}; name oracle, nop, a script or a probe"
        )
    path = Path(label if kind == "script" else name)
    if path.suffix == ".json":
        return load_probe(path)
    found = script_agent(path)
    assert found.script is not None
    interpreter = "python3" if found.script.interpreter == "python" else _shell(found.script.text)
    text = _handed_to(interpreter, found.script.text) if interpreter != "sh" else found.script.text
    return NamedProbe(found.name, Probe(path.name, "start", (), text, is_live=task.mode == "shared"))


def load_probe(path: Path) -> NamedProbe:
    """A probe from its file, or from a finding's counterexample that holds it. Raises `AgentError`."""
    try:
        if path.stat().st_size > PROBE_LIMIT_BYTES:
            raise ValueError("it is too large")
        told: Json = json.loads(path.read_text(encoding="utf-8"))
        digest = ""
        if isinstance(told, dict) and "probe" in told:
            digest, told = str(told.get("digest") or ""), told["probe"]
        probe = probe_from_json(told)
    except (OSError, ValueError, RecursionError) as fault:
        raise AgentError(f"{path} can't be read as a probe: {fault}") from None
    return NamedProbe(f"probe:{probe.name}", probe, digest)


def try_probe(task: ForeignTask, harness: ForeignHarness, named: NamedProbe) -> TrialResult:
    """One trial from the task's own images. Trouble is an outcome, never an exception."""
    if named.probe.base == "start":
        judgement = harness.judge_alone(named.probe)
    else:
        judgement = harness.judge(named.probe, is_cold=True)
    return trial_of(task, harness.name, named.agent, judgement)


def trial_of(task: ForeignTask, sandbox: str, agent: str, judgement: Judgement) -> TrialResult:
    """A judgement in the form of a trial's result: the failed tests are its checks."""
    is_oracle_fault = agent == "oracle" and judgement.outcome == "fail"
    checks: list[Json] = [{"id": name, "verdict": "fail"} for name in judgement.failed]
    parts = [judgement.message] if judgement.message else []
    if len(judgement.rewards) > 1:
        parts.append(
            "rewards: " + ", ".join(f"{name} {value:g}" for name, value in judgement.rewards.items())
        )
    return TrialResult(
        task=task.name,
        bundle=task.digest,
        agent=agent,
        sandbox=sandbox,
        outcome=judgement.outcome,
        reward=judgement.reward,
        boundary="oracle" if is_oracle_fault else judgement.boundary,
        message="\n".join(parts),
        details={"rewards": dict(judgement.rewards), "checks": checks},
        agent_status=judgement.agent_status,
        seconds=judgement.seconds,
        logs={
            "agent.output": judgement.agent_output.encode("utf-8", "replace"),
            "verifier.output": judgement.output.encode("utf-8", "replace"),
        },
    )


def _shell(text: str) -> str:
    """The shell that a script's first line asks for."""
    first = text.partition("\n")[0]
    return "bash" if first.startswith("#!") and first.rstrip().endswith(("/bash", " bash")) else "sh"


def _handed_to(interpreter: str, text: str) -> str:
    """A script of another interpreter as one of `sh`: through a file, as it may be long."""
    body = text if text.endswith("\n") else text + "\n"
    end = _END
    while end in body:
        end += "-"
    return f"cat > {_FILE} <<'{end}'\n{body}{end}\nexec {interpreter} {_FILE}\n"
