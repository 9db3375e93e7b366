"""A Dockerfile as data: stages and their instructions, as BuildKit's parser reads them.

After BuildKit's `frontend/dockerfile/parser` and `instructions`: what those refuse is refused here, with the
line. Nothing is substituted here: variables depend on the base image (see `stages`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from aespec.sandbox.api import SandboxError
from aespec.sandbox.dockerwords import Lexer, WordError

_DIRECTIVE = re.compile(r"#\s*([a-zA-Z][a-zA-Z0-9]*)\s*=\s*(.+?)\s*$")
_DIRECTIVES = ("syntax", "escape", "check")
_HEREDOC = re.compile(r"(\d*)<<(-?)\s*([^<]*)$")
_BLANKS = re.compile(r"[\t\v\f\r ]+")
_STAGE_NAME = re.compile(r"[a-z][a-z0-9-_.]*$")
_CODE = {"COPY", "ADD", "RUN"}
_LISTS = {"COPY", "ADD", "VOLUME"}
_COMMANDS = {"RUN", "CMD", "ENTRYPOINT", "SHELL"}
_WHOLE = {"WORKDIR", "USER", "STOPSIGNAL", "MAINTAINER", "ONBUILD", "HEALTHCHECK"}
_PAIRS = {"ENV", "LABEL"}
_SPLIT = {"FROM", "EXPOSE", "ARG"}
_FLAGS = {
    "FROM": {"platform"},
    "COPY": {"from", "chown", "chmod", "link", "parents", "exclude"},
    "ADD": {"chown", "chmod", "link", "keep-git-dir", "checksum", "unpack", "exclude"},
    "RUN": {"mount", "network", "security", "device"},
    "HEALTHCHECK": {"interval", "timeout", "start-period", "start-interval", "retries"},
}
_SWITCHES = {"link", "parents", "keep-git-dir", "unpack"}


class DockerfileError(SandboxError):
    """The Dockerfile is wrong, whoever builds it."""

    def __init__(self, message: str, line: int = 0, *, remedy: str = "") -> None:
        """`line` counts from 1; 0 where it is about the whole."""
        place = f"the Dockerfile, line {line}" if line else "the Dockerfile"
        super().__init__(f"{place}: {message}", remedy, boundary="image")


class UnsupportedError(DockerfileError):
    """The Dockerfile is fine, but asks for what only an engine can do."""


@dataclass(frozen=True, slots=True)
class Heredoc:
    """A document that follows an instruction; where it `expands`, variables in it are replaced by COPY."""

    name: str
    content: str = field(repr=False)
    expands: bool
    chomps: bool

    @property
    def text(self) -> str:
        """The content, without leading tabs where the heredoc says so."""
        return re.sub(r"(?m)^\t+", "", self.content) if self.chomps else self.content


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: `name` in capitals, flags without their dashes (a switch is "true"), `args` by kind.

    `args` of ENV and LABEL alternate names and values; of RUN, CMD, ENTRYPOINT, USER, WORKDIR and the like
    they are one text, unless `is_json`; of COPY, ADD, FROM and others words. `original` is the line with its
    continuations joined.
    """

    name: str
    args: tuple[str, ...]
    flags: tuple[tuple[str, str], ...] = ()
    is_json: bool = False
    heredocs: tuple[Heredoc, ...] = ()
    line: int = 0
    original: str = field(default="", repr=False)

    def flag(self, name: str) -> str:
        """The flag's value, "" without it."""
        return next((value for key, value in self.flags if key == name), "")

    def all_flags(self, name: str) -> tuple[str, ...]:
        """The values of a flag that may stand several times."""
        return tuple(value for key, value in self.flags if key == name)


