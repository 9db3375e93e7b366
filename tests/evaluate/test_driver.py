"""The driver by itself, on the oldest Python that it must run on."""

import json
import subprocess

import pytest

from aespec.evaluate.driver import CLEAN_ENVIRONMENT
from aespec.evaluate.programs import LIMITS, NOW
from aespec.resources import folder
from tests import components

DRIVER = folder("grammar").parent / "aespec" / "evaluate" / "driver.py"


def run(python, tmp_path, *programs, limits=None, env=None):
    job = {"now": NOW, "limits": {**LIMITS, **(limits or {})}, "files": {}, "programs": list(programs)}
    (tmp_path / "job.json").write_text(json.dumps(job))
    (tmp_path / "work").mkdir()
    argv = [str(python), "-s", "-S", "-B", str(DRIVER), str(tmp_path / "job.json"), str(tmp_path / "work")]
    clean = CLEAN_ENVIRONMENT if env is None else env
    done = subprocess.run(argv, env=clean, capture_output=True, timeout=60, check=True)
    return json.loads(done.stdout)["results"]


def program(text, makes="value", **more):
    made = {"id": "let.x", "makes": makes, "text": text, "rng": "s", "path": "", "binds": {}, "later": []}
    return {**made, "reads": [], **more}


@pytest.mark.needs("python3.9")
def test_it_runs_on_python_3_9(tmp_path):
    python = components.find_python("3.9")
    values, file, folder_made = run(
        python,
        tmp_path,
        program("emit([p.n, world, rng.random(), hash('a')])", binds={"p.n": 3, "hidden.world": "w"}),
        program("print('line')", "file", path="/app/f", id="generate /app/f"),
        program("open('d/x', 'w').write('1')", "folder", path="/d/", id="generate /d/"),
    )
    assert values["value"][:2] == [3, "w"]
    assert file["files"] == {"/app/f": "bGluZQo="}
    assert folder_made["files"] == {"/d/x": "MQ=="}


def test_another_environment_changes_nothing(tmp_path):
    text = "import os\nemit([hash('a'), sorted(os.environ), rng.random()])"
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    env = {"PYTHONHASHSEED": "77", "LANG": "tr_TR", "SECRET": "x", "PATH": "/bin"}
    assert run("/usr/bin/python3", tmp_path / "a", program(text)) == run(
        "/usr/bin/python3", tmp_path / "b", program(text), env=env
    )


def test_a_slow_program_is_ended_with_its_children(tmp_path):
    text = "import os, time\nif os.fork() == 0:\n    time.sleep(50)\nwhile True: pass"
    (result,) = run("/usr/bin/python3", tmp_path, program(text), limits={"timeout_s": 1})
    assert result["error"]["kind"] == "slow"


def test_an_endless_output_is_cut_off(tmp_path):
    text = "while True: print('x' * 1000)"
    (result,) = run(
        "/usr/bin/python3", tmp_path, program(text, "file", path="/f"), limits={"output_bytes": 100_000}
    )
    assert result["error"]["kind"] == "failed"
    assert "too large" in result["error"]["message"]


def test_too_many_files_are_refused(tmp_path):
    text = "for n in range(20): open(f'd/{n}', 'w').close()"
    (result,) = run("/usr/bin/python3", tmp_path, program(text, "folder", path="/d/"), limits={"files": 10})
    assert result["error"]["kind"] == "large"


def test_nothing_runs_after_a_failure(tmp_path):
    results = run("/usr/bin/python3", tmp_path, program("boom"), program("emit(1)"))
    assert len(results) == 1
    assert results[0]["error"] == {"kind": "failed", "message": results[0]["error"]["message"], "line": 1}
