"""A foreign task as the text of a spec, with its tests carried opaque and run as one claim."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aespec.bundle.foreign import FaultError, ForeignTask, read_solution, read_tests, read_tests_folder
from aespec.model.expressions import Json
from aespec.runtime.memory import Node
from aespec.runtime.wording import counted
from aespec.trial.importing.environment import (
    PREBUILT,
    Environment,
    read_environment,
    setup_lines,
    variables,
)
from aespec.trial.importing.writing import ImportRefusedError, carried, heredoc, quoted, todo

FINDING_CHARACTERS = 700
LONGEST_RUN_S = 60.0
"""The most that one claim's program may take in the verifier."""

_NETWORK = re.compile(r"\b(?:curl|wget|uvx?|pip3? install|apt-get|apt install|npm|git clone)\b")
_ROOT = re.compile(rb"\b(?:(?:setpriv|sudo|chroot|unshare|useradd|setuid)\b|user=(?=[\"']))")

# What runs tests has no rights already, so that who is to run without them may as well be itself.
_RUNUSER = """\
runuser() {
  while [ $# -gt 0 ]; do case "$1" in -u) shift 2;; --) shift; break;; *) break;; esac; done
  "$@"
}
export -f runuser
"""
_PATH = re.compile(
    r"(?<![\w./$}-])/(?:app|root|home|srv|opt|var|etc|data|workspace|work|tmp|mnt|usr/local)/[\w.+/-]+"
)
_PLACE = re.compile(r"\{\{\s*(?:p|let|answer|hidden|secret|check|checks)\b")

# The carried scripts know /tests and /logs/verifier; here both are folders of the account that runs them.
_MOVE = r"""move() { # a folder, its old name: in the text files, where the name stands as a path of its own
  find "$work" -type f -size -1024k | while IFS= read -r file; do
    grep -Iq . "$file" && sed -E -i "s#(^|[^A-Za-z0-9_./-])$2(/|[^A-Za-z0-9_.-]|\$)#\1$1\2#g" "$file"
  done
}
"""
_JUDGE = """\
python3 -I - "$work/logs" <<'AESPEC-END'
import json, math, pathlib, sys
logs = pathlib.Path(sys.argv[1])
try:
    if (logs / "reward.json").exists():
        told = json.loads((logs / "reward.json").read_text())
        reward = float(told.get("reward", sum(map(float, told.values())) / len(told)))
    else:
        reward = float((logs / "reward.txt").read_text())
except Exception as fault:
    sys.exit("no reward: %s" % fault)
sys.exit(0 if math.isfinite(reward) and reward >= 1 else "the reward is %g" % reward)
AESPEC-END
"""


@dataclass(frozen=True, slots=True)
class Imported:
    """The spec's text and the files beside it, by path relative to it; `todos` are what is left out."""

    text: str
    files: Mapping[str, bytes] = field(repr=False)
    todos: tuple[str, ...] = ()


def import_task(
    task: ForeignTask, name: str, *, base: str = "", findings: Sequence[Mapping[str, Json]] = ()
) -> Imported:
    """The spec of a task; `name` is the spec's own, and that of the folder beside it (`NAME.import`).

    `findings` are those of an audit, as its JSON tells them. Raises `ImportRefusedError`.
    """
    try:
        tests, solution = read_tests(task), read_solution(task)
        if task.has_own_tests:
            tests = _own_tests(task)
    except FaultError as error:
        raise ImportRefusedError(error.fault.message, error.fault.help) from None
    environment = read_environment(task.environment, f"{name}.import", base)
    if not environment.base:
        raise ImportRefusedError("nothing says which image the task stands on", "name one with --base")
    if not solution:
        raise ImportRefusedError(
            "the task has no solution, and a spec needs an oracle", "add solution/solve.sh to the task"
        )
    setup = setup_lines(environment, task.agent_user or environment.user or "root")
    if found := _PLACE.search("\n".join(setup)):
        raise ImportRefusedError(
            f"the Dockerfile or task.toml holds `{found[0]}`, which a spec would replace",
            PREBUILT,
        )
    todos = _todos(task, environment, tests)
    lines = [
        "aes = 1",
        "",
        f"# Imported from the Harbor task {_shown(task.name)}: its verifier is opaque, its tests one claim.",
        f"task {quoted(name)} {{",
        *_head(task),
        "",
        *setup,
        "",
        *_instruction(task),
        "",
        *_oracle(task, environment, solution),
        "",
        *_verify(task, environment, tests, findings, todos),
        "}",
    ]
    return Imported("\n".join(lines) + "\n", dict(environment.assets), (*environment.todos, *todos))


