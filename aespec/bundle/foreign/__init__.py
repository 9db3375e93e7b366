"""Harbor tasks that somebody else wrote, read without running anything of them."""

from aespec.bundle.foreign.task import Artifact, Container, Fault, ForeignTask

__all__ = ["Artifact", "Container", "Fault", "ForeignTask"]
