"""The harness on the engine: the reference comes to the same outcomes as the embedded sandbox."""

import pytest

from aespec.model.edit import Edit
from aespec.sandbox import open_sandbox
from aespec.trial.foreign import open_harness
from aespec.trial.probe import Probe
from tests.trial.foreign.tasks import write_task

pytestmark = pytest.mark.needs("docker", "base-image", "userns", "uid-range")
REWARD = "/logs/verifier/reward"
LATE = f"(while :; do echo '{{\"reward\": 1}}' > {REWARD}.json; sleep 0.02; done) >/dev/null 2>&1 &"
PROBES = (
    Probe("nop", "start"),
    Probe("oracle", "oracle"),
    Probe("oracle again", "solution"),
    Probe("wrong", edits=(Edit("/app/sum.txt", "", "put", {"text": "43\n"}),)),
    Probe("late", "start", script=LATE, is_live=True),
    Probe("ended", "start", script=LATE),
    Probe("in the way", "start", script="mkdir -p /tests/test.sh/x"),
)
LEAVES = "echo 42 > /app/sum.txt; cp /bin/sleep /app/sleeper; nohup /app/sleeper 300 >/dev/null 2>&1 &\n"
LIVES = (
    "#!/bin/bash\ncat /proc/[0-9]*/comm | grep -q sleeper && grep -q 42 /app/sum.txt\n"
    f"echo $((1 - $?)) > {REWARD}.txt\n"
)


@pytest.mark.parametrize(
    "settings",
    [{}, {"mode": "separate", "artifacts": ["/app/sum.txt"]}, {"solve": LEAVES, "test": LIVES}],
    ids=["shared", "separate", "service"],
)
def test_outcomes_are_those_of_the_embedded_sandbox(tmp_path, settings):
    task = write_task(tmp_path / "task", **settings)
    fork, docker = (open_harness(task, open_sandbox(name)) for name in ("fork", "docker"))
    for probe in PROBES:
        mine, theirs = (harness.judge(probe, is_cold=True) for harness in (fork, docker))
        assert (theirs.outcome, theirs.reward, theirs.boundary) == (
            mine.outcome,
            mine.reward,
            mine.boundary,
        ), f"{probe.name}: {theirs.message or mine.message}"
