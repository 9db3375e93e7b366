"""A harness without a sandbox: states are maps of files, the verifier a Python function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from aespec.bundle.foreign import Container, ForeignTask
from aespec.operators.states import edit_state
from aespec.runtime.memory import MemoryState, Node
from aespec.trial.probe import Changes, Judgement, Probe

SCRIPT = """\
#!/bin/bash
rm -f /logs/verifier/reward.txt /logs/verifier/reward.json
if /usr/bin/python3 -I /tests/check.py; then echo 1 > /logs/verifier/reward.txt
else echo 0 > /logs/verifier/reward.txt; fi
"""
Verifier = Callable[[Mapping[str, bytes]], bool]


class PretendedHarness:
    """Judges probes by a function over the files; scripts change nothing. `judged` keeps every probe."""

    name = "pretence"

    def __init__(
        self,
        verifier: Verifier,
        outputs: Mapping[str, bytes],
        inputs: Mapping[str, bytes] | None = None,
        answer: Callable[[Probe, int], Judgement | None] = lambda probe, count: None,
    ) -> None:
        """`answer` may give another judgement than the verifier's, by the probe and its number."""
        self.verifier, self.outputs, self.inputs = verifier, outputs, dict(inputs or {})
        self.answer = answer
        self.judged: list[Probe] = []

    def changes(self) -> Changes:
        return Changes(
            {path: self._node(self.inputs.get(path)) for path in self.outputs},
            {path: Node(data=data) for path, data in self.outputs.items()},
        )

    def is_live(self):
        return False

    def read(self, path, *, base="start", limit_bytes=1 << 20):
        files = self.inputs if base == "start" else {**self.inputs, **self.outputs}
        return {name: Node(data=data) for name, data in files.items() if name.startswith(path)}

    def judge(self, probe, perturbation=None, *, is_cold=False):
        self.judged.append(probe)
        told = self.answer(probe, len(self.judged))
        if told is not None:
            return told
        files = dict(self.inputs) if probe.base == "start" else {**self.inputs, **self.outputs}
        state = edit_state(MemoryState.of(files), probe.edits)
        after = {path: node.data for path, node in state.nodes.items() if node.kind == "file"}
        try:
            is_passed = self.verifier(after)
        except (KeyError, ValueError, TypeError, RecursionError):
            is_passed = False
        return Judgement("pass" if is_passed else "fail", reward=float(is_passed))

    def notes(self):
        return ("nothing was run",)

    @staticmethod
    def _node(data):
        return None if data is None else Node(data=data)


def pretend_task(folder: Path, instruction: str, **rest) -> ForeignTask:
    """A task folder with nothing in it that a pretended harness would look at."""
    for name in ("environment", "tests", "solution"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "tests" / "test.sh").write_text(SCRIPT)
    (folder / "solution" / "solve.sh").write_text("#!/bin/bash\n")
    settings = {
        "mode": "separate",
        "solution": folder / "solution",
        "digest": "0" * 64,
        **rest,
    }
    return ForeignTask(
        path=folder,
        name="pretended/task",
        layout="harbor",
        schema="1.4",
        instruction=instruction,
        environment=Container(folder / "environment", "FROM debian:bookworm-slim\n"),
        tests=folder / "tests",
        test_script="test.sh",
        **settings,
    )
