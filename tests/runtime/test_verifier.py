"""The verifier as it ships: laid out in a folder, run by an isolated Python, old and new."""

import json
import os
import shutil
import stat
import subprocess

import jsonschema
import pytest

from aespec.predicates.shipping import shipped_files
from tests import components
from tests.repo.sources import ROOT
from tests.runtime.places import Verifier, check, document

SCHEMA = json.loads((ROOT / "aespec/schemas/reward-details.schema.json").read_text())
BYTES = ("json", "file", "text", "table", "unchanged")


@pytest.fixture
def verifier(tmp_path):
    made = Verifier(tmp_path, BYTES)
    made.put("/app/t.json", '{"rent": 1.0}')
    made.put("/app/t.csv", 'a,b\r\n1,"x"\r\n')
    made.put("/app/t.txt", "hi\n")
    return made


def sample(wanted=1):
    return document(
        check("totals", ("json", {"path": "/app/t.json", "equals": {"rent": wanted}})),
        check(
            "rows",
            ("table", {"path": "/app/t.csv", "equals": [{"a": 1, "b": "x"}]}),
            ("file", {"path": "/app/t.csv"}),
        ),
        check("words", ("text", {"path": "/app/t.txt", "equals": "hi"})),
        check("kept", ("unchanged", {"path": "/app/t.txt"})),
        baseline={
            "/app/t.txt": {
                "kind": "file",
                "sha256": "98ea6e4f216f2fb4b69fff9b3a44842c38686ca685f3f55dc48c5d3fb1107be4",
            }
        },
    )


@pytest.mark.parametrize("python", ["this", pytest.param("python3.9", marks=pytest.mark.needs("python3.9"))])
def test_pass_and_fail(verifier, python):
    choose = {} if python == "this" else {"python": str(components.find_python("3.9"))}
    judged = verifier.run(sample(), **choose)
    assert judged.reasons == dict.fromkeys(judged.reasons, "")
    assert (judged.status, judged.reward, judged.details["outcome"]) == (0, 1.0, "pass")
    judged = verifier.run(sample(wanted=2), **choose)
    assert (judged.status, judged.reward, judged.details["outcome"]) == (0, 0.0, "fail")
    assert judged.verdicts == {"totals": "fail", "rows": "pass", "words": "pass", "kept": "pass"}
    jsonschema.validate(judged.details, SCHEMA)
    assert judged.names == ["ctrf.json", "reward-details.json", "reward.json", "reward.txt"]
    assert "expected" not in judged.stdout + judged.stderr
    tests = judged.ctrf["results"]["tests"]
    assert [(item["name"], item["status"]) for item in tests] == [
        ("totals", "failed"),
        ("rows", "passed"),
        ("words", "passed"),
        ("kept", "passed"),
    ]
    assert tests[0]["extra"]["says"] == "About totals."
    assert judged.ctrf["results"]["summary"]["failed"] == 1


def errors(judged):
    jsonschema.validate(judged.details, SCHEMA)
    return judged.status == 3 and judged.reward is None and "reward.txt" not in judged.names


@pytest.mark.parametrize(
    "checks",
    [
        "",
        "{",
        "[]",
        "null",
        '{"schema": 2}',
        '{"schema": 1, "task": "t", "instance": "i", "checks": []}',
        "[" * 10**5,
    ],
    ids=lambda text: text[:8] or "empty",
)
def test_checks_that_are_none_give_an_error(verifier, checks):
    judged = verifier.run(checks)
    assert errors(judged)
    assert judged.details["message"]


def test_a_missing_predicate_file_gives_an_error(verifier):
    (verifier.tests / "lib/aespec/predicates/json.py").unlink()
    assert errors(verifier.run(sample()))


def test_a_missing_hidden_file_or_baseline_gives_an_error(verifier):
    assert errors(verifier.run(document(check("a", ("unchanged", {"path": "/app/other"})))))


def test_one_error_among_passes_and_fails_gives_no_reward(verifier):
    judged = verifier.run(
        document(
            check("good", ("file", {"path": "/app/t.csv"})),
            check("bad", ("file", {"path": "/app/none"})),
            check("broken", ("table", {"path": "/app/t.csv", "equals": []})),
        )
    )
    assert errors(judged)
    assert judged.verdicts == {"good": "pass", "bad": "fail", "broken": "error"}


def test_no_memory_is_an_error_or_nothing(verifier):
    """Without room for the document there is no verdict on it."""
    import resource

    verifier.put("/app/t.json", "[" + "[1.5]," * 2_000_000 + "1]")

    def starve():
        resource.setrlimit(resource.RLIMIT_AS, (64 * 2**20, 64 * 2**20))

    judged = verifier.run(sample(), preexec_fn=starve)
    assert errors(judged)


def plant_file(logs):
    (logs / "reward.json").write_text('{"reward": 1}')
    (logs / "reward.txt").write_text("1")
    (logs / "reward-details.json").write_text("x")


def plant_folders(logs):
    (logs / "reward.json/deep").mkdir(parents=True)
    (logs / "reward.txt").mkdir()