@dataclass(frozen=True, slots=True)
class Stage:
    """From one FROM to the next; `name` is in small letters, "" without one."""

    base: str
    name: str
    platform: str
    instructions: tuple[Instruction, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Dockerfile:
    """All of it: `arguments` are the ARG instructions before the first stage."""

    arguments: tuple[Instruction, ...]
    stages: tuple[Stage, ...]
    escape: str = "\\"
    syntax: str = ""


def parse_dockerfile(text: str) -> Dockerfile:
    """Read a Dockerfile. Raises DockerfileError."""
    reader = _Reader(text.removeprefix("\ufeff"))
    arguments: list[Instruction] = []
    stages: list[tuple[Instruction, list[Instruction]]] = []
    for instruction in reader.instructions():
        if instruction.name == "FROM":
            stages.append((instruction, []))
        elif stages:
            stages[-1][1].append(instruction)
        elif instruction.name == "ARG":
            arguments.append(instruction)
        else:
            raise DockerfileError(f"{instruction.name} stands before the first FROM", instruction.line)
    if not stages:
        raise DockerfileError("there is no FROM")
    made = tuple(_stage(first, tuple(rest)) for first, rest in stages)
    return Dockerfile(tuple(arguments), made, reader.escape, reader.syntax)


def parse_trigger(text: str, escape: str = "\\") -> Instruction:
    """The instruction of an ONBUILD. Raises DockerfileError."""
    reader = _Reader(text, escape)
    found = list(reader.instructions())
    if len(found) != 1 or found[0].name in ("ONBUILD", "FROM", "MAINTAINER"):
        raise DockerfileError(f"ONBUILD can't be followed by {text[:40]!r}")
    return found[0]


def _stage(first: Instruction, rest: tuple[Instruction, ...]) -> Stage:
    args, name = first.args, ""
    if len(args) == 3 and args[1].lower() == "as":
        name = args[2].lower()
        if not _STAGE_NAME.match(name):
            raise DockerfileError(f"{args[2]!r} is no name for a stage", first.line)
    elif len(args) != 1:
        raise DockerfileError("FROM takes one argument, or three with AS", first.line)
    return Stage(args[0], name, first.flag("platform"), rest, first.line)


class _Reader:
    def __init__(self, text: str, escape: str = "") -> None:
        # A line ends with a line feed and nothing else.
        self._lines: list[str] = re.findall(r"[^\n]*\n|[^\n]+", text)
        self._at = 0
        self.escape = escape or "\\"
        self.syntax = ""
        self._is_past_directives = bool(escape)

    def instructions(self) -> Iterator[Instruction]:
        while self._at < len(self._lines):
            line = self._next().rstrip("\r\n").lstrip()
            if self._is_directive(line) or line.startswith("#"):
                continue
            start = self._at
            line, is_continued = self._continued(line)
            if not line and not is_continued:
                continue
            parts = [line]
            while is_continued and self._at < len(self._lines):
                line = self._next().rstrip("\r\n")
                if not line.strip() or line.lstrip().startswith("#"):
                    continue
                line, is_continued = self._continued(line)
                parts.append(line)
            if whole := "".join(parts).strip():
                yield self._instruction(whole, start)

    def _next(self) -> str:
        self._at += 1
        return self._lines[self._at - 1]

    def _is_directive(self, line: str) -> bool:
        if self._is_past_directives:
            return False
        matched = _DIRECTIVE.match(line)
        if not matched or matched[1].lower() not in _DIRECTIVES:
            self._is_past_directives = True
            return False
        if matched[1].lower() == "escape":
            if matched[2] not in ("\\", "`"):
                raise DockerfileError(f"{matched[2]!r} can't be the escape, only \\ or `", self._at)
            self.escape = matched[2]
        elif matched[1].lower() == "syntax":
            self.syntax = matched[2]
        return True

    def _continued(self, line: str) -> tuple[str, bool]:
        """The line without the escape at its end, and whether it had one; an escaped escape is none."""
        bare = line.rstrip(" \t")
        if not bare.endswith(self.escape) or bare.endswith(self.escape * 2):
            return line, False
        return bare[:-1], True

    def _instruction(self, text: str, line: int) -> Instruction:
        word, rest = (*_BLANKS.split(text, maxsplit=1), "")[:2]
        name = word.upper()
        flags, rest = _flags(rest, self.escape)
        rest = rest.strip()
        if name not in _LISTS | _COMMANDS | _WHOLE | _PAIRS | _SPLIT:
            raise DockerfileError(f"there is no instruction {word[:40]!r}", line)
        args, is_json = self._arguments(name, rest, line)
        _check(name, args, rest, flags, line)
        heredocs: tuple[Heredoc, ...] = ()
        holder = (rest.split(None, 1) or [""])[0].upper() if name == "ONBUILD" else name
        if holder in _CODE and not is_json and "<<" in text:
            heredocs = tuple(self._heredocs(text, line))
        if name == "ONBUILD":
            args = ("".join([rest, *(f"\n{found.content}{found.name}" for found in heredocs)]),)
        return Instruction(name, args, flags, is_json, heredocs, line, text)

    def _arguments(self, name: str, rest: str, line: int) -> tuple[tuple[str, ...], bool]:
        if name in _LISTS | _COMMANDS:
            words = _json_words(rest, line)
            if words is not None:
                return words, True
            if name in _COMMANDS:
                return ((rest,) if rest else ()), False
        if name in _WHOLE:
            return ((rest,) if rest else ()), False
        if name in _PAIRS:
            return _pairs(name, rest, self.escape, line), False
        if name == "ARG":
            return tuple(_quoted_words(rest, self.escape)), False
        return (tuple(_BLANKS.split(rest)) if rest else ()), False

    def _heredocs(self, text: str, line: int) -> Iterator[Heredoc]:
        try:
            words = Lexer(keeps_quotes=True, keeps_escapes=True, keeps_unset=True).split(text, {})
        except WordError:
            return  # what a shell makes of it is the shell's business
        for word in words:
            head = read_heredoc(word)
            if head is None:
                continue
            start, content = self._at, list[str]()
            while self._at < len(self._lines):
                following = self._next()
                bare = following.rstrip("\r\n")
                if (bare.lstrip("\t") if head.chomps else bare) == head.name:
                    yield Heredoc(head.name, "".join(content), head.expands, head.chomps)
                    break
                content.append(following)
            else:
                if not word.endswith((f"<<{head.name}", f"<<-{head.name}", '"', "'")):
                    self._at = start  # `1 << 2` in a shell's arithmetic
                    continue
                raise DockerfileError(f"the heredoc {head.name} has no end", line)


def read_heredoc(word: str) -> Heredoc | None:
    """The head of a heredoc, such as `<<EOF` or `3<<-"EOF"`, None for another word."""
    matched = _HEREDOC.match(word)
    if not matched or not matched[3]:
        return None
    try:
        plain = Lexer(keeps_unset=True).split(matched[3], {})
        quoted = Lexer(keeps_unset=True, keeps_quotes=True).split(matched[3], {})
    except WordError:
        return None
    if len(plain) != 1 or len(quoted) != 1:
        return None
    quotes = [sum(found.count(mark) for mark in "'\"") for found in (plain[0], quoted[0])]
    return Heredoc(plain[0], "", quotes[0] == quotes[1], bool(matched[2]))


def _json_words(rest: str, line: int) -> tuple[str, ...] | None:
    if not rest.startswith("["):
        return None
    try:
        words = json.loads(rest)
    except (ValueError, RecursionError):
        return None
    if not all(isinstance(word, str) for word in words):
        raise DockerfileError("a list in JSON may hold texts only", line)
    return tuple(words)


def _quoted_words(rest: str, escape: str) -> list[str]:
    """Words with their quotes and escapes; blanks in quotes part nothing."""
    words: list[str] = []
    word, quote, letters = "", "", iter(rest)
    for letter in letters:
        if not quote and letter.isspace():
            words, word = [*words, word] if word else words, ""
        elif letter == escape and quote != "'":
            following = next(letters, "")
            word += letter + following if following else ""
        else:
            if letter == quote:
                quote = ""
            elif not quote and letter in "'\"":
                quote = letter
            word += letter
    return [*words, word] if word else words


def _pairs(name: str, rest: str, escape: str, line: int) -> tuple[str, ...]:
    words = _quoted_words(rest, escape)
    if words and "=" not in words[0]:  # the older form: one name, and all the rest is its value
        parts = _BLANKS.split(rest, maxsplit=1)
        if len(parts) < 2:
            raise DockerfileError(f"{name} takes a name and a value", line)
        return tuple(parts)
    found: list[str] = []
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or not key:
            raise DockerfileError(f"{name} takes name=value, not {word[:40]!r}", line)
        found += [key, value]
    return tuple(found)


def _flags(rest: str, escape: str) -> tuple[tuple[tuple[str, str], ...], str]:
    """The `--name=value` words at the start, and what follows them. Quotes in them are taken off."""
    found: list[tuple[str, str]] = []
    at = 0
    while True:
        while at < len(rest) and rest[at].isspace():
            at += 1
        if not rest.startswith("--", at):
            return tuple(found), rest[at:]
        word, quote = "", ""
        while at < len(rest) and (quote or not rest[at].isspace()):
            letter = rest[at]
            at += 1
            if letter == escape:
                word += rest[at : at + 1]
                at += 1
            elif letter == quote:
                quote = ""
            elif not quote and letter in "'\"":
                quote = letter
            else:
                word += letter
        if word == "--":
            return tuple(found), rest[at:]
        key, sign, value = word[2:].partition("=")
        found.append((key, value if sign else "true"))


def _check(
    name: str, args: tuple[str, ...], rest: str, flags: tuple[tuple[str, str], ...], line: int
) -> None:
    known = _FLAGS.get(name, set())
    for key, value in flags:
        if key not in known:
            raise DockerfileError(f"{name} has no flag --{key[:40]}", line)
        if key in _SWITCHES and value not in ("true", "false"):
            raise DockerfileError(f"--{key} is true or false, not {value[:40]!r}", line)
    if name in ("COPY", "ADD") and len(args) < 2:
        raise DockerfileError(f"{name} takes at least a source and a destination", line)
    if name in ("COPY", "ADD") and read_heredoc(args[-1]):
        raise DockerfileError(f"{name} can't have a heredoc as its destination", line)
    if not rest and name not in ("CMD", "ENTRYPOINT", "RUN"):
        raise DockerfileError(f"{name} takes an argument", line)
    if name == "RUN" and not args:
        raise DockerfileError("RUN takes a command", line)
