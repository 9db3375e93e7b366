"""How audits end: by what hangs, at an interrupt, after a kill, and where the result can't be handed over."""

import itertools
import json
import threading
import time

import pytest

from aespec.fuzz.audit import AuditOptions
from aespec.fuzz.audit.audit import examine
from aespec.fuzz.audit.memory import Memory
from aespec.fuzz.audit.prober import WAITING, Budget, Prober, Request
from aespec.model.json_text import write_json_of_names
from aespec.trial.probe import Judgement, Probe
from tests.fuzz.audit.pretence import PretendedHarness, pretend_task
from tests.fuzz.audit.test_audit import INPUTS, INSTRUCTION, OUTPUTS, count_only

LATE = Judgement("error", boundary="verifier", message="it hangs", seconds={"verify": 600.5})


@pytest.fixture
def audited(tmp_path):
    def run(answer=lambda probe, count: None, **options):
        task = pretend_task(tmp_path / "task", INSTRUCTION)
        harness = PretendedHarness(count_only, OUTPUTS, INPUTS, answer=answer)
        chosen = AuditOptions(cache=tmp_path / "cache", workers=1, **options)
        return examine(task, harness, options=chosen), harness

    return run


def test_where_all_hangs_nothing_more_is_tried(audited):
    found, harness = audited(lambda probe, count: LATE)
    assert len(harness.judged) == 2, "once nothing, once the solution"
    assert any("limits of time" in note for note in found.notes)
    assert any("it hangs" in finding.message for finding in found.certificate.findings)


def test_where_only_nothing_hangs_the_rest_is_tried(audited):
    found, harness = audited(lambda probe, count: LATE if probe.name == "nop" else None)
    assert len(harness.judged) > 50
    assert not any("limits of time" in note for note in found.notes)


def test_a_quick_error_is_repeated(audited):
    quick = Judgement("error", boundary="verifier", message="broken", seconds={"verify": 0.1})
    _, harness = audited(lambda probe, count: quick)
    assert [probe.name for probe in harness.judged[:6]].count("nop") == 3


def test_waiting_counts_against_the_budget(monkeypatch):
    clock = itertools.count(0, 10.0)
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    budget = Budget(cpu_s=30.0, _started_at=0.0)
    taken = sum(budget.take() for _ in range(1000))
    assert 0 < taken <= 30.0 / WAITING / 10.0, "what uses no processor comes to an end, too"


def test_an_audit_that_cannot_be_handed_over_forgets_nothing(audited):
    def refuse(_audit):
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        audited(deliver=refuse)
    told = []
    _, harness = audited(deliver=told.append)
    assert len(told) == 1
    _, third = audited()
    assert len(harness.judged) <= len(third.judged) - 55, "the verdicts were still there"


def test_a_torn_line_costs_itself_only(tmp_path):
    memory = Memory(tmp_path)
    for number in range(3):
        memory.keep(str(number), Judgement("pass", reward=1.0))
    path = tmp_path / "judged.jsonl"
    for cut in range(1, 60):
        whole = path.read_bytes()
        path.write_bytes(whole[:-cut])
        again = Memory(tmp_path)
        again.keep("new", Judgement("fail", reward=0.0))
        assert Memory(tmp_path).find("new") is not None
        assert Memory(tmp_path).find("1") is not None
        path.write_bytes(whole)


@pytest.mark.parametrize(
    "damage", [b"\xff\xfe\n", b"[]\n", b"{}\n", b'{"key": 1, "judgement": {"outcome": 3}}\n']
)
def test_damaged_lines_are_passed_over(tmp_path, damage):
    Memory(tmp_path).keep("a", Judgement("pass", reward=1.0))
    path = tmp_path / "judged.jsonl"
    path.write_bytes(damage + path.read_bytes() + damage)
    found = Memory(tmp_path)
    assert found.find("a") is not None
    assert found.resumed == 1


def test_what_verifiers_say_is_not_kept_whole():
    loud = Judgement("pass", reward=1.0, output="y" * 60_000, agent_output="z" * 60_000)
    harness = PretendedHarness(count_only, OUTPUTS, INPUTS, answer=lambda probe, count: loud)
    prober = Prober(harness, Memory(None), Budget(), workers=1)
    plain = prober.judge_one(Request(Probe("plain")))
    asked = prober.judge_one(Request(Probe("asked", script="ls")))
    assert len(plain.output) + len(plain.agent_output) < 10_000
    assert len(asked.agent_output) == 60_000, "what a script was asked is read"


def test_an_interrupt_ends_what_runs_side_by_side():
    begun, stopped = threading.Barrier(3), threading.Event()

    class Endless(PretendedHarness):
        def judge(self, probe, perturbation=None, *, is_cold=False):
            begun.wait(60)
            assert stopped.wait(60)
            return Judgement("error", boundary="sandbox", message="it was stopped")

        def stop(self):
            stopped.set()

    memory = Memory(None)
    prober = Prober(Endless(count_only, OUTPUTS), memory, Budget(), workers=2)
    main = threading.main_thread().ident

    def interrupt():
        import signal

        begun.wait(60)
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        prober.judge([Request(Probe(str(number))) for number in range(8)])
    assert stopped.is_set()


def test_what_is_no_text_is_written_down_and_reads_back_equal():
    told = {"path": "/app/\udcff", "clef": "\U0001d11e é"}
    assert json.loads(write_json_of_names(told)) == told
