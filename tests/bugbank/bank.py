"""The bug bank: tasks with a planted fault in their verifier, and their sound twins.

A case is one file, `cases/NAME.toml` (or `unseen/NAME.toml`, written without sight of the operators):

    class = 17                      # of the 35 classes of verifier faults, see docs/audit.md
    fault = "only the visible case is checked"
    state = "file"                  # what the verdict is about: file, repository, database, service, channel
    decidable = "dynamic"           # static, dynamic, or no (it takes a model, or the author)
    properties = ["sound"]          # a finding on one of these counts as found
    slugs = ["unread-field"]        # if given, one of these slugs must be among them; mostly left out
    severity = "warning"            # at least this

    instruction = '''…'''
    task = '''…'''                  # lines of task.toml beyond the defaults; may be left out
    dockerfile = '''…'''            # lines after the common head; may be left out
    user = "solver"                 # whom the agent works as; root if left out
    artifacts = ["/app/a.txt"]      # what a separate verifier gets to see …
    separate = "both"               # … and where one is: in both, or only in the `twin`; else in neither

    [files]                         # the task's files: `solution/solve.sh`, `tests/…`, `environment/…`
    "solution/solve.sh" = '''…'''
    "tests/test.sh" = '''…'''

    [twin]                          # what the sound twin has instead; "" takes a file away
    "tests/test_outputs.py" = '''…'''
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
SHELVES = ("cases", "unseen")
HEAD = """\
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-pytest git sqlite3 procps \\
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
"""
TASK = """\
schema_version = "1.4"
{artifacts}[task]
name = "bank/{name}"
description = "A case of the bug bank."
[agent]
timeout_sec = 60.0
{user}[verifier]
timeout_sec = 60.0
{mode}[environment]
cpus = 1
memory_mb = 1024
storage_mb = 1024
"""
RUN_PYTEST = """\
#!/bin/bash
PATH=/usr/sbin:/usr/bin:/sbin:/bin
mkdir -p /logs/verifier
chown root:root /logs/verifier
chmod 755 /logs/verifier
rm -rf /logs/verifier/reward.txt /logs/verifier/reward.json
chmod 700 /tests
work=$(mktemp -d)
cp /tests/test_outputs.py "$work/"
cd /
if /usr/bin/python3 -I -B -m pytest -q -c /dev/null --rootdir "$work" --noconftest -p no:cacheprovider \\
    --import-mode=importlib "$work/test_outputs.py"
then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
"""
"""How a careful test script runs pytest: from a folder with only its tests, whatever else lay in /tests.
What a case's fault lies in it replaces."""


@dataclass(frozen=True)
class Case:
    """One planted fault and its twin; see the module's docstring for the fields."""

    name: str
    shelf: str
    fault_class: int
    fault: str
    state: str
    decidable: str
    properties: tuple[str, ...]
    slugs: tuple[str, ...]
    severity: str
    instruction: str
    task: str
    dockerfile: str
    user: str
    artifacts: tuple[str, ...]
    separate: str
    files: dict[str, str] = field(repr=False)
    twin: dict[str, str] = field(repr=False)

    def write(self, folder: Path, *, is_twin: bool = False) -> Path:
        """The task folder of the faulty task, or of its sound twin, below `folder`."""
        root = folder / (f"{self.name}-twin" if is_twin else self.name)
        for name, text in self.texts(is_twin=is_twin).items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            if name.endswith(".sh"):
                path.chmod(0o755)
        return root

    def texts(self, *, is_twin: bool = False) -> dict[str, str]:
        """The files of the task or of its twin, by their name in the task's folder."""
        own = {**self.files, **(self.twin if is_twin else {})}
        files = {
            "task.toml": self._settings(is_twin),
            "instruction.md": self.instruction,
            "environment/Dockerfile": HEAD + self.dockerfile,
        }
        if self._is_separate(is_twin):
            tests = sorted(
                name.removeprefix("tests/") for name in own if name.startswith("tests/") and own[name]
            )
            files["tests/Dockerfile"] = HEAD + "".join(f"COPY {name} /tests/{name}\n" for name in tests)
        return {name: text for name, text in {**files, **own}.items() if text}

    def _is_separate(self, is_twin: bool) -> bool:
        return self.separate == "both" or (self.separate == "twin" and is_twin)

    def _settings(self, is_twin: bool) -> str:
        separate = self._is_separate(is_twin)
        told = TASK.format(
            name=f"{self.name}-twin" if is_twin else self.name,
            user=f'user = "{self.user}"\n' if self.user else "",
            artifacts=f"artifacts = {json.dumps(self.artifacts)}\n" if separate else "",
            mode='environment_mode = "separate"\n' if separate else "",
        )
        return told + self.task


def load_cases(*shelves: str) -> list[Case]:
    """The cases of the shelves (all of them if none is named), by name."""
    return [read_case(path) for shelf in shelves or SHELVES for path in sorted((HERE / shelf).glob("*.toml"))]


def read_case(path: Path) -> Case:
    """The case in a file; its folder's name is its shelf."""
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    return Case(
        name=path.stem,
        shelf=path.parent.name,
        fault_class=told["class"],
        fault=told["fault"],
        state=told["state"],
        decidable=told["decidable"],
        properties=tuple(told.get("properties", ())),
        slugs=tuple(told.get("slugs", ())),
        severity=told.get("severity", "warning"),
        instruction=told["instruction"],
        task=told.get("task", ""),
        dockerfile=told.get("dockerfile", ""),
        user=told.get("user", ""),
        artifacts=tuple(told.get("artifacts", ())),
        separate=told.get("separate", ""),
        files={"tests/test.sh": RUN_PYTEST, **told["files"]},
        twin=told.get("twin", {}),
    )