def plant_links(logs):
    (logs / "reward.json").symlink_to("/nowhere/at/all")
    (logs / "reward.txt").symlink_to(logs.parent / "target")
    (logs / ".aespec-writing-reward.txt").symlink_to(logs.parent / "target")


def plant_link_for_folder(logs):
    shutil.rmtree(logs)
    (logs.parent / "elsewhere").mkdir()
    logs.symlink_to(logs.parent / "elsewhere")


def plant_file_for_folder(logs):
    shutil.rmtree(logs)
    logs.write_text("x")


def plant_open_folder(logs):
    logs.chmod(0o777)


def plant_pipes(logs):
    os.mkfifo(logs / "reward.json")
    os.mkfifo(logs / "reward-details.json")


PLANTS = (
    plant_file,
    plant_folders,
    plant_links,
    plant_link_for_folder,
    plant_file_for_folder,
    plant_open_folder,
    plant_pipes,
)


@pytest.mark.parametrize("plant", PLANTS)
def test_planted_verdicts_are_gone(verifier, plant):
    (verifier.logs.parent / "target").write_text("untouched")
    plant(verifier.logs)
    judged = verifier.run(sample(wanted=2))
    assert judged.reward == 0.0
    assert (verifier.logs.parent / "target").read_text() == "untouched"
    assert stat.S_IMODE(verifier.logs.lstat().st_mode) & 0o022 == 0
    assert not verifier.logs.is_symlink()
    for name in judged.names:
        assert stat.S_ISREG((verifier.logs / name).lstat().st_mode)


@pytest.mark.parametrize("plant", [plant_file, plant_folders, plant_links])
def test_planted_verdicts_are_gone_after_an_error(verifier, plant):
    plant(verifier.logs)
    assert errors(verifier.run("{"))


def test_other_files_in_the_folder_stay(verifier):
    (verifier.logs / "test-stdout.txt").write_text("log")
    judged = verifier.run(sample())
    assert "test-stdout.txt" in judged.names


def test_a_full_disk_leaves_no_reward(verifier):
    """A limit on file sizes stands in for a full disk: the write fails the same way."""
    import resource
    import signal

    def choke():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    (verifier.tests / "checks.json").write_text(json.dumps(sample()))
    command = ["--root", verifier.root, "--tests", verifier.tests, "--logs", verifier.logs]
    done = subprocess.run(
        ["/usr/bin/python3", "-I", "-S", "-B", verifier.tests / "lib/main.py", *command],
        capture_output=True,
        check=False,
        preexec_fn=choke,
        text=True,
    )
    assert done.returncode == 3
    assert not list(verifier.logs.glob("reward*"))


def test_unknown_arguments_are_an_error(verifier):
    done = subprocess.run(
        ["/usr/bin/python3", "-I", "-S", "-B", verifier.tests / "lib/main.py", "--nothing"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3


def test_isolation_from_what_lies_around(verifier, tmp_path):
    """Neither the folder that it is started in nor the environment reaches the checker."""
    for name in ("json.py", "re.py", "sitecustomize.py", "usercustomize.py", "aespec.py"):
        (tmp_path / name).write_text("import os; os._exit(0)\n")
        verifier.put(f"/app/{name}", "import os; os._exit(0)\n")
    (verifier.tests / "checks.json").write_text(json.dumps(sample(wanted=2)))
    command = ["--root", verifier.root, "--tests", verifier.tests, "--logs", verifier.logs]
    done = subprocess.run(
        ["/usr/bin/python3", "-I", "-S", "-B", verifier.tests / "lib/main.py", *command],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": "json.py"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert json.loads((verifier.logs / "reward.json").read_text()) == {"reward": 0.0}


def test_what_ships():
    files = shipped_files(["json", "json"])
    assert [name for name in files if "predicates" in name] == [
        "aespec/predicates/__init__.py",
        "aespec/predicates/json.py",
    ]
    assert files["aespec/__init__.py"] == b""
    assert files["main.py"].startswith(b'"""')
    runtime = {path.name for path in (ROOT / "aespec/runtime").glob("*.py")}
    assert {name.rpartition("/")[2] for name in files if "/runtime/" in name} == runtime
    assert list(files) == sorted(files)
    assert not [name for name in shipped_files(BYTES) if "_laws" in name]
    with pytest.raises(KeyError):
        shipped_files(["nothing"])


def test_starting_takes_little():
    """No module that costs: the verifier's start is paid for by every trial and every sample."""
    program = "import sys; from aespec.runtime import main; print(' '.join(sys.modules))"
    done = subprocess.run(
        [
            "/usr/bin/python3",
            "-I",
            "-S",
            "-B",
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT)!r}); {program}",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert not loaded & {
        "subprocess",
        "argparse",
        "tempfile",
        "ctypes",
        "socket",
        "typing_extensions",
        "asyncio",
    }


@pytest.mark.needs("root")
def test_the_tests_are_closed_to_others(verifier):
    verifier.tests.chmod(0o755)
    verifier.run(sample())
    assert stat.S_IMODE(verifier.tests.stat().st_mode) == 0o700
