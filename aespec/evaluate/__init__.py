"""Evaluation: the programs of a spec run in the sandbox, and an instance comes out.

`evaluate(task, seed, runner)` gives one; `ProgramRunner(sandbox)` holds the evaluator's root and the cache of
results; `instance_seeds(seed, count)` names the instances of a family.
"""

from aespec.evaluate.draws import GeneratorError, instance_seed, instance_seeds, iterate_seeds
from aespec.evaluate.evaluation import draw_params, evaluate
from aespec.evaluate.programs import ProgramRunner

__all__ = [
    "GeneratorError",
    "ProgramRunner",
    "draw_params",
    "evaluate",
    "instance_seed",
    "instance_seeds",
    "iterate_seeds",
]
