"""The folder that a Dockerfile copies from: what .dockerignore leaves of it, and what a COPY's source names.

The patterns are those of moby's `patternmatcher`. Nothing outside of the folder is ever read: a source that
leads out by a link is refused; a link that is itself copied stays a link.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from aespec.sandbox.api import SandboxError

_IGNORE_FILES = ("Dockerfile.dockerignore", ".dockerignore")
_LARGEST_IGNORE_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 20


class SourceError(SandboxError):
    """A source of COPY or ADD isn't there or may not be read."""

    def __init__(self, message: str) -> None:
        """The image's author's slip."""
        super().__init__(message, boundary="image")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing below a source: `name` is relative to it, "" the source itself.

    `kind` is file, folder or link; `target` a link's. `open` gives a file's bytes; `uid` and `gid` are the
    owner where the source has owners, as a context has not.
    """

    name: str
    kind: str
    mode: int
    size: int
    mtime: int
    open: Callable[[], IO[bytes]] = field(repr=False, compare=False)
    target: str = ""
    uid: int = 0
    gid: int = 0


class Context:
    """A build's context."""

    def __init__(self, folder: Path) -> None:
        """Raises SandboxError for ignore patterns that can't be read."""
        self.folder = os.path.realpath(folder)
        self._patterns = _read_patterns(self.folder)
        self._has_exceptions = any(is_exception for is_exception, _ in self._patterns)
        self._hits: dict[str, tuple[bool, ...]] = {"": (False,) * len(self._patterns)}

    def is_ignored(self, name: str) -> bool:
        """Whether .dockerignore leaves out the file of that name, by itself or with a folder above it."""
        is_matched = False
        for (is_exception, _), is_hit in zip(self._patterns, self._hits_of(name), strict=True):
            if is_hit and is_exception == is_matched:
                is_matched = not is_exception
        return is_matched

    def _hits_of(self, name: str) -> tuple[bool, ...]:
        """For each pattern, whether it matches the name or a folder above it."""
        way = ""
        for part in name.split("/"):
            above, way = self._hits[way], posixpath.join(way, part)
            if way not in self._hits:
                self._hits[way] = tuple(
                    is_hit or matches(way) for is_hit, (_, matches) in zip(above, self._patterns, strict=True)
                )
        return self._hits[name]

    def find(self, source: str) -> list[str]:
        """What a source names, relative to the context, sorted; by wildcards perhaps several, or nothing.

        Raises SourceError for a plain name that isn't there, and for one that leads out of the context.
        """
        name = posixpath.normpath("/" + source).lstrip("/")
        if not has_wildcards(name):
            self.resolve(name)
            return [name]
        return sorted(match_below(name, self._listing))

    def _listing(self, folder: str) -> list[tuple[str, bool]]:
        try:
            real = self.resolve(folder)
            with os.scandir(os.path.join(self.folder, real)) as entries:
                found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError:
            return []
        inside = [(name, is_folder, posixpath.join(real, name)) for name, is_folder in sorted(found)]
        return [
            (name, is_folder)
            for name, is_folder, path in inside
            if not self.is_ignored(path) or (is_folder and self._has_exceptions)
        ]

    def resolve(self, name: str) -> str:
        """Where a name's links lead, relative to the context. Raises SourceError."""
        whole = os.path.join(self.folder, name)
        try:
            real = os.path.realpath(whole, strict=True)
        except (OSError, ValueError):
            raise SourceError(f"the context has no {name!r}") from None
        if real != self.folder and not real.startswith(self.folder.rstrip("/") + "/"):
            raise SourceError(f"{name!r} leads out of the build's context")
        inside = os.path.relpath(real, self.folder)
        inside = "" if inside == "." else inside
        for path in {name, inside}:
            if self.is_ignored(path) and not (os.path.isdir(real) and self._has_exceptions):
                raise SourceError(f"the context has no {name!r}: .dockerignore leaves it out")
        return inside

    def items(self, name: str) -> Iterator[Item]:
        """A source and all below it, sorted, folders first; sockets, FIFOs and devices are left out."""
        top = self.resolve(name)
        waiting = [""]
        while waiting:
            below = waiting.pop()
            place = posixpath.join(top, below) if below else top
            path = os.path.join(self.folder, place) if place else self.folder
            item = _item(below, path)
            if item is None:
                continue
            is_ignored = bool(below) and self.is_ignored(place)
            if item.kind == "folder" and not (is_ignored and not self._has_exceptions):
                inside = sorted(os.listdir(path), reverse=True)
                waiting += [posixpath.join(below, entry) for entry in inside]
                is_ignored = is_ignored and not self._keeps_below(place)
            if not is_ignored:
                yield item

    def _keeps_below(self, folder: str) -> bool:
        """Whether an exception brings something below an ignored folder back."""
        for path, folders, files in os.walk(os.path.join(self.folder, folder)):
            inside = os.path.relpath(path, self.folder)
            links = [entry for entry in folders if os.path.islink(os.path.join(path, entry))]
            if any(not self.is_ignored(posixpath.join(inside, entry)) for entry in (*files, *links)):
                return True
        return False

    def digest(self, name: str) -> str:
        """Of all that COPY takes of a source but times."""
        found = hashlib.sha256()
        for item in self.items(name):
            head = f"{item.name}\0{item.kind}\0{item.mode:o}\0{item.target}\0{item.size}\0"
            found.update(head.encode("utf-8", "surrogateescape"))
            if item.kind == "file":
                with item.open() as file:
                    while chunk := file.read(_CHUNK_BYTES):
                        found.update(chunk)
        return found.hexdigest()


