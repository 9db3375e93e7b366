"""Harbor tasks that somebody else wrote, run as Harbor runs them, with any end state in the agent's place."""

from aespec.trial.foreign.harness import ForeignHarness, open_harness

__all__ = ["ForeignHarness", "open_harness"]
