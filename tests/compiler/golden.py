"""The golden specs, compiled: a stand-in runs their programs here, for they are this repository's own."""

import tempfile
from pathlib import Path

from aespec.bundle import BundlePlan
from aespec.compiler import compile_instance, load
from aespec.evaluate import ProgramRunner, evaluate
from aespec.evaluate.cache import ContentCache
from aespec.targets import TargetOptions
from tests.evaluate.making import HostSandbox

FOLDER = Path(__file__).parent.parent / "golden"
SEED = 3


def names():
    return sorted(path.stem for path in FOLDER.glob("*.aes"))


def compiled(name, seed=SEED, options=None) -> BundlePlan:
    """The plan of a golden spec's instance."""
    task, found = load(FOLDER / f"{name}.aes")
    assert task is not None, found
    with tempfile.TemporaryDirectory() as scratch:
        runner = ProgramRunner(HostSandbox(scratch), cache=ContentCache(Path(scratch) / "cache"))
        instance, found = evaluate(task, seed, runner)
    assert instance is not None, found
    plan, found = compile_instance(task, instance, "harbor", options or TargetOptions())
    assert plan is not None, found
    return plan
