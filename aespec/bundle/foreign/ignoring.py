"""What a task leaves behind when its tests and its solution are put into a container: `.harborignore`."""

from __future__ import annotations

import re

IGNORE_FILE = ".harborignore"
"""Honoured in `tests/` and `solution/` and below them, each file for what lies beside and below it."""

_RULES_LIMIT = 1000


class Rules:
    """Lines as in a `.gitignore`; of several that match the last one counts."""

    def __init__(self, text: str) -> None:
        """Lines that are no pattern are passed over, as git does."""
        self._rules = [rule for line in text.splitlines()[:_RULES_LIMIT] if (rule := _rule(line)) is not None]

    def decide(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether the path (relative to the file's folder) is left out; None where no line speaks of it."""
        decided = None
        for pattern, is_out, is_for_folders in self._rules:
            if (is_folder or not is_for_folders) and pattern.fullmatch(path):
                decided = is_out
        return decided


def _rule(line: str) -> tuple[re.Pattern[str], bool, bool] | None:
    line = re.sub(r"(?<!\\) +$", "", line)
    if not line or line.startswith("#"):
        return None
    is_out = not line.startswith("!")
    line = line[1:] if not is_out else line
    is_for_folders = line.endswith("/")
    line = line.rstrip("/")
    if not line:
        return None
    is_anchored = "/" in line
    parts = [_part(part) for part in line.strip("/").split("/")]
    try:
        return (
            re.compile(("" if is_anchored else "(?:.*/)?") + _joined(parts), re.DOTALL),
            is_out,
            is_for_folders,
        )
    except re.error:
        return None


def _joined(parts: list[str]) -> str:
    """The expressions of path parts as one; `**` stands for any number of folders."""
    text = ""
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        if part == "**":
            text += ".+" if is_last else "(?:.*/)?"
        else:
            text += part + ("" if is_last else "/")
    return text


def _part(part: str) -> str:
    if part == "**":
        return part
    text, at = "", 0
    while at < len(part):
        char = part[at]
        at += 1
        if char == "*":
            # Several in a row say no more than one, and would make the matching slow.
            text += "" if text.endswith("[^/]*") else "[^/]*"
        elif char == "?":
            text += "[^/]"
        elif char == "[" and (end := part.find("]", at + 1)) > 0:
            inner = part[at:end].replace("\\", "\\\\").replace("[", "\\[")
            text += f"[{'^/' + inner[1:] if inner[0] in '!^' else inner}]"
            at = end + 1
        elif char == "\\" and at < len(part):
            text += re.escape(part[at])
            at += 1
        else:
            text += re.escape(char)
    return text
