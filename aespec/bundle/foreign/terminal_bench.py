"""The older layout of Terminal-Bench: all in one folder, read as Harbor's own mapper turns it into today's.

Two things differ from that mapper. The image is built from the whole folder, as Terminal-Bench did, where
the mapper leaves tests and solution out of the context. And a `solution.yaml` of plain commands is taken.
Source: `mappers/terminal_bench.py` of the package harbor 0.26.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from aespec.bundle.foreign.compose import COMPOSE_FILES, Service, read_service
from aespec.bundle.foreign.containers import DOCKERFILE, dockerfile_text, places
from aespec.bundle.foreign.folder import FaultError, Folder
from aespec.bundle.foreign.schema import as_number
from aespec.bundle.foreign.task import Container, Fault, ForeignTask

TASK_FILE = "task.yaml"
_TEST_SCRIPT = "run-tests.sh"

_VERDICT = """
_EXIT_CODE=$?
if [ $_EXIT_CODE -eq 0 ]; then
    echo 1 > /logs/verifier/reward.txt
else
    echo 0 > /logs/verifier/reward.txt
fi
exit $_EXIT_CODE
"""
"""What Harbor's mapper puts below the script, so that its status becomes the reward."""


def read_terminal_bench(folder: Folder, given: Mapping[str, str]) -> tuple[ForeignTask, tuple[Fault, ...]]:
    """The task; raises `FaultError` where there is nothing to run."""
    data = _task_file(folder)
    faults: list[Fault] = []
    container, service = _container(folder, given, faults)
    if folder.kind(_TEST_SCRIPT) != "file":
        raise FaultError(
            Fault("no-test-script", f"there is no {_TEST_SCRIPT}", "Add the script that runs the tests.")
        )
    script = folder.text(_TEST_SCRIPT)
    script += "" if script.endswith("\n") else "\n"
    added = {"/tests/test.sh": (script + _VERDICT).replace("$TEST_DIR", "/tests")}
    solution = _solution(folder, faults)
    if solution is not None:
        added["/solution/solve.sh"] = solution
    entries = folder.below("")
    folder.check_links(entries, "tests")
    return ForeignTask(
        path=folder.root,
        name=folder.root.name,
        layout="terminal-bench",
        schema="",
        instruction=data["instruction"].rstrip("\n") + "\n",
        environment=container,
        mode="shared",
        tests=folder.root / "tests",
        test_script="test.sh",
        solution=folder.root if solution is not None else None,
        agent_timeout_s=_seconds(data, "max_agent_timeout_sec", 360.0),
        verifier_timeout_s=_seconds(data, "max_test_timeout_sec", 60.0),
        network={"agent": service.has_network, "verifier": service.has_network},
        extras=service.extras,
        digest=folder.digest(entries),
        added=added,
    ), tuple(faults)


def _task_file(folder: Folder) -> dict[str, Any]:
    from aespec.model.yaml_text import read_yaml

    try:
        data = read_yaml(folder.text(TASK_FILE))
    except ValueError as error:
        raise FaultError(Fault("bad-yaml", f"{TASK_FILE}: {error}", "Mend the file.")) from None
    if not isinstance(data, dict):
        raise FaultError(Fault("bad-yaml", f"{TASK_FILE} holds no map", "Mend the file."))
    if not isinstance(data.get("instruction"), str):
        raise FaultError(
            Fault(
                "no-instruction",
                f"{TASK_FILE} has no `instruction`",
                "Write there what is to be done, as one text.",
            )
        )
    return data


def _seconds(data: Mapping[str, Any], name: str, default: float) -> float:
    value = as_number(data.get(name, default))
    return min(value, 86_400.0) if value is not None and value > 0 else default


def _container(folder: Folder, given: Mapping[str, str], faults: list[Fault]) -> tuple[Container, Service]:
    service = Service()
    if folder.kind(COMPOSE_FILES[0]) == "file":
        variables = {**given, "T_BENCH_TEST_DIR": "/tests", "TEST_DIR": "/tests"}
        read, found = read_service(folder.text(COMPOSE_FILES[0]), variables, None)
        faults += found
        if read is None:
            raise FaultError(found[0])
        service = read
    context, path = places(service, "")
    if service.inline is None and folder.kind(path) != "file":
        if not service.image or "${" in service.image:
            raise FaultError(
                Fault(
                    "no-environment",
                    "nothing says what the container is made of",
                    f"Add a {DOCKERFILE} beside {TASK_FILE}.",
                )
            )
        container = Container(folder.root, image=service.image)
    else:
        text = dockerfile_text(folder, service, path)
        container = Container(folder.root / context, dockerfile=text, arguments=service.arguments)
    env = {"TEST_DIR": "/tests", **service.env}
    workdir = service.workdir if PurePosixPath(service.workdir).is_absolute() else ""
    return replace(container, env=env, workdir=workdir, user=service.user), service


def _solution(folder: Folder, faults: list[Fault]) -> str | None:
    if folder.kind("solution.sh") == "file":
        return folder.text("solution.sh")
    if folder.kind("solution.yaml") == "file":
        return _commands(folder, faults)
    faults.append(
        Fault(
            "no-solution",
            "the task has no solution",
            "Add a solution.sh: without one it can't be shown that the task can be solved.",
            is_fatal=False,
        )
    )
    return None


def _commands(folder: Folder, faults: list[Fault]) -> str | None:
    """The commands of a `solution.yaml` as one script; None where they are keys to be pressed."""
    from aespec.model.yaml_text import read_yaml

    try:
        steps = read_yaml(folder.text("solution.yaml"))
    except ValueError:
        steps = None
    lines: list[str] = []
    for step in steps if isinstance(steps, list) else [None]:
        told = step if isinstance(step, dict) else {}
        command = told.get("command")
        if not isinstance(command, str) or told.get("append_enter", True) is not True:
            faults.append(
                Fault(
                    "solution-interactive",
                    "solution.yaml holds more than commands, so it can't be run as a script",
                    "Write it as solution.sh.",
                    is_fatal=False,
                )
            )
            return None
        lines.append(command if told.get("block", True) is not False else f"{{ {command}\n}} &")
    return "#!/bin/bash\n" + "\n".join(lines) + "\n"
