"""Certifications that are interrupted, or whose certificate can't be handed over."""

import signal
import threading

import pytest

from aespec.fuzz import CertifyOptions, certify
from aespec.fuzz import bench as module
from aespec.fuzz.bench import Acting, Bench, BudgetSpentError, Rung
from aespec.fuzz.journal import Journal
from aespec.sandbox import open_sandbox
from aespec.trial import NOP, EndState
from tests.fuzz.test_certify import FEW
from tests.trial.making import SPEC


class Endless:
    """A sandbox whose runs take until it is stopped; each has two slots in turn."""

    def __init__(self):
        self.stopped = threading.Condition()
        self.stops = 0

    def stop(self):
        with self.stopped:
            self.stops += 1
            self.stopped.notify_all()


@pytest.fixture
def at_work(monkeypatch, tmp_path):
    """A bench of two workers over runs without an end, and the agents' numbers that were begun."""
    begun, both = [], threading.Event()

    def collect(bundle, agent, sandbox):
        begun.append(threading.current_thread())
        if len(begun) == 2:
            both.set()
        for _ in range(2):
            with sandbox.stopped:
                sandbox.stopped.wait()
        return EndState(agent.name, b"", "", boundary="sandbox")

    monkeypatch.setattr(module, "collect", collect)
    rung = Rung("endless", Endless())
    bundle = type("Bundle", (), {"digest": "0", "name": "endless"})()
    journal = Journal(tmp_path / "journal")
    return Bench(journal, workers=2), [Acting(bundle, NOP, rung, number) for number in range(9)], begun, both


def test_an_interrupt_stops_what_runs_and_starts_nothing_more(at_work, tmp_path):
    bench, jobs, begun, both = at_work
    main = threading.main_thread().ident

    def interrupt():
        assert both.wait(60)
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        bench.act(jobs)
    assert jobs[0].rung.sandbox.stops >= 2
    assert len(begun) == 2
    for thread in begun:
        thread.join(60)
        assert not thread.is_alive()
    assert not (tmp_path / "journal").exists(), "a run that was stopped is no result"


def test_what_runs_when_time_is_out_is_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "collect", lambda bundle, agent, _: EndState(agent.name, b"", "0", status=0))
    bundle = type("Bundle", (), {"digest": "0", "name": "quick"})()
    jobs = [Acting(bundle, NOP, Rung("quick", None), number) for number in range(9)]
    journal = Journal(tmp_path)
    bench = Bench(journal, workers=2, deadline=0.0)
    with pytest.raises(BudgetSpentError):
        bench.act(jobs)
    bench = Bench(journal, workers=2)
    assert len(bench.act(jobs)) == 9
    assert journal.kept == 9


@pytest.mark.needs("userns")
def test_a_certificate_that_cannot_be_handed_over_costs_no_run(tmp_path):
    path = tmp_path / "spec.aes"
    path.write_text(SPEC)
    sandbox = open_sandbox("fork")
    asked = {"instances": 1, "repeats": FEW, "cache": tmp_path / "cache", "wants_reference": False}
    asked["only"] = ("builds", "solvable", "nop-fails")

    def refuse(_certificate):
        raise OSError(28, "No space left on device", "certificate.json")

    with pytest.raises(OSError, match="No space"):
        certify(path, sandbox, options=CertifyOptions(**asked, deliver=refuse))
    got = []
    certify(path, sandbox, options=CertifyOptions(**asked, deliver=got.append))
    assert [sum(certificate.cost["executions"].values()) for certificate in got] == [0]
    assert not list((tmp_path / "cache").iterdir())
