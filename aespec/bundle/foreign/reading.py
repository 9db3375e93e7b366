"""A task folder that somebody else wrote: read, checked and described, with nothing of it run or built."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from aespec.bundle.foreign.compose import COMPOSE_FILES
from aespec.bundle.foreign.containers import DOCKERFILE, Planned, plan_container
from aespec.bundle.foreign.folder import Entry, FaultError, Folder
from aespec.bundle.foreign.settings import Settings, Surroundings, read_settings
from aespec.bundle.foreign.task import Fault, ForeignTask
from aespec.bundle.foreign.terminal_bench import TASK_FILE, read_terminal_bench
from aespec.bundle.foreign.uploads import uploaded
from aespec.bundle.foreign.variables import fill
from aespec.diagnostics.escape import escape_controls

CONFIG = "task.toml"
CONFIG_LIMIT_BYTES = 128 * 1024
"""The longest of four thousand public ones has 4 KiB."""

_CANARY = re.compile(r"(<!--.*canary.*-->|#.*canary.*)", re.IGNORECASE)
# Python's reader takes time by the square of such a key's length: minutes for one as long as the file may be.
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){50}""", re.ASCII)
_NEWEST_SCHEMA = (1, 4)


def read_foreign(
    path: Path, *, given: Mapping[str, str] | None = None, is_built: bool = False
) -> tuple[ForeignTask | None, tuple[Fault, ...]]:
    """The task in a folder, and what is wrong with it; None where a fault is fatal.

    Harbor's schema 1.0 to 1.4 and Terminal-Bench's older layout are read, as Harbor 0.26 takes them. Whatever
    lies in the folder, the answer comes within a bounded number of files and bytes read. `given` are the
    values of variables that Harbor would take from the machine. `is_built` builds the Dockerfile also where
    a prebuilt image is named, as Harbor's `--force-build`.
    """
    try:
        task, faults = _read(path, given or {}, is_built=is_built)
    except FaultError as error:
        task, faults = None, (error.fault,)
    safe = [
        replace(fault, message=escape_controls(fault.message), help=escape_controls(fault.help))
        for fault in faults
    ]
    return task, tuple(dict.fromkeys(safe))


def _read(
    path: Path, given: Mapping[str, str], *, is_built: bool
) -> tuple[ForeignTask | None, tuple[Fault, ...]]:
    try:
        folder = Folder(path.resolve(strict=True))
    except (OSError, RuntimeError, ValueError) as error:
        raise FaultError(Fault("no-task", f"{path} can't be opened: {error}")) from None
    if folder.root.is_dir() and folder.kind(CONFIG) == "file":
        return _read_harbor(folder, given, is_built=is_built)
    if folder.root.is_dir() and folder.kind(TASK_FILE) == "file":
        return read_terminal_bench(folder, given)
    raise FaultError(
        Fault(
            "no-task",
            f"{path} holds neither {CONFIG} nor {TASK_FILE}",
            "Name the folder of one task; in a data set each task has a folder of its own.",
        )
    )


def _read_harbor(
    folder: Folder, given: Mapping[str, str], *, is_built: bool
) -> tuple[ForeignTask | None, tuple[Fault, ...]]:
    settings, told = read_settings(_config(folder), folder.root.name)
    faults = list(told)
    if settings is None:
        return None, told
    _refuse(settings, faults)
    entries = _entries(folder)
    instruction = _instruction(folder, faults)
    planned = _attempt(faults, folder, settings, given, is_built=is_built)
    verifier, has_own_tests = _verifier(folder, settings, planned, given, faults)
    if not has_own_tests:
        _check_script(folder, entries, faults)
    solution = _solution(folder, entries, faults)
    if planned is None or any(fault.is_fatal for fault in faults):
        return None, tuple(faults)
    for context in {planned.context, verifier.context if verifier else None} - {None}:
        entries.update(folder.below(context or ""))
    for name in (CONFIG, "instruction.md"):
        entries[name] = Entry("file", len(folder.data(name, 4 * CONFIG_LIMIT_BYTES)))
    task = _task(folder, settings, planned, given, faults)
    return replace(
        task,
        instruction=instruction,
        verifier=verifier.container if verifier else None,
        has_own_tests=has_own_tests,
        solution=solution,
        extras=_extras(folder, settings, planned, verifier),
        digest=folder.digest(entries),
    ), tuple(faults)


