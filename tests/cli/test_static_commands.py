"""The commands that run none of a spec's code: what they print, what they write, how they end."""

import json
import resource
import signal
import stat

import pytest
from click.testing import CliRunner

from aespec.cli.app import app
from aespec.cli.files import replace_bytes
from tests.compiler.golden import FOLDER

GOOD = (FOLDER / "minimal.aes").read_text()
BAD = GOOD.replace("domain = terminal", "domain = kitchen")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*words):
        return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)

    return call


@pytest.fixture
def specs(tmp_path):
    (tmp_path / "good.aes").write_text(GOOD)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "bad.aes").write_text(BAD)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "worse.aes").write_text("{")
    return tmp_path


def test_lint_ends_by_the_worst_of_a_folder(run, specs):
    assert run("lint", "good.aes").exit_code == 0
    done = run("lint", ".")
    assert done.exit_code == 1
    assert "error[unknown-domain]" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("2 files: 1 error, ")
    assert run("lint", "none.aes").exit_code == 2
    assert run("lint", "none.aes", "deep/bad.aes").exit_code == 1, "findings outrank trouble"


def test_lint_for_programs(run, specs):
    lines = [json.loads(line) for line in run("lint", ".", "--format", "json").stdout.splitlines()]
    assert "unknown-domain" in [line["slug"] for line in lines]
    log = json.loads(run("lint", ".", "--format", "sarif").stdout)
    driver = log["runs"][0]["tool"]["driver"]
    assert driver["version"]
    assert all("fullDescription" in rule for rule in driver["rules"]), "every slug is explained"


def test_lint_writes_safe_fixes_only(run, specs):
    (specs / "a.aes").write_text(GOOD.replace("aes = 1\n", "", 1))
    assert run("lint", "a.aes").exit_code == 1
    assert run("lint", "a.aes", "--fix").exit_code == 0
    assert (specs / "a.aes").read_text().startswith("aes = 1\n")
    run("lint", "deep/bad.aes", "--fix")
    assert (specs / "deep" / "bad.aes").read_text() == BAD


def test_fmt_changes_what_it_must_and_checks_without_a_change(run, specs):
    untidy = GOOD.replace("title =", "title     =", 1)
    (specs / "a.aes").write_text(untidy)
    assert run("fmt", "a.aes", "--check").exit_code == 1
    assert (specs / "a.aes").read_text() == untidy
    assert run("fmt", "a.aes").exit_code == 0
    assert run("fmt", "a.aes", "--check").exit_code == 0
    (specs / "a.aes").write_text("task {")
    assert run("fmt", "a.aes").exit_code == 1
    assert (specs / "a.aes").read_text() == "task {"


def test_explain_knows_the_slugs_and_what_is_near(run):
    assert run("explain", "score-of-gates").stdout.startswith("# score-of-gates:")
    done = run("explain", "score-of-gate")
    assert done.exit_code == 2
    assert "Did you mean 'score-of-gates'?" in done.stderr


def test_new_leaves_no_half_of_a_spec_where_the_disk_is_full(run, specs):
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        assert run("new", "whole").exit_code == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        signal.signal(signal.SIGXFSZ, before)
    assert run("new", "whole").exit_code == 0


def test_new_writes_a_spec_once(run, specs):
    assert run("new", "my-task", "--domain", "swe").exit_code == 0
    assert 'task "my-task"' in (specs / "my-task.aes").read_text()
    assert run("lint", "my-task.aes").exit_code == 0
    for words in (("my-task",), ("My_Task",), ("a" * 65,), ("other", "--domain", "kitchen")):
        done = run("new", *words)
        assert done.exit_code == 2
        assert "way out" in done.stderr


def test_an_unknown_command_is_told_with_the_nearest(run):
    done = run("certfy")
    assert done.exit_code == 2
    assert "Did you mean 'certify'?" in done.stderr


def test_a_replaced_file_keeps_its_mode_and_its_link(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to("real")
    replace_bytes(link, b"new")
    assert link.is_symlink()
    assert (real.read_bytes(), stat.S_IMODE(real.stat().st_mode)) == (b"new", 0o640)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


def test_a_replacement_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    place = tmp_path / "a"
    place.write_bytes(b"old")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(OSError, match="No space"):
        replace_bytes(place, b"new")
    assert place.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
