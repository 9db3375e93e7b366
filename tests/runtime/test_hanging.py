"""Programs of the solver that take too long: a failure of theirs, never the end of the verifier."""

import subprocess
import sys
import time

import pytest

from tests.runtime.places import SYSTEM_PYTHON, Verifier, account, check, document


@pytest.fixture
def verifier(open_path):
    return Verifier(open_path, ("command",))


def judge(verifier, *claims, **more):
    checks = [check(f"c{number}", claim) for number, claim in enumerate(claims)]
    return verifier.run(document(*checks, **more), python=SYSTEM_PYTHON)


def test_programs_that_hang_fail_before_the_verifiers_time_is_up(verifier):
    """Else a solver could choose to have no verdict, and an endless loop would be nobody's fault."""
    verifier.put("/app/run.py", "import time\ntime.sleep(600)")
    verifier.put("/app/quick.py", "print('done')")
    hangs = [("command", {"argv": [SYSTEM_PYTHON, "run.py"], "cwd": "/app", "timeout": 2.0})] * 40
    quick = ("command", {"argv": [SYSTEM_PYTHON, "quick.py"], "cwd": "/app", "timeout": 9.0})
    runner = {"user": account(), "timeout_s": 9.0, "memory_bytes": 2**28, "processes": 32, "total_s": 5.0}
    started = time.monotonic()
    judged = judge(verifier, quick, *hangs, quick, runner=runner)
    assert time.monotonic() - started < 20
    assert [*judged.verdicts.values()] == ["pass", *["fail"] * 41], judged.reasons
    assert judged.reward == 0.0


def test_slow_programs_have_a_grace_until_one_hangs():
    text = """
import sys
from aespec.runtime.runner import Runner
runner = Runner(sys.argv[1], timeout_s=9.0, memory_bytes=2**28, processes=32, total_s=1000.0)
before = runner.left_s()
more = {"stdin": b"", "env": {}, "output_limit_bytes": 1, "umask": 0o022}
ended = runner.run(["/bin/sleep", "60"], cwd="/", timeout_s=0.1, **more)
print(before, ended.is_timed_out, runner.left_s())
"""
    argv = [sys.executable, "-c", text, account()]
    before, is_timed_out, after = subprocess.run(
        argv, capture_output=True, text=True, check=True
    ).stdout.split()
    assert 1100 < float(before) <= 1200
    assert is_timed_out == "True"
    assert 900 < float(after) <= 1000


def test_programs_that_dawdle_below_their_limits_fail_in_the_end(verifier):
    verifier.put("/app/run.py", "import time\ntime.sleep(1.5)\nprint('done')")
    slow = ("command", {"argv": [SYSTEM_PYTHON, "run.py"], "cwd": "/app", "timeout": 9.0, "stdout": "done"})
    runner = {"user": account(), "timeout_s": 9.0, "memory_bytes": 2**28, "processes": 32, "total_s": 1.0}
    judged = judge(verifier, *[slow] * 20, runner=runner)
    assert set(judged.verdicts.values()) == {"fail"}, judged.reasons
    assert judged.reward == 0.0
