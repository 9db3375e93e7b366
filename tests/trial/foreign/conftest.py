"""One sandbox for the tests that run small tasks for real: their images share all layers but the last."""

import pytest

from aespec.sandbox import open_sandbox
from aespec.trial.foreign import open_harness
from tests.components import require
from tests.trial.foreign.tasks import write_task


@pytest.fixture(scope="session")
def fork():
    for name in ("userns", "uid-range"):
        require(name)
    return open_sandbox("fork")


@pytest.fixture
def harness(fork, tmp_path):
    """Writes a task and opens a harness on it; settings as in `write_task`."""

    def make(name="task", **settings):
        return open_harness(write_task(tmp_path / name, **settings), fork)

    return make
