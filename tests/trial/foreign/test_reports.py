"""The names of failed tests, from what test runners leave and print."""

import json

import pytest

from aespec.runtime.memory import Node
from aespec.trial.foreign.reports import CTRF, NAMES_LIMIT, failed_tests

PYTEST = """\
=========================== short test summary info ============================
PASSED ../tests/test_outputs.py::test_there
FAILED ../tests/test_outputs.py::test_sum - assert 41 == 42
FAILED ../tests/test_outputs.py::test_rows[a b-1] - AssertionError: x - y
ERROR ../tests/test_outputs.py::test_setup - OSError
"""


@pytest.mark.parametrize(
    ("output", "names"),
    [
        (
            PYTEST,
            ["test_outputs.py::test_sum", "test_outputs.py::test_rows[a b-1]", "test_outputs.py::test_setup"],
        ),
        (
            "tests/a.py::T::test_x FAILED      [ 50%]\ntests/a.py::T::test_y PASSED [100%]\n",
            ["a.py::T::test_x"],
        ),
        ("FAIL: test_a (mod.Case)\nERROR: test_b (mod.Case)\nOK", ["test_a (mod.Case)", "test_b (mod.Case)"]),
        ("--- FAIL: TestSum (0.00s)\n    --- FAIL: TestSum/neg (0.00s)\n", ["TestSum", "TestSum/neg"]),
        ("test tests::adds ... FAILED\ntest tests::more ... ok\n", ["tests::adds"]),
        ("ok 1 - there\nnot ok 2 - sum is right\n", ["sum is right"]),
        ("everything FAILED, says nobody\n", []),
        ("", []),
    ],
)
def test_what_runners_print(output, names):
    assert list(failed_tests({}, output)) == names


def test_a_report_outranks_what_was_printed():
    tests = [{"name": "tests/t.py::a", "status": "failed"}, {"name": "t.py::b", "status": "passed"}]
    nodes = {CTRF: Node(data=json.dumps({"results": {"tests": tests}}).encode())}
    assert failed_tests(nodes, PYTEST) == ("t.py::a",)


@pytest.mark.parametrize(
    "data", [b"{", b"[]", b'{"results": {"tests": 3}}', b"[" * 100_000, b'{"results": null}']
)
def test_a_broken_report_is_passed_over(data):
    assert failed_tests({CTRF: Node(data=data)}, "not ok 1 - x\n") == ("x",)


def test_names_are_few_short_and_told_once():
    lines = "".join(f"FAILED t.py::test_{number} - x\n" * 2 for number in range(1000))
    assert len(failed_tests({}, lines)) == NAMES_LIMIT
    assert len(failed_tests({}, "FAILED t.py::" + "y" * 1900)[0]) <= 300


def test_a_hostile_line_is_no_work():
    assert failed_tests({}, "a::" * 200_000 + "\nnot ok 1 - x\n") == ("x",)
