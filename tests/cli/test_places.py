"""Where commands write: what can't take a result is told in time, and what was worked out isn't lost."""

import os
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from aespec import scratch
from aespec.bundle import disk
from aespec.cli import files
from aespec.cli.app import app
from aespec.trial import folder as trial_folder
from tests.cli.test_endings import GOOD

pytestmark = pytest.mark.needs("userns")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.aes").write_text(GOOD)

    def call(*words):
        return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)

    return call


def below_a_file(place):
    (place / "file").write_text("")
    return place / "file" / "out"


def dangling(place):
    (place / "link").symlink_to(place / "nowhere")
    return place / "link"


def loop(place):
    (place / "loop").symlink_to(place / "loop")
    return place / "loop"


def unmakable(_place):
    return "/proc/none"


def overlong(_place):
    return "x" * 300


WRITERS = {
    "compile": ("compile", "a.aes", "-o"),
    "certify": ("certify", "a.aes", "-o"),
    "trial": ("trial", "a.aes", "--agent", "oracle", "-o"),
    "new": ("new", "b", "-o"),
}


@pytest.mark.parametrize("make", [below_a_file, dangling, loop, unmakable, overlong])
@pytest.mark.parametrize("name", WRITERS)
def test_a_place_that_takes_nothing_is_told_before_anything_runs(run, tmp_path, monkeypatch, name, make):
    def measured(*_words, **_options):
        raise AssertionError("something was run for a result that can't be kept")

    monkeypatch.setattr("aespec.fuzz.certify", measured)
    monkeypatch.setattr("aespec.trial.run_trial", measured)
    place = make(tmp_path)
    done = run(*WRITERS[name], f"{place}/below")
    assert done.exit_code == 2
    assert done.stdout == ""
    said = done.stderr.splitlines()
    assert said[-1].startswith("  way out: "), said
    assert str(place) in said[-2]
    assert "Errno" not in done.stderr


def no_space(*_words, **_options):
    raise OSError(28, "No space left on device")


def test_a_trial_that_cannot_be_kept_is_printed(run, monkeypatch):
    monkeypatch.setattr(trial_folder, "_write", no_space)
    done = run("trial", "a.aes", "--agent", "oracle", "-o", "out/t")
    assert done.exit_code == 2
    assert done.stdout.startswith("minimal  oracle  PASS")
    assert "out/t: No space left on device\n  way out: free some disk" in done.stderr
    assert "kept in" not in done.stdout


def test_a_certificate_that_cannot_be_kept_is_printed(run, monkeypatch):
    replace = Path.replace
    monkeypatch.setattr(
        Path, "replace", lambda path, to: (no_space if path.suffix == ".tmp" else replace)(path, to)
    )
    done = run("certify", "a.aes", "-o", "out", "--instances", "1", "--budget", "0s", "--reference", "none")
    assert done.exit_code == 2
    assert "of 11 properties" in done.stdout
    assert "minimal.certificate.json: No space left on device\n  way out: free some disk" in done.stderr


def test_a_full_disk_names_the_file_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setattr("pathlib.Path.write_bytes", no_space)
    with pytest.raises(OSError, match="No space") as caught:
        files.replace_bytes(tmp_path / "a.lock", b"")
    assert caught.value.filename == str(tmp_path / "a.lock")
    assert list(tmp_path.iterdir()) == []


def age(path):
    then = time.time() - 3600
    os.utime(path, (then, then))


def test_what_killed_processes_left_beside_a_file_goes(tmp_path):
    left = [tmp_path / name for name in (".a.aes.123.tmp", ".a.aes.124.tmp", ".b.aes.123.tmp", ".a.aes.tmp")]
    for path in left:
        path.write_text("")
        age(path)
    os.utime(left[1])
    files.replace_bytes(tmp_path / "a.aes", b"new")
    assert {path.name for path in left if path.exists()} == {".a.aes.124.tmp", ".b.aes.123.tmp", ".a.aes.tmp"}


def test_a_full_temporary_folder_has_its_own_way_out(run, tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "_write_files", no_space)
    for words in (("trial", "a.aes", "--agent", "nop"), ("certify", "a.aes", "--reference", "none")):
        done = run(*words)
        assert done.exit_code == 2
        assert "TMPDIR" in done.stdout + done.stderr
        assert "with -o" not in done.stdout + done.stderr
    done = run("compile", "a.aes", "-o", "out")
    assert done.exit_code == 2
    assert "TMPDIR" not in done.stderr
    assert not list((tmp_path / "out").iterdir())


def test_no_temporary_folder_at_all(run, monkeypatch):
    monkeypatch.setattr("tempfile.mkdtemp", no_space)
    done = run("trial", "a.aes", "--agent", "nop")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-2:] == [
        "aespec: the system: no temporary folder can be made: No space left on device",
        f"  way out: {scratch.REMEDY}",
    ]
