"""Harbor tasks that somebody else wrote, run as Harbor runs them, with any end state in the agent's place."""

from aespec.trial.foreign.grounds import LONGEST_RUN_S
from aespec.trial.foreign.harness import ForeignHarness, open_harness
from aespec.trial.foreign.trials import NamedProbe, find_probe, load_probe, try_probe

__all__ = [
    "LONGEST_RUN_S",
    "ForeignHarness",
    "NamedProbe",
    "find_probe",
    "load_probe",
    "open_harness",
    "try_probe",
]
