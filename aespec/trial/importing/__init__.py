"""A Harbor task that somebody else wrote as a spec: its verifier stays opaque, the rest is told."""

from aespec.trial.importing.spec import Imported, import_task
from aespec.trial.importing.writing import ImportRefusedError

__all__ = ["ImportRefusedError", "Imported", "import_task"]
