"""A bundle's verifier laid out in a folder, as it lies in its image, and run as it is run there."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from aespec.predicates.shipping import shipped_files

SYSTEM_PYTHON = "/usr/bin/python3"
"""An interpreter that any account may start, for what runs as another one."""


def account() -> str:
    """A uid of this test's own, so that ending all its processes ends nobody else's."""
    return str(700_000 + os.getpid() % 100_000)


def check(name: str, *claims: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    items = [
        {"id": f"{name}/{number}", "predicate": predicate, "args": args}
        for number, (predicate, args) in enumerate(claims)
    ]
    return {"id": name, "says": f"About {name}.", "when": {"all": items}, **more}


def document(*checks: dict[str, Any], **more: Any) -> dict[str, Any]:
    runner = {"user": account(), "timeout_s": 20.0, "memory_bytes": 2**31, "processes": 64}
    return {
        "schema": 1,
        "task": "sample",
        "instance": "0" * 64,
        "is_scored": False,
        "seed": 7,
        "runner": runner,
        "checks": list(checks),
        "baseline": {},
        **more,
    }


class Verifier:
    """`root` is the end state's top, `tests` and `logs` are the verifier's folders."""

    def __init__(self, top: Path, used: tuple[str, ...]):
        self.root, self.tests, self.logs = top / "root", top / "tests", top / "logs/verifier"
        for folder in (self.root / "app", self.tests / "hidden", self.logs):
            folder.mkdir(parents=True)
        for name, data in shipped_files(used).items():
            path = self.tests / "lib" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def put(self, path: str, data: bytes | str, mode: int = 0o644) -> None:
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data if isinstance(data, bytes) else data.encode())
        place.chmod(mode)

    def run(self, checks: Any, python: str = sys.executable, **options: Any) -> "Judged":
        text = checks if isinstance(checks, str) else json.dumps(checks)
        (self.tests / "checks.json").write_text(text)
        command = [python, "-I", "-S", "-B", str(self.tests / "lib/main.py")]
        command += ["--root", str(self.root), "--tests", str(self.tests), "--logs", str(self.logs)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=False, env={}, cwd="/", **options
        )
        return Judged(self.logs, done)


class Judged:
    """What a run of the verifier left."""

    def __init__(self, logs: Path, done: subprocess.CompletedProcess[str]):
        self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        self.names = sorted(path.name for path in logs.iterdir())
        self.details = json.loads((logs / "reward-details.json").read_text())
        self.ctrf = json.loads((logs / "ctrf.json").read_text())
        self.reward = None
        if "reward.json" in self.names:
            self.reward = json.loads((logs / "reward.json").read_text())["reward"]
            assert float((logs / "reward.txt").read_text()) == self.reward

    @property
    def verdicts(self) -> dict[str, str]:
        return {check["id"]: check["verdict"] for check in self.details["checks"]}

    @property
    def reasons(self) -> dict[str, str]:
        return {check["id"]: check["reason"] for check in self.details["checks"]}
