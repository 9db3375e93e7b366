"""Small tasks judged by real Harbor and by the harness of foreign tasks: the same rewards, the same errors.

In Harbor the oracle agent runs whatever the solution is, so some of these solutions are cheats.
"""

import json
import os
import re
import subprocess

import pytest

from aespec.sandbox import open_sandbox
from aespec.trial.foreign import open_harness
from aespec.trial.probe import Probe
from tests import components
from tests.trial.foreign.tasks import BASE, INPUTS, write_task

pytestmark = pytest.mark.needs("harbor", "docker", "compose", "base-image", "userns", "uid-range")
REWARD = "/logs/verifier/reward"
OWN_IMAGE = "FROM debian:bookworm-slim\nCOPY test.sh /tests/test.sh\nWORKDIR /\n"
WORKER = "RUN useradd -m -u 1234 worker && chown worker /app\n"
TELLS = (
    '#!/bin/bash\n[ "$(cat /app/who 2>/dev/null)" = "worker /home/worker /app for-the-agent" ]; '
    f'[ "$? $(id -un) $PWD $WORD" = "0 root /app for-the-judge" ]; echo $((1 - $?)) > {REWARD}.txt\n'
)
LATE = f"(while :; do echo '{{\"reward\": 1}}' > {REWARD}.json; sleep 0.02; done) >/dev/null 2>&1 &\n"
PLANTS = f"mkdir -p /tests /app; touch /tests/mine; echo exit > /tests/test.sh; echo 1 > {REWARD}.txt\n"
SEES = (
    "#!/bin/bash\n[ -f /tests/mine ] && r=0.25 || r=0.75\n"
    f"[ -f {REWARD}.txt ] && r=1\necho $r > {REWARD}.txt\n"
)
CROSSES = f"#!/bin/bash\ncmp -s /app/sum.txt /tests/expected; echo $((1 - $?)) > {REWARD}.txt\n"
LEAVES = "cp /bin/sleep /app/sleeper; nohup /app/sleeper 300 >/dev/null 2>&1 &\n"
LIVES = f"#!/bin/bash\ncat /proc/[0-9]*/comm | grep -q sleeper; echo $((1 - $?)) > {REWARD}.txt\n"

TASKS = {
    "plain": {},
    "who": {
        "dockerfile": BASE + INPUTS + WORKER,
        "agent_user": "worker",
        "solve": 'echo "$(id -un) $HOME $PWD $WORD" > /app/who\n',
        "solution_env": {"WORD": "for-the-agent"},
        "verifier_env": {"WORD": "for-the-judge"},
        "test": TELLS,
    },
    "too-late": {"test": "#!/bin/bash\nsleep 60\n", "verifier_timeout_s": 4.0},
    "late-writer": {"solve": LATE},
    "plants": {"solve": PLANTS, "test": SEES},
    "service": {"solve": LEAVES, "test": LIVES},
    "apart": {
        "mode": "separate",
        "artifacts": ["/app/sum.txt"],
        "more": {"tests/Dockerfile": OWN_IMAGE},
    },
    "apart-link": {
        "mode": "separate",
        "artifacts": ["/app"],
        "solve": "ln -s /tests/expected /app/sum.txt\n",
        "test": CROSSES,
        "more": {"tests/expected": "42\n"},
    },
}


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    return {name: write_task(folder / name, **settings) for name, settings in TASKS.items()}


def told_by_harbor(folder, work):
    """(task, agent) to the rewards, else the name of the exception."""
    overlay = {"services": {"main": {"init": True, "stop_grace_period": "0s"}}}
    (work / "overlay.json").write_text(json.dumps(overlay))
    (work / "job.json").write_text(json.dumps({"agents": [{"name": "oracle"}, {"name": "nop"}]}))
    command = [components.harbor(), "run", "-c", "job.json", "-p", folder, "-o", "jobs", "--job-name", "all"]
    command += ["-q", "-n", "4", "--extra-docker-compose", work / "overlay.json"]
    env = {**os.environ, "HARBOR_TELEMETRY": "off", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run(
        [str(word) for word in command], cwd=work, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    found = {}
    for path in work.glob("jobs/all/*/result.json"):
        told = json.loads(path.read_text())
        name, agent = told["task_name"].partition("/")[2], told["agent_info"]["name"]
        rewards = (told.get("verifier_result") or {}).get("rewards")
        found[name, agent] = rewards or told["exception_info"]["exception_type"]
    return found


def told_by_harness(task):
    """The same from the harness: the exception's name as far as its message tells it."""
    harness = open_harness(task, open_sandbox("fork"))
    found = {}
    for agent, probe in (
        ("oracle", Probe("oracle", "solution", is_live=True)),
        ("nop", Probe("nop", "start")),
    ):
        judgement = harness.judge(probe, is_cold=True)
        named = re.search(r"\((\w+Error)\)", judgement.message)
        found[task.path.name, agent] = dict(judgement.rewards) or (named[1] if named else judgement.message)
    return found


def test_harbor_and_the_harness_come_to_the_same_verdicts(tasks, tmp_path):
    mine = {}
    for task in tasks.values():
        mine |= told_by_harness(task)
    theirs = told_by_harbor(next(iter(tasks.values())).path.parent, tmp_path)
    assert len(theirs) == 2 * len(TASKS)
    assert mine == theirs
    assert theirs["plain", "oracle"] == {"reward": 1.0}
    assert theirs["late-writer", "oracle"] == {"reward": 1}
