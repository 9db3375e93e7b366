"""Rewards are read as Harbor reads them, and what it raises is told."""

import json
import subprocess

import pytest

from aespec.runtime.memory import Node
from aespec.trial.foreign.rewards import REWARD_JSON, REWARD_TEXT, read_rewards
from tests import components


def read(**files):
    """The rewards in `reward_json` and `reward_txt`."""
    names = {"reward_json": REWARD_JSON, "reward_txt": REWARD_TEXT}
    return read_rewards({names[name]: Node(data=data) for name, data in files.items()})


CASES = [
    {"reward_json": b'{"reward": 1}'},
    {"reward_json": b'{"reward": true}'},
    {"reward_json": b'{"reward": 0.25, "style": 1}'},
    {"reward_json": b'{"a": 0.5, "b": 1}'},
    {"reward_json": b'{"reward": -5}'},
    {"reward_json": b'{"reward": NaN}'},
    {"reward_json": b'{"reward": 1e309}'},
    {"reward_json": b'{"reward": "1"}'},
    {"reward_json": b'{"reward": null}'},
    {"reward_json": b'{"reward": {"x": 1}}'},
    {"reward_json": b'{"reward": 1'},
    {"reward_json": b"\xff"},
    {"reward_json": b""},
    {"reward_json": b"", "reward_txt": b"1"},
    {"reward_json": b'{"reward": 0}', "reward_txt": b"1"},
    {"reward_txt": b"1\n"},
    {"reward_txt": b" 0.5 \n"},
    {"reward_txt": b"1_0"},
    {"reward_txt": b"100"},
    {"reward_txt": b"nan"},
    {"reward_txt": b"-inf"},
    {"reward_txt": b"yes"},
    {"reward_txt": b"1 0"},
    {"reward_txt": b""},
    {"reward_txt": b"\xff\xfe1"},
    {},
]
# One line each: the reward, or the name of Harbor's exception.
IN_HARBOR = """
import json, sys, tempfile
from pathlib import Path
from types import SimpleNamespace
from harbor.verifier.verifier import Verifier, RewardFileNotFoundError
for case in json.load(sys.stdin):
    folder = Path(tempfile.mkdtemp())
    for name, data in case.items():
        (folder / name).write_bytes(data.encode("latin-1"))
    paths = SimpleNamespace(reward_text_path=folder / "reward_txt", reward_json_path=folder / "reward_json")
    self = SimpleNamespace(trial_paths=paths)
    try:
        if paths.reward_json_path.exists():
            told = Verifier._parse_reward_json(self)
        elif paths.reward_text_path.exists():
            told = Verifier._parse_reward_text(self)
        else:
            raise RewardFileNotFoundError
    except Exception as error:
        told = type(error).__name__
    print(json.dumps(told))
"""


@pytest.mark.needs("harbor")
def test_harbor_itself_reads_the_same():
    asked = json.dumps([{name: data.decode("latin-1") for name, data in case.items()} for case in CASES])
    python = components.harbor().parent / "python"
    done = subprocess.run([python, "-c", IN_HARBOR], input=asked, capture_output=True, text=True, check=True)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == len(CASES)
    for case, expected in zip(CASES, told, strict=True):
        found = read(**case)
        if isinstance(expected, str):
            assert found.problem, case
            assert f"({expected})" in found.problem, case
        else:
            assert (found.problem, found.all) == ("", {key: float(value) for key, value in expected.items()})


def test_the_scalar_is_the_key_reward_or_the_mean():
    assert read(reward_json=b'{"reward": 0.25, "style": 1}').scalar == 0.25
    assert read(reward_json=b'{"a": 0.5, "b": 1}').scalar == 0.75
    assert read(reward_json=b'{"a": true}').scalar == 1.0
    assert read(reward_txt=b"1").all == {"reward": 1.0}


@pytest.mark.parametrize("data", [b"1", b"[1]", b"{}", b"null", b"[" * 100_000])
def test_what_is_no_table_of_numbers_is_no_reward(data):
    found = read(reward_json=data)
    assert found.scalar is None
    assert "reward.json" in found.problem


def test_links_lead_nowhere_outside_of_the_folder():
    outside = {REWARD_JSON: Node("link", target="/app/reward.json"), REWARD_TEXT: Node(data=b"0")}
    assert read_rewards(outside).scalar == 0.0
    inside = {
        REWARD_JSON: Node("link", target="mine.json"),
        "/logs/verifier/mine.json": Node(data=b'{"r": 1}'),
    }
    assert read_rewards(inside).scalar == 1.0
    assert read_rewards({REWARD_JSON: Node("link", target="reward.json")}).scalar is None


@pytest.mark.parametrize("kind", ["folder", "large"])
def test_what_is_no_readable_file_is_told(kind):
    found = read_rewards({REWARD_JSON: Node(kind), REWARD_TEXT: Node(data=b"1")})
    assert found.scalar is None
    assert "reward.json is no file" in found.problem


@pytest.mark.parametrize("name", ["reward_json", "reward_txt"])
def test_a_reward_of_megabytes_is_none(name):
    data = b'{"a": 1' + b"".join(b',"k%d": 1' % number for number in range(200_000)) + b"}"
    assert "one of several MiB" in read(**{name: data}).problem
