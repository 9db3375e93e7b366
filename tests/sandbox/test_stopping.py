"""A sandbox that is stopped from another thread, as when a long run is interrupted."""

import threading

from aespec.sandbox.api import SandboxError, Stoppable
from tests.sandbox.scene import LIMITS, shell_of, wait_for


def run_until_stopped(sandbox, image, is_on_its_way):
    """The errors of two threads whose programs would run for long; `stop` is called when both do."""
    caught = []

    def work():
        with sandbox.open(image, LIMITS) as slot:
            is_on_its_way.release()
            try:
                shell_of(slot)("trap '' TERM; while :; do sleep 1; done", timeout_s=300.0)
            except SandboxError as error:
                caught.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert is_on_its_way.acquire(timeout=60)

    def is_over():
        sandbox.stop()
        return not any(thread.is_alive() for thread in threads)

    assert wait_for(is_over)
    return caught


def test_programs_end_and_what_waits_for_them_is_told(sandbox, image):
    assert isinstance(sandbox, Stoppable)
    caught = run_until_stopped(sandbox, image, threading.Semaphore(0))
    assert len(caught) == 2
    with sandbox.open(image, LIMITS) as slot:
        assert shell_of(slot)("echo fresh").stdout == b"fresh\n"


def test_where_nothing_runs_nothing_is_stopped(sandbox, image):
    sandbox.stop()
    with sandbox.open(image, LIMITS) as slot:
        assert shell_of(slot)("echo fresh").stdout == b"fresh\n"
