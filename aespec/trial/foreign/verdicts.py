"""From what was seen of a run to a judgement: as Harbor reads it, and whose doing an error is."""

from __future__ import annotations

from aespec.trial.foreign.grounds import LONGEST_RUN_S
from aespec.trial.foreign.reports import failed_tests
from aespec.trial.foreign.rewards import read_rewards
from aespec.trial.foreign.troubles import explain_end, lacks_disk, misses_network
from aespec.trial.foreign.verifying import Seen
from aespec.trial.probe import Judgement

FULL_REWARD = 1.0
_CLOSE = 1e-9


def judgement_of(
    seen: Seen, *, full: float, timeout_s: float, is_shortened: bool, wants_network: bool, lent_bytes: int = 0
) -> Judgement:
    """The judgement on a run. `full` is the reward that counts as a pass.

    `timeout_s` is what the verifier had, `is_shortened` that the task allows it more. `wants_network` is that
    it should have reached the network: where its output says that it couldn't, the machine kept it from a
    fair verdict. `lent_bytes` is the disk that it had where that is less than the task allows (else 0), and
    the same holds where that was full.
    """
    rewards = read_rewards(seen.nodes)
    problem, boundary = seen.problem, seen.boundary
    if not problem and seen.outcome.is_timed_out:
        problem, boundary = _late(timeout_s, is_shortened=is_shortened)
    elif not problem and rewards.problem:
        why = "the disk is full" if seen.is_disk_full else explain_end(seen.outcome, seen.output, timeout_s)
        problem = rewards.problem + (f"; {why}" if why else "")
    is_passed = rewards.scalar is not None and rewards.scalar >= full - _CLOSE
    if wants_network and not is_passed and misses_network(seen.output):
        problem = "the verifier couldn't reach the network from here" + (f": {problem}" if problem else "")
        boundary = "sandbox"
    if lent_bytes and not is_passed and (seen.is_disk_full or lacks_disk(seen.output)):
        problem = f"the verifier filled the {lent_bytes >> 20} MiB of disk that a probe has here" + (
            f": {problem}" if problem else ""
        )
        boundary = "sandbox"
    if problem:
        return _judgement(seen, "error", problem, boundary)
    message = "" if is_passed else seen.agent_message
    return _judgement(seen, "pass" if is_passed else "fail", message, None)


def _late(timeout_s: float, *, is_shortened: bool) -> tuple[str, str]:
    """What to say of a verifier that ran into its limit, and whose doing that is."""
    if not is_shortened:
        way_out = "see what it waits for, or raise timeout_sec in [verifier]"
        return f"the verifier ran longer than {timeout_s:g} s (VerifierTimeoutError): {way_out}", "verifier"
    if timeout_s < LONGEST_RUN_S:
        return (
            f"the verifier ran longer than {timeout_s:g} s, which is many times what it takes otherwise",
            "verifier",
        )
    return f"the verifier ran longer than the {timeout_s:g} s that a probe has here", "sandbox"


def _judgement(seen: Seen, outcome: str, message: str, boundary: str | None) -> Judgement:
    rewards = read_rewards(seen.nodes)
    is_error = outcome == "error"
    return Judgement(
        outcome=outcome,
        reward=None if is_error else rewards.scalar,
        rewards={} if is_error else rewards.all,
        boundary=boundary,
        message=message,
        failed=() if outcome == "pass" else failed_tests(seen.nodes, seen.output),
        output=seen.output,
        agent_output=seen.agent_output,
        agent_status=seen.agent_status,
        seconds=seen.seconds,
        files=seen.files,
    )


def full_reward(oracle: Judgement | None) -> float:
    """What counts as a pass: 1, or what the oracle gets where that is less but not nothing."""
    reward = oracle.reward if oracle is not None else None
    return reward if reward is not None and 0 < reward < FULL_REWARD else FULL_REWARD
