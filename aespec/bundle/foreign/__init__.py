"""Harbor tasks that somebody else wrote, read without running anything of them."""

from aespec.bundle.foreign.folder import FaultError
from aespec.bundle.foreign.reading import read_foreign
from aespec.bundle.foreign.task import Artifact, Container, Fault, ForeignTask
from aespec.bundle.foreign.uploads import read_solution, read_tests, read_tests_folder

__all__ = [
    "Artifact",
    "Container",
    "Fault",
    "FaultError",
    "ForeignTask",
    "read_foreign",
    "read_solution",
    "read_tests",
    "read_tests_folder",
]
