"""How commands end: statuses, messages on standard error, and what they refuse before anything runs."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from aespec.cli.app import app
from aespec.cli.trial_command import warn_of_surprise
from aespec.model.lock import LockedImage
from tests.compiler.golden import FOLDER

GOOD = (FOLDER / "minimal.aes").read_text()
START = "from aespec.cli import main; main()"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
"""The tree that these tests belong to, whatever is installed."""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*words):
        return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)

    return call


@pytest.fixture
def bundle(tmp_path):
    """A folder that is marked as a bundle, with the copy of a spec in it."""
    folder = tmp_path / "out" / "minimal"
    (folder / "aespec").mkdir(parents=True)
    (folder / "aespec" / "manifest.json").write_text("{}")
    (folder / "aespec" / "spec.aes").write_text(GOOD.replace("title  =", "title ="))
    return folder


@pytest.mark.needs("userns")
@pytest.mark.parametrize("place", ["none.aes", "a-file/none.aes"])
@pytest.mark.parametrize(
    "words",
    [["lint"], ["fmt"], ["lock"], ["compile", "-o", "out"], ["trial", "--agent", "oracle"], ["certify"]],
    ids=lambda words: words[0],
)
def test_a_file_that_is_not_there_is_trouble_and_no_finding(run, tmp_path, words, place):
    (tmp_path / "a-file").write_text("")
    done = run(*words, place)
    assert done.exit_code == 2
    assert f"error[missing-file]: there is no file `{place}`" in done.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "words", [["lint"], ["fmt"], ["lock"], ["compile", "-o", "o"]], ids=lambda words: words[0]
)
def test_a_bundle_is_no_spec(run, bundle, words):
    before = (bundle / "aespec" / "spec.aes").read_text()
    done = run(*words, bundle)
    assert done.exit_code == 2
    assert "is a bundle" in done.stderr
    assert sorted(path.name for path in (bundle / "aespec").iterdir()) == ["manifest.json", "spec.aes"]
    assert (bundle / "aespec" / "spec.aes").read_text() == before


def test_bundles_below_a_folder_are_passed_over(run, bundle, tmp_path):
    before = (bundle / "aespec" / "spec.aes").read_text()
    (tmp_path / "a.aes").write_text(GOOD)
    assert run("fmt", ".").exit_code == 0
    assert (bundle / "aespec" / "spec.aes").read_text() == before
    assert run("lint", ".").stdout.splitlines()[-1].startswith("1 file: ")
    assert "passed over" in run("lint", "out").stderr


@pytest.mark.needs("userns")
def test_two_specs_of_one_name_do_not_overwrite_each_other(run, tmp_path):
    (tmp_path / "a.aes").write_text(GOOD)
    (tmp_path / "b.aes").write_text(GOOD.replace("hello", "welcome"))
    done = run("compile", "a.aes", "b.aes", "-o", "out")
    assert done.exit_code == 1
    assert "b.aes has the same task name as a.aes" in done.stderr
    assert (tmp_path / "out" / "minimal" / "aespec" / "spec.aes").read_text() == GOOD


@pytest.mark.parametrize("words", [["certify"], ["compile"], ["trial", "--agent", "oracle"]])
def test_an_output_that_is_a_file_is_refused_at_once(run, tmp_path, words):
    (tmp_path / "notes.txt").write_text("mine")
    done = run(*words, "none.aes", "-o", "notes.txt")
    assert done.exit_code == 2
    assert "'notes.txt' is a file" in done.stderr
    assert "missing-file" not in done.output


def test_a_number_of_instances_is_not_for_bundles(run, bundle):
    done = run("certify", "--instances", 3, bundle)
    assert done.exit_code == 2
    assert "it has one instance" in done.stderr


@pytest.mark.parametrize(
    ("agent", "said"), [("reject", "write reject:NAME"), ("accept:", "write accept:NAME"), ("", "no agent")]
)
def test_agents_that_can_be_none(run, agent, said):
    done = run("trial", "none.aes", "--agent", agent)
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("agent", "outcome", "said"),
    [
        ("reject:another word", "pass", "the reject 'another word' should fail, and it passes"),
        ("accept:a", "fail", "the accept 'a' should pass, and it fails"),
        ("partial:a", "pass", "the partial 'a' should not get the full reward"),
        ("reject:a", "fail", ""),
        ("accept:a", "pass", ""),
        ("oracle", "fail", ""),
    ],
)
def test_an_example_that_is_judged_otherwise_than_it_says(capsys, agent, outcome, said):
    warn_of_surprise(agent, outcome)
    told = capsys.readouterr().err
    assert said in told
    assert bool(told) == bool(said)


def test_help_and_explain_list_what_there_is(run):
    assert "computer-use" in run("new", "--help").stdout
    listed = run("explain")
    assert listed.exit_code == 0
    slugs = [line.split()[0] for line in listed.stdout.splitlines()]
    assert slugs == sorted(slugs)
    assert "missing-file" in slugs
    assert all(len(line.split(maxsplit=1)) == 2 for line in listed.stdout.splitlines())


@pytest.mark.parametrize("words", [["lint", "a.aes"], ["explain"], ["--version"]])
def test_a_full_disk_behind_standard_output_is_told(tmp_path, words):
    (tmp_path / "a.aes").write_text(GOOD)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", START, *words],
            cwd=tmp_path,
            env=ENVIRONMENT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("aespec: standard output: No space left on device")
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.needs("userns")
def test_a_lock_says_what_is_pinned_here_only(run, tmp_path, monkeypatch):
    from aespec.evaluate import locking
    from aespec.model.lock import Lock

    images = {"debian:bookworm-slim": LockedImage("sha256:" + "0" * 64, "store")}

    def make(task, sandbox, **_):
        return Lock(
            spec="a.aes", images=images, apt={}, pip={}, assets={}, evaluator={}, made_on="2024-01-01"
        )

    monkeypatch.setattr(locking, "make_lock", make)
    (tmp_path / "a.aes").write_text(GOOD)
    told = [line for line in run("lock", "a.aes").stderr.splitlines() if "registry digest" in line]
    assert len(told) == 1
    assert "debian:bookworm-slim" in told[0]


@pytest.mark.needs("userns")
def test_a_certification_that_is_ended_takes_its_folder_along(tmp_path):
    (tmp_path / "a.aes").write_text(GOOD)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    running = subprocess.Popen(
        [sys.executable, "-c", START, "certify", "a.aes"],
        cwd=tmp_path,
        env={**ENVIRONMENT, "TMPDIR": str(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 30
    while not list(scratch.glob("aespec-scratch-certify-*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    running.send_signal(signal.SIGTERM)
    assert running.wait(timeout=30) == 128 + signal.SIGTERM
    assert list(scratch.glob("aespec-scratch-certify-*")) == []
