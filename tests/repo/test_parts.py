"""The scripts of continuous integration notice each failure: one that counts as good would hide the rest."""

import os
import subprocess

import pytest

from tests.repo import sources

BEGIN = "set -euo pipefail\nsource .ci/parts.sh\nbroken() { false; echo went on; }\nsound() { true; }\n"


def bash(text, tmp_path):
    """The script's status and output, with the notes in a file of their own."""
    notes = tmp_path / "parts"
    notes.touch()
    done = subprocess.run(
        ["bash", "-c", BEGIN + text],
        cwd=sources.ROOT,
        env={**os.environ, "AESPEC_PARTS": str(notes)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done, [line.split("\t") for line in notes.read_text().splitlines()]


def test_a_part_that_fails_in_its_middle_has_failed(tmp_path):
    done, notes = bash("set +e\npart one 5 broken\necho status $?\npart two 5 sound\nparts_table", tmp_path)
    assert "went on" not in done.stdout
    assert "status 1" in done.stdout
    assert [(note[0], note[3]) for note in notes] == [("one", "FAILED (1)"), ("two", "ok")]
    assert done.stdout.splitlines()[-1].startswith("sum of parts")


def test_a_failed_part_ends_a_script_that_stops_at_errors(tmp_path):
    done, notes = bash("part one 5 broken\npart two 5 sound", tmp_path)
    assert done.returncode == 1
    assert len(notes) == 1


@pytest.mark.parametrize("call", ["part one 5 broken || true", "if part one 5 sound; then :; fi"])
def test_a_part_refuses_to_stand_where_bash_overlooks_failures(call, tmp_path):
    done, notes = bash(call, tmp_path)
    assert done.returncode == 70
    assert "statement of its own" in done.stderr
    assert notes == []


def test_a_part_in_the_background_is_noticed_too(tmp_path):
    done, notes = bash("part one 5 broken & job=$!\npart two 5 sound\nwait $job", tmp_path)
    assert done.returncode == 1
    assert sorted(note[3] for note in notes) == ["FAILED (1)", "ok"]


def test_over_budget_is_said_and_does_not_fail(tmp_path):
    done, notes = bash("part slow 0 sleep 0.1", tmp_path)
    assert done.returncode == 0
    assert notes[0][3] == "ok, over budget"
