"""Trials: one bundle, one agent, one sandbox; end states to be judged again; why a trial went as it did.

`run_trial` is `collect` (the agent's half, which freezes an end state) and `verify` (the judge's half).
"""

from aespec.bundle.disk import BundleError
from aespec.trial.acting import collect
from aespec.trial.agents import NOP, ORACLE, Agent, AgentError, example_agent, find_agent, script_agent
from aespec.trial.examples import BundleExample, Examples, ScriptText, read_examples
from aespec.trial.explanation import explain
from aespec.trial.folder import load_trial, write_trial
from aespec.trial.judging import Perturbation, verify
from aespec.trial.result import EndState, TrialResult, result_from_json, result_to_json
from aespec.trial.running import run_trial
from aespec.trial.shell import Shell, open_state

__all__ = [
    "NOP",
    "ORACLE",
    "Agent",
    "AgentError",
    "BundleError",
    "BundleExample",
    "EndState",
    "Examples",
    "Perturbation",
    "ScriptText",
    "Shell",
    "TrialResult",
    "collect",
    "example_agent",
    "explain",
    "find_agent",
    "load_trial",
    "open_state",
    "read_examples",
    "result_from_json",
    "result_to_json",
    "run_trial",
    "script_agent",
    "verify",
    "write_trial",
]