def _item(name: str, path: str) -> Item | None:
    try:
        status = os.lstat(path)
        kind = stat.S_IFMT(status.st_mode)
        target = os.readlink(path) if kind == stat.S_IFLNK else ""
    except OSError:
        return None
    names = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
    if kind not in names:
        return None
    size = status.st_size if kind == stat.S_IFREG else 0

    def opened() -> IO[bytes]:
        return open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")

    return Item(name, names[kind], stat.S_IMODE(status.st_mode), size, int(status.st_mtime), opened, target)


# --- wildcards ---------------------------------------------------------------------------------------


def has_wildcards(name: str) -> bool:
    """Whether a source is a pattern, as BuildKit sees it."""
    return re.search(r"(?<!\\)[*?\[]", name) is not None


def match_below(pattern: str, listing: Callable[[str], Sequence[tuple[str, bool]]]) -> Iterator[str]:
    """The names that a pattern matches, part by part.

    `listing` tells a folder's names, and which of them are folders.
    """
    parts = pattern.split("/")
    waiting = [("", 0)]
    while waiting:
        folder, depth = waiting.pop()
        expression = re.compile(glob_expression(parts[depth]), re.DOTALL)
        for name, is_folder in listing(folder):
            if not expression.fullmatch(name):
                continue
            path = posixpath.join(folder, name)
            if depth == len(parts) - 1:
                yield path
            elif is_folder:
                waiting.append((path, depth + 1))


def glob_expression(pattern: str) -> str:
    """Go's `filepath.Match` for one part of a path, as a regular expression that doesn't go back."""
    result, at = "", 0
    pieces: list[str] = []
    while at < len(pattern):
        letter = pattern[at]
        at += 1
        if letter == "*":
            pieces, result = [*pieces, result], ""
        elif letter == "?":
            result += "[^/]"
        elif letter == "[":
            part, at = _class(pattern, at)
            result += part
        else:
            result += re.escape(pattern[at : at + 1] if letter == "\\" else letter)
            at += letter == "\\"
    pieces.append(result)
    if len(pieces) == 1:
        return result
    middle = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1] if piece)
    return f"{pieces[0]}{middle}[^/]*{pieces[-1]}"


