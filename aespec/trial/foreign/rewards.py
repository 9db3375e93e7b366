"""Rewards as Harbor 0.26 reads them (`harbor/verifier/verifier.py`), its exceptions named in the messages."""

from __future__ import annotations

import json
import math
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from aespec.runtime.memory import Node

FOLDER = "/logs/verifier"
REWARD_JSON = f"{FOLDER}/reward.json"
REWARD_TEXT = f"{FOLDER}/reward.txt"
"""Where a verifier writes; `reward.json` outranks `reward.txt`."""

LONGEST_REWARD_BYTES = 1 << 20
"""No honest reward is longer, and reading one of a million keys takes a gigabyte."""

_KINDS = {"folder": "a folder", "large": "one of several MiB"}


@dataclass(frozen=True, slots=True)
class Rewards:
    """What was read: `scalar` is the key `reward`, else the mean; `problem` says why there is none."""

    scalar: float | None = None
    all: Mapping[str, float] = field(default_factory=dict)
    problem: str = ""


def read_rewards(nodes: Mapping[str, Node]) -> Rewards:
    """The rewards in the files below `/logs/verifier`, by absolute path.

    Booleans count as 0 and 1. Harbor reads from outside of the container: a link is followed only where it
    stays in that folder.
    """
    for path, read in ((REWARD_JSON, _read_json), (REWARD_TEXT, _read_text)):
        node = _resolve(nodes, path)
        if node is None:
            continue
        name = posixpath.basename(path)
        if node.kind != "file":
            return Rewards(
                problem=f"{name} is no file that can be read, but {_KINDS.get(node.kind, node.kind)}"
            )
        if len(node.data) > LONGEST_REWARD_BYTES:
            return Rewards(problem=f"{name} is no file that can be read, but {_KINDS['large']}")
        if not node.data:
            return Rewards(problem=f"the verifier left {name} empty (RewardFileEmptyError)")
        return read(node.data)
    return Rewards(problem="the verifier wrote no reward (RewardFileNotFoundError)")


def _resolve(nodes: Mapping[str, Node], path: str) -> Node | None:
    node = nodes.get(path)
    for _ in range(8):
        if node is None or node.kind != "link":
            return node
        # Mounted elsewhere outside: an absolute target leads to nothing there.
        path = posixpath.normpath(posixpath.join(posixpath.dirname(path), node.target))
        is_inside = not node.target.startswith("/") and path.startswith(FOLDER + "/")
        node = nodes.get(path) if is_inside else None
    return None


def _read_json(data: bytes) -> Rewards:
    try:
        told = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return Rewards(problem="reward.json is not JSON (VerifierOutputParseError)")
    if not isinstance(told, dict):
        return Rewards(problem="reward.json is no object of numbers")
    rewards: dict[str, float] = {}
    for name, value in told.items():
        number = _number(value)
        if number is None:
            what = f"{str(name)[:60]!r} in reward.json is {str(value)[:60]!r}"
            return Rewards(problem=f"{what}, not a finite number (VerifierOutputParseError)")
        rewards[name] = number
    if not rewards:
        return Rewards(problem="reward.json holds no number")
    return Rewards(rewards.get("reward", sum(rewards.values()) / len(rewards)), rewards)


def _number(value: object) -> float | None:
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _read_text(data: bytes) -> Rewards:
    try:
        number = float(data.decode("utf-8"))
    except ValueError:
        return Rewards(problem="reward.txt is not a number (VerifierOutputParseError)")
    if not math.isfinite(number):
        return Rewards(problem=f"the reward {number} is not finite (VerifierOutputParseError)")
    return Rewards(number, {"reward": number})
