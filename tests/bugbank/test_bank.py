"""The bank itself: its files are well-formed, and what a case is, is said in full."""

import tomllib

import pytest

from aespec.bundle.foreign import read_foreign
from aespec.fuzz.certificate import PROPERTIES
from aespec.fuzz.cheats.classes import CLASSES
from tests.bugbank.bank import HERE, load_cases

CASES = load_cases()
STATES = {"file", "repository", "database", "service", "channel"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_says_what_it_is(case):
    assert case.fault_class in CLASSES
    assert case.fault
    assert case.state in STATES
    assert case.decidable in {"static", "dynamic", "no"}
    assert set(case.properties) <= set(PROPERTIES)
    assert case.properties or case.decidable == "no"
    assert case.severity in {"advice", "warning", "error"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_and_its_twin_are_two_tasks_that_can_be_read(case, tmp_path):
    for is_twin in (False, True):
        task, faults = read_foreign(case.write(tmp_path, is_twin=is_twin))
        assert task is not None, faults
        assert task.solution is not None
    assert case.texts() != case.texts(is_twin=True)


def test_every_file_of_the_bank_is_loaded():
    files = {path.stem for shelf in ("cases", "unseen") for path in (HERE / shelf).glob("*.toml")}
    assert files == {case.name for case in CASES}
    for path in HERE.rglob("*.toml"):
        tomllib.loads(path.read_text(encoding="utf-8"))
