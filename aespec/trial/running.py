"""One trial from the start state to the verdict, as Harbor runs it in separate-verifier mode."""

from __future__ import annotations

from collections.abc import Callable

from aespec.bundle.plan import Bundle
from aespec.sandbox.api import Sandbox
from aespec.trial.acting import collect
from aespec.trial.agents import Agent
from aespec.trial.judging import verify
from aespec.trial.result import TrialResult


def run_trial(
    bundle: Bundle, agent: Agent, sandbox: Sandbox, *, progress: Callable[[str], None] | None = None
) -> TrialResult:
    """One trial from the start state to the verdict. Trouble is an outcome, never an exception."""
    end_state = collect(bundle, agent, sandbox, progress=progress)
    return verify(bundle, end_state, sandbox, progress=progress)