def _config(folder: Folder) -> dict[str, Any]:
    text = folder.text(CONFIG, CONFIG_LIMIT_BYTES)
    try:
        if _LONG_KEY.search(text):
            raise ValueError("a key of fifty parts and more")
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise FaultError(
            Fault(
                "bad-toml",
                f"{CONFIG} is no TOML: {str(error)[:200] or 'nested too deeply'}",
                'Mend it: Harbor passes over such a task without a word. A backslash in "…" must be doubled.',
            )
        ) from None


def _refuse(settings: Settings, faults: list[Fault]) -> None:
    if settings.has_steps:
        # Alone: its instructions and tests lie below steps/, so their absence here would be no fault.
        raise FaultError(
            Fault(
                "multi-step",
                "the task has several steps, each with a verifier of its own",
                "Tasks of several steps aren't audited yet; try each step as a task of its own.",
            )
        )
    systems = {settings.environment.system}
    if settings.verifier_surroundings is not None:
        systems.add(settings.verifier_surroundings.system)
    if "windows" in systems:
        faults.append(
            Fault("windows-task", "the task wants Windows containers", "Only Linux tasks can be run here.")
        )
    named = settings.verifier_surroundings or settings.environment
    if any(re.search(r"\s", image) for image in (settings.environment.image, named.image) if image):
        faults.append(Fault("bad-value", "`docker_image` is no name of an image", "Mend it in task.toml."))
    found = re.fullmatch(r"(\d{1,4})(?:\.(\d{1,4}))?.*", settings.schema)
    if found is None or (int(found[1]), int(found[2] or 0)) > _NEWEST_SCHEMA:
        faults.append(
            Fault(
                "newer-schema",
                f"the schema calls itself {settings.schema[:40]!r}; 1.0 to 1.4 are known",
                "What is new in it isn't minded.",
                is_fatal=False,
            )
        )


def _entries(folder: Folder) -> dict[str, Entry]:
    """What lies in environment, tests and solution, without what a `.harborignore` leaves out."""
    found: dict[str, Entry] = {}
    if folder.kind("environment") == "folder":
        found.update(folder.below("environment"))
    tops = [top for top in ("tests", "solution") if folder.kind(top) == "folder"]
    for top in tops:
        found[top] = Entry("folder")
        found.update(uploaded(folder, top))
    for top in tops:
        folder.check_links(found, top)
    return found


def _instruction(folder: Folder, faults: list[Fault]) -> str:
    if folder.kind("instruction.md") != "file":
        faults.append(
            Fault("no-instruction", "there is no instruction.md", "Write there what is to be done.")
        )
        return ""
    text = strip_canary(folder.text("instruction.md"))
    if not text.strip():
        faults.append(
            Fault(
                "empty-instruction",
                "instruction.md is empty",
                "Write there what is to be done.",
                is_fatal=False,
            )
        )
    return text


def strip_canary(text: str) -> str:
    """An instruction without the comments at its start that mark it against training, as Harbor shows it."""
    lines = text.split("\n")
    start = 0
    while start < len(lines) and _CANARY.fullmatch(lines[start].strip()):
        start += 1
    while start < len(lines) and not lines[start].strip():
        start += 1
    return "\n".join(lines[start:])


def _attempt(
    faults: list[Fault], folder: Folder, settings: Settings, given: Mapping[str, str], *, is_built: bool
) -> Planned | None:
    try:
        planned, found = plan_container(folder, "environment", settings.environment, given, is_built=is_built)
    except FaultError as error:
        faults.append(error.fault)
        return None
    faults += found
    return planned


