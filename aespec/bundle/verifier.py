"""The verifier's image: the same base and packages, the checker, and nothing of the start state."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from aespec.bundle.claims import PlannedCheck, check_to_json
from aespec.bundle.faults import Faults
from aespec.bundle.plan import PlannedFile
from aespec.bundle.quoting import is_plain
from aespec.bundle.recipe import AddUser, Copy, MakeFolder, Recipe, RecipeStep, Shell
from aespec.bundle.render import render_template
from aespec.bundle.setup import base_image, brings_python, package_steps
from aespec.model.expressions import Json
from aespec.model.instance import Instance
from aespec.model.json_text import write_json
from aespec.model.lock import Lock
from aespec.model.task import Task
from aespec.records import dataclass

COMPILE_SCRIPT = "compile.sh"
"""The build step that compiles the checker; it stays out of the image."""

CONTEXT = "tests"
"""The bundle's folder that the verifier's image is built from."""

RUN_ACCOUNT = "aespec-run"
"""Who the solver's programs run as in the verifier: an account that owns nothing there."""

RUN_UID = 1999
"""Its uid: above what packages take, beside what people's accounts take."""

PROCESSES = 128
"""How many processes the solver's programs may have at once: enough for a build tool, too few to choke."""

RUN_TIME_S = 60.0
"""How long one run of the solver's program may take; a predicate's own limit is lower or equal."""


TOTAL_SHARE = 0.75
"""The share of the verifier's time after which programs that hang get no more; the rest is for files."""


@dataclass(frozen=True, slots=True)
class VerifierPlan:
    """The verifier's image: its recipe and the files of its context, relative to the context."""

    recipe: Recipe
    files: Mapping[str, PlannedFile]


def plan_verifier(
    task: Task,
    instance: Instance,
    checks_json: Json,
    library: Mapping[str, bytes],
    lock: Lock | None,
    images: Mapping[str, str],
    faults: Faults,
) -> VerifierPlan:
    """The recipe and context of the verifier; `library` is what ships, by its path below `/tests/lib`."""
    shared = {f"lib/{path}": PlannedFile(data) for path, data in sorted(library.items())}
    own = {
        "test.sh": PlannedFile(render_template("harbor/test.sh.j2").encode(), 0o755),
        "checks.json": PlannedFile(write_json(checks_json)),
        **_hidden(task, instance, faults),
    }
    steps: list[RecipeStep] = [
        *package_steps(task, lock, faults, () if brings_python(task) else ("python3",)),
        AddUser(RUN_ACCOUNT, RUN_UID, f"/home/{RUN_ACCOUNT}"),
        MakeFolder("/tests", 0o700),
        MakeFolder("/logs/verifier"),
        MakeFolder("/tests/lib"),
        *([MakeFolder("/tests/hidden")] if task.step.verify.hidden_files else []),
    ]
    steps += [Copy(path, f"/tests/{path}", file.mode) for path, file in shared.items()]
    steps.append(Shell(COMPILE_SCRIPT))
    # What differs between instances comes last: they share all layers below it.
    steps += [Copy(path, f"/tests/{path}", file.mode) for path, file in own.items()]
    compiling = {COMPILE_SCRIPT: PlannedFile(render_template("harbor/compile.sh.j2").encode())}
    base = base_image(task, lock, images, faults)
    return VerifierPlan(Recipe(base, tuple(steps), CONTEXT), {**shared, **compiling, **own})


def checks_to_json(
    task: Task, instance: Instance, checks: Sequence[PlannedCheck], baseline: Mapping[str, Json]
) -> dict[str, Json]:
    """The form of `checks.schema.json`."""
    return {
        "schema": 1,
        "task": task.name,
        "instance": instance.digest,
        "is_scored": task.step.verify.is_scored,
        "runner": {
            "user": RUN_ACCOUNT,
            "timeout_s": min(RUN_TIME_S, task.limits.verify_time_s),
            "memory_bytes": task.limits.memory_bytes,
            "processes": PROCESSES,
            "total_s": TOTAL_SHARE * task.limits.verify_time_s,
        },
        "seed": instance.seed,
        "checks": [check_to_json(check) for check in checks],
        "baseline": dict(baseline),
    }


def _hidden(task: Task, instance: Instance, faults: Faults) -> dict[str, PlannedFile]:
    files = {}
    for item in task.step.verify.hidden_files:
        if not is_plain(item.name) or posixpath.normpath(f"/{item.name}") != f"/{item.name}":
            faults.error(
                "hidden-name",
                f"{item.name!r} is no name for a hidden file",
                item.span,
                help="Write a plain relative name, such as cases.json.",
            )
            continue
        text = faults.render(item.content, instance.values)
        files[f"hidden/{item.name}"] = PlannedFile(text.encode())
    return files
