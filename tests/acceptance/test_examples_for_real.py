"""Every example, compiled by the command and run for real: in the embedded sandbox, in Docker, in Harbor."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import components

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(ROOT.glob("domains/*/examples/*.aes"))


def aespec(*arguments):
    """The command, as a user calls it."""
    return subprocess.run(
        [sys.executable, "-m", "aespec", *map(str, arguments)], capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    """One bundle of each example, by name."""
    folder = tmp_path_factory.mktemp("bundles")
    done = aespec("compile", *EXAMPLES, "-o", folder)
    assert done.returncode == 0, done.stderr
    return {path.stem: folder / path.stem for path in EXAMPLES}


def test_there_are_examples_and_each_makes_a_bundle_of_its_name(bundles):
    assert len(EXAMPLES) >= 4
    assert all((folder / "task.toml").is_file() for folder in bundles.values())


@pytest.mark.needs("userns", "uid-range")
@pytest.mark.parametrize("name", [path.stem for path in EXAMPLES])
def test_fork_gives_the_oracle_one_and_doing_nothing_zero(bundles, name):
    judge_both(bundles[name], "fork")


@pytest.mark.needs("docker", "base-image")
@pytest.mark.parametrize("name", [path.stem for path in EXAMPLES])
def test_docker_gives_the_oracle_one_and_doing_nothing_zero(bundles, name):
    judge_both(bundles[name], "docker")


def judge_both(bundle, sandbox):
    oracle = aespec("trial", bundle, "--agent", "oracle", "--sandbox", sandbox, "--format", "json")
    assert oracle.returncode == 0, oracle.stdout + oracle.stderr
    assert json.loads(oracle.stdout)["reward"] == 1.0
    nop = aespec("trial", bundle, "--agent", "nop", "--sandbox", sandbox, "--format", "json")
    assert nop.returncode == 1, nop.stdout + nop.stderr
    assert json.loads(nop.stdout)["reward"] == 0.0


@pytest.mark.needs("harbor", "docker", "compose", "base-image")
def test_harbor_gives_the_oracle_one_and_doing_nothing_zero(bundles, tmp_path):
    """Read from each trial's result.json: the exit status of `harbor run` says nothing about rewards."""
    (tmp_path / "job.json").write_text(json.dumps({"agents": [{"name": "oracle"}, {"name": "nop"}]}))
    folder = next(iter(bundles.values())).parent
    done = harbor(
        "run",
        "-c",
        "job.json",
        "-p",
        folder,
        "-o",
        "jobs",
        "--job-name",
        "both",
        "-q",
        "-n",
        "2",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    results = [json.loads(path.read_text()) for path in sorted(tmp_path.glob("jobs/both/*/result.json"))]
    seen = {
        (item["task_name"].partition("/")[2], item["agent_info"]["name"]): (
            (item["verifier_result"] or {}).get("rewards"),
            item["exception_info"],
            item["verifier_environment_mode"],
        )
        for item in results
    }
    wanted = {
        (name, agent): ({"reward": reward}, None, "separate")
        for name in bundles
        for agent, reward in (("oracle", 1.0), ("nop", 0.0))
    }
    assert seen == wanted


@pytest.mark.needs("harbor", "docker", "compose")
def test_harbor_s_linter_has_no_finding(bundles, tmp_path):
    done = harbor("lint", "--json", *bundles.values(), cwd=tmp_path)
    assert (done.returncode, json.loads(done.stdout)) == (0, []), done.stdout + done.stderr


def harbor(*arguments, cwd):
    return subprocess.run(
        [str(components.harbor()), *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "HARBOR_TELEMETRY": "off", "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        check=False,
    )
