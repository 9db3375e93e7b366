"""The verdict's files: nothing is written before the end, then each at once or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import stat as stats
from typing import Any, Dict, Mapping

from aespec.runtime.state import Trouble
from aespec.runtime.tree import empty_folder

REWARDS = ("reward.txt", "reward.json")
DETAILS = "reward-details.json"
CTRF = "ctrf.json"

STATUS = {"pass": "passed", "fail": "failed", "error": "other"}
"""Our verdicts in the words of the Common Test Report Format."""

TEMPORARY = ".aespec-writing-"


class Rewards:
    """The folder of the verdict, taken over from whoever had it."""

    def __init__(self, folder: str) -> None:
        """Makes the folder a real one that only its owner writes, and removes verdicts that lie there.

        Raises `Trouble` where that can't be had.
        """
        self.folder = os.path.abspath(folder)
        _take_over(self.folder)
        self.clear()

    def clear(self) -> None:
        """Remove every verdict and half-written file; what else lies there (the log of test.sh) stays."""
        for name in os.listdir(self.folder):
            if name in (*REWARDS, DETAILS, CTRF) or name.startswith(TEMPORARY):
                _remove(os.path.join(self.folder, name))

    def write(self, details: Mapping[str, Any], says: Mapping[str, str]) -> None:
        """Write the details, then, unless the outcome is an error, both reward files with the same scalar.

        Raises `Trouble` where a file can't be written; then no reward file is left.
        """
        self.clear()
        reward = details["reward"]
        try:
            self._put(DETAILS, _json(details))
            self._put(CTRF, _json(ctrf(details, says)))
            if details["outcome"] != "error" and reward is not None:
                scalar = repr(float(reward))
                self._put("reward.txt", f"{scalar}\n")
                self._put("reward.json", '{\n  "reward": ' + scalar + "\n}\n")
        except OSError as error:
            for name in REWARDS:
                with contextlib.suppress(OSError):
                    _remove(os.path.join(self.folder, name))
            raise Trouble(f"the verdict can't be written: {error.strerror}") from None

    def _put(self, name: str, text: str) -> None:
        """A file that is whole or not there: written beside its place, flushed to the disk, renamed."""
        place = os.path.join(self.folder, name)
        temporary = os.path.join(self.folder, f"{TEMPORARY}{name}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(temporary, flags, 0o644)
        with open(descriptor, "w", encoding="ascii", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, place)
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def ctrf(details: Mapping[str, Any], says: Mapping[str, str]) -> Dict[str, Any]:
    """The details in the Common Test Report Format: a test for each check, and one for each rule."""
    tests = []
    for check in details["checks"]:
        tests.append(_test(check, says.get(check["id"], ""), round(1000 * check["seconds"])))
        tests += [_test(rule, "", 0) for rule in check["rules"]]
    counts = {status: sum(test["status"] == status for test in tests) for status in STATUS.values()}
    return {
        "reportFormat": "CTRF",
        "specVersion": "0.0.0",
        "results": {
            "tool": {"name": "aespec"},
            "summary": {
                "tests": len(tests),
                "passed": counts["passed"],
                "failed": counts["failed"],
                "pending": 0,
                "skipped": 0,
                "other": counts["other"],
                "start": 0,
                "stop": round(1000 * details["seconds"]),
            },
            "tests": tests,
        },
    }


def _test(report: Mapping[str, Any], says: str, milliseconds: int) -> Dict[str, Any]:
    test = {"name": report["id"], "status": STATUS[report["verdict"]], "duration": milliseconds}
    if report["reason"]:
        test["message"] = report["reason"]
    if says:
        test["extra"] = {"says": says}
    return test


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=True, allow_nan=False) + "\n"


def _take_over(folder: str) -> None:
    parent = os.path.dirname(folder)
    try:
        for place in (parent, folder):
            if os.path.lexists(place) and not stats.S_ISDIR(os.lstat(place).st_mode):
                _remove(place)
        os.makedirs(folder, mode=0o755, exist_ok=True)
        found = os.lstat(folder)
        if found.st_uid not in (os.geteuid(), 0) and os.geteuid() == 0 and not os.path.ismount(folder):
            # Made by the agent's account: its owner could write into it again.
            os.chown(folder, 0, 0)
        if stats.S_IMODE(found.st_mode) & 0o022 and os.geteuid() in (0, found.st_uid):
            os.chmod(folder, 0o755)
    except OSError as error:
        raise Trouble(f"{folder} can't be made the verifier's own: {error.strerror}") from None


def _remove(path: str) -> None:
    try:
        if stats.S_ISDIR(os.lstat(path).st_mode):
            empty_folder(path)
            os.rmdir(path)
        else:
            os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise Trouble(f"{path} can't be removed: {error.strerror}") from None
