"""A trial for a terminal."""

from __future__ import annotations

from aespec.trial import TrialResult, explain


def render_trial(result: TrialResult) -> str:
    """The verdict per check with reasons, and where the time went."""
    stages = ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in result.seconds.items())
    return explain(result) + (f"  {result.sandbox}: {stages}\n" if stages else "")
