"""Jobs side by side in threads, with an order to their results and an end to them at an interrupt."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

STOP_S = 10.0
"""How long an interrupt waits for what it has stopped; an engine's build can't be stopped."""


def spread(run: Callable[[T], R], jobs: Sequence[T], *, workers: int, stop: Callable[[], None]) -> list[R]:
    """The results of the jobs, in their order.

    `stop` ends what runs right now. At a KeyboardInterrupt it is called again and again, as a job may have
    several runs in turn; at another exception what runs is awaited, and what waits isn't started.
    """
    if workers == 1 or len(jobs) < 2:
        return [run(job) for job in jobs]
    pool = ThreadPoolExecutor(max_workers=min(workers, len(jobs)))
    futures: list[Future[R]] = []
    gate, given_up = threading.Event(), threading.Event()

    def begin(job: T) -> R:
        gate.wait()  # until `futures` holds them all: an interrupt must find whatever runs
        if given_up.is_set():
            raise CancelledError
        return run(job)

    try:
        futures = [pool.submit(begin, job) for job in jobs]
        gate.set()
        return [future.result() for future in futures]
    except KeyboardInterrupt:
        given_up.set()
        gate.set()
        _stop(futures, stop)
        raise
    finally:
        gate.set()
        pool.shutdown(wait=not given_up.is_set(), cancel_futures=True)


def _stop(futures: Sequence[Future[R]], stop: Callable[[], None]) -> None:
    """End what runs, which may have hours to go."""
    deadline = time.monotonic() + STOP_S
    while (running := [future for future in futures if not future.done()]) and time.monotonic() < deadline:
        stop()
        wait(running, timeout=0.2)