def _verifier(
    folder: Folder,
    settings: Settings,
    planned: Planned | None,
    given: Mapping[str, str],
    faults: list[Fault],
) -> tuple[Planned | None, bool]:
    """The separate verifier's container (None: a copy of the agent's) and whether it has tests of its own."""
    if not settings.is_separate or planned is None:
        return None, False
    own = settings.verifier_surroundings
    named = own.image if own is not None else None
    is_defined = any(folder.kind(f"tests/{name}") == "file" for name in (DOCKERFILE, COMPOSE_FILES[0]))
    try:
        if named or is_defined:
            where = own or settings.environment
            found, told = plan_container(folder, "tests", replace(where, image=named), given)
            faults += told
            return found, True
        if own is None:
            return None, False
        env, told = fill(own.env, given, "the verifier's environment")
        faults += told
    except FaultError as error:
        faults.append(error.fault)
        return None, True
    copy = replace(planned.container, env=env, workdir=own.workdir)
    return replace(planned, container=copy, extras=()), False


def _check_script(folder: Folder, entries: Mapping[str, Entry], faults: list[Fault]) -> None:
    if folder.kind("tests/test.sh") is None:
        only_windows = folder.kind("tests/test.bat") is not None
        faults.append(
            Fault(
                "windows-task" if only_windows else "no-test-script",
                "there is only a test.bat, for Windows" if only_windows else "there is no tests/test.sh",
                "Add the script that writes the reward to /logs/verifier/reward.txt.",
            )
        )
    elif "tests/test.sh" not in entries:
        faults.append(
            Fault(
                "script-left-out",
                "tests/test.sh is left out by a .harborignore",
                "Harbor refuses the task: take the pattern out.",
            )
        )


def _solution(folder: Folder, entries: Mapping[str, Entry], faults: list[Fault]) -> Path | None:
    if "solution/solve.sh" in entries and folder.kind("solution/solve.sh") == "file":
        return folder.root / "solution"
    other = "solution/ holds no solve.sh" if "solution" in entries else "the task has no solution"
    faults.append(
        Fault(
            "no-solution",
            other,
            "Add solution/solve.sh: without one it can't be shown that the task can be solved.",
            is_fatal=False,
        )
    )
    return None


def _task(
    folder: Folder, settings: Settings, planned: Planned, given: Mapping[str, str], faults: list[Fault]
) -> ForeignTask:
    solution_env, unset = fill(settings.solution_env, given, "the solution")
    verifier_env, more = fill(settings.verifier_env, given, "the verifier")
    faults += [*unset, *more]
    known: dict[str, Any] = {
        "agent_timeout_s": settings.agent_timeout_s,
        "verifier_timeout_s": settings.verifier_timeout_s,
        **_sizes(settings.environment),
    }
    shares = planned.has_network or settings.is_separate
    return ForeignTask(
        path=folder.root,
        name=settings.name,
        layout="harbor",
        schema=settings.schema,
        instruction="",
        environment=planned.container,
        mode="separate" if settings.is_separate else "shared",
        tests=folder.root / "tests",
        test_script="test.sh",
        solution_env=solution_env,
        verifier_env=verifier_env,
        agent_user=settings.agent_user,
        verifier_user=settings.verifier_user,
        network={
            "agent": settings.agent_network != "no-network" and planned.has_network,
            "verifier": settings.verifier_network != "no-network" and shares,
        },
        artifacts=settings.artifacts,
        collect=settings.collect,
        **{name: value for name, value in known.items() if value is not None},
    )


def _sizes(environment: Surroundings) -> dict[str, Any]:
    """Limits in bytes and cores; what isn't above nothing is left to the default."""
    sizes = {"memory_bytes": environment.memory_mb, "disk_bytes": environment.disk_mb}
    found: dict[str, Any] = {name: size * 1024**2 for name, size in sizes.items() if size and size > 0}
    if environment.cpu and environment.cpu > 0:
        found["cpu"] = environment.cpu
    return found


def _extras(
    folder: Folder, settings: Settings, planned: Planned, verifier: Planned | None
) -> tuple[str, ...]:
    found = [*settings.environment.extras, *planned.extras, *settings.extras]
    if settings.verifier_surroundings is not None:
        found += [f"{extra}, for the verifier" for extra in settings.verifier_surroundings.extras]
    if verifier is not None:
        found += [f"{extra}, for the verifier" for extra in verifier.extras]
    if "allowlist" in (settings.agent_network, settings.verifier_network):
        found.append("a network of named hosts only")
    if folder.kind("trajectory.json") is not None:
        found.append("an earlier trajectory")
    return tuple(dict.fromkeys(found))