def _head(task: ForeignTask) -> list[str]:
    title = next((line.strip("# ") for line in task.instruction.splitlines() if line.strip("# ")), task.name)
    has_network = task.network.get("agent", True)
    limits = [
        f"cpu = {task.cpu:g}",
        f"memory = {task.memory_bytes >> 20}MiB",
        f"agent_time = {max(1, round(task.agent_timeout_s))}s",
        f"verify_time = {max(1, round(task.verifier_timeout_s))}s",
        f"network = {'open' if has_network else 'none'}",
    ]
    return [
        "  domain = terminal",
        f"  title = {quoted(_shown(title)[:80])}",
        "  # TODO say how hard it is, and under which license it may be used",
        '  meta { difficulty = medium  license = "NOASSERTION" }',
        f"  limits {{ {'  '.join(limits)} }}",
        '  allow(unpinned, because = "imported as it was written; `aespec lock` pins it")',
    ]


def _shown(text: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _instruction(task: ForeignTask) -> list[str]:
    if found := _PLACE.search(task.instruction):
        raise ImportRefusedError(
            f"the instruction holds `{found[0]}`, which a spec would replace",
            "write it another way in instruction.md",
        )
    text = task.instruction.replace("\r\n", "\n").strip("\n").lstrip(" \t") + "\n"
    return heredoc("instruction", "md", text, "  ")


def _oracle(task: ForeignTask, environment: Environment, solution: Mapping[str, Node]) -> list[str]:
    body = (
        'work=$(mktemp -d)\nmkdir "$work/solution"\n'
        + carried(solution, "work/solution", is_literal=False)
        + _moves({"/solution": "$work/solution"}, solution)
        + variables(task.solution_env)
        + f'bash "$work/solution/{task.solution_script}"\n'
    )
    return heredoc("oracle", "sh", body, "  ")


def _verify(
    task: ForeignTask,
    environment: Environment,
    tests: Mapping[str, Node],
    findings: Sequence[Mapping[str, Json]],
    todos: Sequence[str],
) -> list[str]:
    env = {**environment.env, **(task.verifier.env if task.verifier else {}), **task.verifier_env}
    script = (
        'work=$(mktemp -d)\nmkdir "$work/tests" "$work/logs"\n'
        + carried(tests, "work/tests", is_literal=True)
        + _moves({"/logs/verifier": "$work/logs", "/tests": "$work/tests"}, tests)
        + variables(env)
        + (_RUNUSER if _has_runuser(tests) else "")
        + f'bash "$work/tests/{task.test_script}" </dev/null >&2\n'
        + _JUDGE
    )
    crossing = _artifacts(task, environment, tests)
    seconds = round(min(LONGEST_RUN_S, task.verifier_timeout_s))
    return [
        "  verify {",
        *heredoc('hidden "tests.sh" (verbatim = true)', "sh", script, "    "),
        "    check tests {",
        *(todo(text, "      ") for text in todos),
        *_findings(findings),
        '      says = "Whether that is so is found out by tests."',
        f"      command({_command(environment.workdir, max(1, seconds))})",
        "    }",
        f"    artifacts = [{', '.join(quoted(path) for path in crossing)}]",
        "  }",
    ]


def _has_runuser(tests: Mapping[str, Node]) -> bool:
    return any(b"runuser -u" in node.data for node in tests.values())


def _command(workdir: str, seconds: int) -> str:
    """The arguments of the claim that runs the tests."""
    where = f"cwd = {quoted(workdir)}, " if workdir != "/" else ""
    return f'argv = ["/bin/bash", "-s"], {where}stdin_file = "tests.sh", timeout = {seconds}s'


def _moves(places: Mapping[str, str], files: Mapping[str, Node]) -> str:
    """Shell lines that point the carried text files to where they lie; nothing where none names a place."""
    named = {
        old: new
        for old, new in places.items()
        if any(node.kind == "file" and old.encode() in node.data for node in files.values())
    }
    return (
        _MOVE + "".join(f'move "{new}" {shlex.quote(old)}\n' for old, new in named.items()) if named else ""
    )


def _artifacts(task: ForeignTask, environment: Environment, tests: Mapping[str, Node]) -> list[str]:
    """What crosses to the verifier: the working folder, and what the task or its tests name."""
    own = [item.path for item in task.artifacts if item.path != "/logs/artifacts"]
    named = own if task.mode == "separate" else sorted(_paths(tests))
    places = [environment.workdir] if environment.workdir != "/" else []
    for path in [*places, *named]:
        if not any(path == other or path.startswith(other.rstrip("/") + "/") for other in places):
            places.append(path)
    return list(dict.fromkeys(places))


def _paths(tests: Mapping[str, Node]) -> set[str]:
    texts = [node.data.decode("utf-8", "replace") for node in tests.values() if node.kind == "file"]
    found = {posixpath.normpath(match.rstrip(".")) for text in texts for match in _PATH.findall(text)}
    return {path for path in found if not path.startswith(("/tmp/", "/usr/", "/var/lib/apt", "/etc/apt"))}


def _own_tests(task: ForeignTask) -> dict[str, Node]:
    """The tests of a separate verifier that has them in its image: the folder but for what makes it."""
    found = read_tests_folder(task)
    return {path: node for path, node in found.items() if path not in ("Dockerfile", "docker-compose.yaml")}


def _todos(task: ForeignTask, environment: Environment, tests: Mapping[str, Node]) -> list[str]:
    """What the spec's verifier lacks that the task's own has."""
    found = [f"not carried over: {extra}" for extra in task.extras]
    script = tests.get(task.test_script)
    text = script.data.decode("utf-8", "replace") if script is not None else ""
    if words := _NETWORK.search(text):
        found.append(
            f"{task.test_script} calls `{words[0]}`, and the verifier has no network: put what it installs "
            "into apt or pip, and take the call out"
        )
    called = sorted({word.decode() for node in tests.values() for word in _ROOT.findall(node.data)})
    if called:
        found.append(
            f"the tests call `{'`, `'.join(called)}`, which takes root, and they have no rights here"
        )
    if _has_runuser(tests):
        found.append(
            "`runuser` changes no account here: the tests and what they run share one without rights"
        )
    if environment.has_builds:
        found.append(
            "the verifier's image has base, apt and pip of the setup, and nothing of what `run` steps make"
        )
    if task.mode == "separate" and task.verifier is not None and task.verifier.dockerfile:
        found.append(
            "the task's own image for its verifier isn't carried over: put its packages into apt or pip"
        )
    if task.collect:
        found.append(f"not carried over: {counted(len(task.collect), 'command')} that collect artifacts")
    if task.verifier_timeout_s > LONGEST_RUN_S:
        found.append(
            f"the tests had {task.verifier_timeout_s:g} s; here one claim has at most {LONGEST_RUN_S:g} s"
        )
    found.append(
        "the tests run as an account without rights here, in the task they ran as "
        f"{task.verifier_user or 'root'}; what runs on after the solution is gone when they run"
    )
    found.append("replace the opaque tests by checks of the language, and give each its rejects and accepts")
    return found


def _findings(findings: Sequence[Mapping[str, Json]]) -> list[str]:
    """Errors and warnings of an audit, each a line that says what to check, with its counterexample."""
    lines = []
    for finding in findings:
        if finding.get("severity") not in ("error", "warning"):
            continue
        said = f"{finding.get('slug')}: {finding.get('message')}"
        difference = " / ".join(str(finding.get("difference") or "").split("\n"))[:200]
        where = posixpath.basename(str(finding.get("counterexample") or ""))  # no folder of this machine
        parts = [said[:300], *([difference] if difference else []), *([f"see {where}"] if where else [])]
        lines.append(todo(" | ".join(parts)[:FINDING_CHARACTERS], "      "))
    return lines