def _class(pattern: str, at: int) -> tuple[str, int]:
    """A `[…]` whose content starts at `at`, and where what follows it does."""
    sign = "^" if pattern[at : at + 1] == "^" else ""
    at += len(sign)
    ranges = ""
    while pattern[at : at + 1] != "]" or not ranges:
        low, at = _class_letter(pattern, at)
        high = low
        if pattern[at : at + 1] == "-":
            high, at = _class_letter(pattern, at + 1)
        if high < low:
            raise SourceError(f"the pattern {pattern!r} has a range from {low!r} to {high!r}")
        ranges += f"{re.escape(low)}-{re.escape(high)}"
    return f"[{sign}{ranges}]", at + 1


def _class_letter(pattern: str, at: int) -> tuple[str, int]:
    at += pattern[at : at + 1] == "\\"
    letter = pattern[at : at + 1]
    if not letter:
        raise SourceError(f"the pattern {pattern!r} has a [ without its ]")
    return letter, at + 1


# --- .dockerignore -----------------------------------------------------------------------------------


def _read_patterns(folder: str) -> list[tuple[bool, Callable[[str], bool]]]:
    for name in _IGNORE_FILES:
        path = os.path.join(folder, name)
        if not os.path.lexists(path):
            continue
        real = os.path.realpath(path)
        if not real.startswith(folder.rstrip("/") + "/") or not os.path.isfile(real):
            raise SourceError(f"{name} is no file of the context")
        with open(real, encoding="utf-8-sig", errors="surrogateescape") as file:
            text = file.read(_LARGEST_IGNORE_BYTES)
        return [pattern for line in text.split("\n") if (pattern := _read_pattern(line))]
    return []


def _read_pattern(line: str) -> tuple[bool, Callable[[str], bool]] | None:
    line = "" if line.startswith("#") else line.strip()
    is_exception = line.startswith("!")
    pattern = line.removeprefix("!").strip()
    if not pattern:
        return None
    pattern = posixpath.normpath(pattern).lstrip("/") or "."
    return is_exception, ignore_matcher(pattern)


def ignore_matcher(pattern: str) -> Callable[[str], bool]:
    """A test of a path against one pattern: `*` and `?` stay within a part, `**` spans any number of parts.

    A pattern that only starts, or only ends, with `**` is taken for a suffix or a prefix, as moby does.
    """
    is_plain = not re.search(r"[*?\[\]\\]", pattern.removeprefix("**").removesuffix("**"))
    if pattern.startswith("**") and is_plain and not pattern.endswith("**"):
        suffix = pattern[2:]
        return lambda path: path.endswith(suffix) or path == suffix.removeprefix("/")
    if pattern in ("**", "**/"):
        return lambda path: True
    if pattern.endswith("**") and is_plain and not pattern.startswith("**"):
        prefix = pattern[:-2]
        return lambda path: path.startswith(prefix)
    parts = pattern.split("/")
    if parts[-1] == "**":
        parts.append("*")  # what is below, not the folder itself
    expressions = [
        None if part == "**" else re.compile(glob_expression(re.sub(r"\*\*+", "*", part)), re.DOTALL)
        for part in parts
    ]
    return lambda path: _matches(path.split("/"), expressions)


def _matches(path: Sequence[str], expressions: Sequence[re.Pattern[str] | None]) -> bool:
    """Part by part, all places in the pattern at once: time is the product of both lengths."""

    def settled(states: set[int]) -> set[int]:
        for state in sorted(states):
            while state < len(expressions) and expressions[state] is None:
                state += 1
                states.add(state)
        return states

    states = settled({0})
    for name in path:
        moved = set()
        for state in states - {len(expressions)}:
            expression = expressions[state]
            if expression is None:
                moved.add(state)
            elif expression.fullmatch(name):
                moved.add(state + 1)
        states = settled(moved)
    return len(expressions) in states
