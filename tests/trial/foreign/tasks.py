"""Small tasks of Harbor's form written to disk, as their authors would, and read back as data."""

import json
from dataclasses import replace

from aespec.bundle.foreign import read_foreign

BASE = "FROM debian:bookworm-slim\nWORKDIR /app\n"
PYTHON = (
    "FROM debian:bookworm-slim\n"
    "RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-pytest\n"
    "WORKDIR /app\n"
)
SUM = "cd /app && printf '%s\\n' $(( $(cat a.txt) + $(cat b.txt) )) > sum.txt\n"
INPUTS = "RUN printf '2\\n' > /app/a.txt && printf '40\\n' > /app/b.txt\n"
PYTEST = (
    "#!/bin/bash\n"
    "python3 -m pytest -rA -p no:cacheprovider /tests/test_sum.py\n"
    "if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi\n"
)
TEST_SUM = (
    "from pathlib import Path\n\n"
    "def test_there():\n    assert Path('/app/sum.txt').is_file()\n\n"
    "def test_right():\n    assert int(Path('/app/sum.txt').read_text()) == 42\n"
)
SHELL = (
    "#!/bin/bash\n"
    'if [ "$(cat /app/sum.txt 2>/dev/null)" = 42 ]; then echo 1; else echo 0; fi '
    "> /logs/verifier/reward.txt\n"
)


def write_task(folder, **settings):
    """A task's folder with a task.toml that says the settings; the task as data."""
    write_files(folder, **settings)
    return read_task(folder, settings)


def write_files(folder, *, test=SHELL, solve=SUM, dockerfile=BASE + INPUTS, more=None, **settings):
    """A task's folder with a task.toml that says the settings."""
    files = {
        "instruction.md": "Write the sum of `/app/a.txt` and `/app/b.txt` to `/app/sum.txt`.\n",
        "environment/Dockerfile": dockerfile,
        "tests/test.sh": test,
        "task.toml": toml_of(folder.name, settings),
        **(more or {}),
    }
    if solve is not None:
        files["solution/solve.sh"] = "#!/bin/bash\n" + solve
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if name.endswith(".sh") else 0o644)


def toml_of(name, settings):
    """Harbor's file for the few settings that these tasks have."""
    artifacts = json.dumps(settings.get("artifacts", []))
    lines = ['schema_version = "1.4"', f"artifacts = {artifacts}", "[task]", f'name = "tests/{name}"']
    lines += ["[agent]", f"timeout_sec = {settings.get('agent_timeout_s', 120.0)}"]
    lines += [f'user = "{settings["agent_user"]}"'] if "agent_user" in settings else []
    lines += ["[verifier]", f"timeout_sec = {settings.get('verifier_timeout_s', 120.0)}"]
    lines += [f'environment_mode = "{settings.get("mode", "shared")}"']
    lines += [f'user = "{settings["verifier_user"]}"'] if "verifier_user" in settings else []
    lines += ["[environment]", f"storage_mb = {settings['storage_mb']}"] if "storage_mb" in settings else []
    for command in settings.get("collect", ()):
        lines += ["[[verifier.collect]]", f"command = {json.dumps(command)}"]
    if "verifier_env" in settings:
        lines += [
            "[verifier.env]",
            *(f'{key} = "{value}"' for key, value in settings["verifier_env"].items()),
        ]
    if "solution_env" in settings:
        lines += [
            "[solution.env]",
            *(f'{key} = "{value}"' for key, value in settings["solution_env"].items()),
        ]
    return "\n".join(lines) + "\n"


def read_task(folder, settings):
    """The task as data, without a network unless `network` says otherwise: a test's machine may have none."""
    task, faults = read_foreign(folder)
    assert task is not None, faults
    return replace(task, network=settings.get("network", {"agent": False, "verifier": False}))
