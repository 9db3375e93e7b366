"""What ships does what it says: oracle and accepts pass, nothing fails, each reject breaks its rules."""

import pytest

from aespec.bundle import write
from aespec.compiler import compile_instance, load
from aespec.evaluate import ProgramRunner, evaluate, instance_seeds
from aespec.sandbox import open_sandbox
from aespec.trial import NOP, ORACLE, Agent, ScriptText, example_agent, read_examples, run_trial
from tests.examples.specs import NAMES, place

pytestmark = pytest.mark.needs("userns", "uid-range")
SEEDS = instance_seeds(11, 2)


@pytest.fixture(scope="module")
def sandbox():
    return open_sandbox("fork")


@pytest.fixture
def plan_of(sandbox, tmp_path):
    def plan(name, seed):
        task, _ = load(place(name, tmp_path))
        instance, found = evaluate(task, seed, ProgramRunner(sandbox))
        assert instance is not None, found
        planned, found = compile_instance(task, instance)
        assert planned is not None, found
        return planned

    return plan


@pytest.fixture
def bundle_of(plan_of, tmp_path):
    return lambda name, seed: write(plan_of(name, seed), tmp_path / f"bundle-{seed}")


@pytest.mark.parametrize("name", NAMES)
def test_instances_differ_and_compile_to_equal_bytes(name, plan_of):
    plans = [plan_of(name, seed) for seed in SEEDS]
    assert len({plan.files["tests/checks.json"].data for plan in plans}) > 1
    for plan in plans:
        assert "{{" not in plan.files["instruction.md"].data.decode()
    assert plan_of(name, SEEDS[0]) == plans[0]


@pytest.mark.parametrize("name", NAMES)
def test_oracle_and_accepts_pass_and_doing_nothing_fails(name, bundle_of, sandbox):
    bundle = bundle_of(name, SEEDS[0])
    assert run_trial(bundle, ORACLE, sandbox).reward == 1.0
    assert run_trial(bundle, NOP, sandbox).reward == 0.0
    hold_accepts(bundle, sandbox)


def test_rejects_break_their_rules(bundle_of, sandbox):
    hold_rejects(bundle_of("ledger-reconcile", SEEDS[0]), sandbox)


@pytest.mark.full
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_all_of_it_holds_on_more_instances(name, seed, bundle_of, sandbox):
    bundle = bundle_of(name, seed)
    assert run_trial(bundle, ORACLE, sandbox).reward == 1.0
    hold_accepts(bundle, sandbox)
    hold_rejects(bundle, sandbox)


FREEZE = """
make > /dev/null
cp dist/handbook.tar.gz kept.tar.gz
printf 'all:\\n\\tmkdir -p dist\\n\\tcp kept.tar.gz dist/handbook.tar.gz\\n' > Makefile
"""


def test_an_archive_that_was_made_once_and_is_copied_ever_after_does_not_pass(bundle_of, sandbox):
    bundle = bundle_of("reproducible-build", SEEDS[0])
    right = next(item for item in read_examples(bundle).examples if item.kind == "accept")
    result = run_trial(bundle, Agent("script:freeze", ScriptText("sh", right.script.text + FREEZE)), sandbox)
    assert result.reward == 0.0
    assert {"content", "same"} <= set(result.failed()), "both look at the pages of another book"


def hold_accepts(bundle, sandbox):
    for example in read_examples(bundle).examples:
        if example.kind == "accept":
            result = run_trial(bundle, example_agent(example), sandbox)
            assert result.reward == 1.0, (example.name, result.message, result.failed())


def hold_rejects(bundle, sandbox):
    for example in read_examples(bundle).examples:
        if example.kind == "reject":
            result = run_trial(bundle, example_agent(example), sandbox)
            assert result.reward == 0.0, (example.name, result.message)
            assert set(example.breaks) <= set(result.failed()), (example.name, result.failed())
