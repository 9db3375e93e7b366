"""The commands of a shell script, read without running it: good enough to name tools and files.

It is a reader of other people's scripts, not a shell: what it can't make out it passes over. Quotes,
comments, here-documents, command substitutions and the usual keywords are known; expansions stay as they
are written (`$HOME/x`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

LIMIT_CHARS = 1 << 18
DEPTH = 8

_KEYWORDS = "if then elif else fi do done while until { } ! time in esac"
_BUILTINS = """
. : [ [[ alias bg bind break builtin caller case cd command compgen complete continue declare dirs disown echo
enable eval exec exit export false fc fg for function getopts hash help history jobs kill let local logout
mapfile popd printf pushd pwd read readarray readonly return select set shift shopt source suspend test times
trap true type typeset ulimit umask unalias unset wait
"""
_WRAPPERS = "sudo env timeout nice nohup exec command xargs stdbuf setsid time gosu"

KEYWORDS = frozenset(_KEYWORDS.split())
"""Words that begin, join or end compound commands."""

_OPENING = frozenset(("if", "while", "until", "{"))
_CLOSING = frozenset(("fi", "done", "esac", "}"))
_ASKING = frozenset(("if", "elif", "while", "until", "!"))

BUILTINS = frozenset(_BUILTINS.split())
"""What bash runs itself; no file on PATH can take its place."""

WRAPPERS = frozenset(_WRAPPERS.split())
"""Programs and builtins that run the command behind them."""

_OPERATOR = re.compile(r"&>>|&>|>>|>\||>&|<&|<>|<<<|<<-|<<|&&|\|\||\|&|;;|[;&|()<>\n]")
_REDIRECTIONS = frozenset((">", ">>", ">|", "&>", "&>>", "<", "<>"))
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command: its words without quotes, and the files that it reads or writes by redirection.

    `appends` are those of `writes` that are written on to. `ended_by` is the operator behind it, "" at the
    end of the script; `level` how many compound commands are open around it; `is_asked` is true for the
    condition of an `if` or a loop; `line` counts from 1.
    """

    words: tuple[str, ...]
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    appends: tuple[str, ...] = field(default=(), compare=False)
    ended_by: str = field(default="", compare=False)
    level: int = field(default=0, compare=False)
    line: int = field(default=0, compare=False)
    is_asked: bool = field(default=False, compare=False)


@dataclass(slots=True)
class _Scan:
    """A script being read; `found` are its commands, inner ones before those that they stand in."""

    text: str
    depth: int = 0
    at: int = 0
    groups: int = 0
    level: int = 0
    lines: int = 0
    counted: int = 0
    found: list[Command] = field(default_factory=list)
    waiting: list[tuple[str, bool]] = field(default_factory=list)

    def line(self) -> int:
        """The line that has been come to, from 1."""
        self.lines += self.text.count("\n", self.counted, self.at)
        self.counted = self.at
        return self.lines + 1

    def inner(self, text: str) -> None:
        """Read a command substitution."""
        if self.depth < DEPTH:
            scan = _Scan(text, self.depth + 1)
            _scan(scan)
            self.found.extend(scan.found)


def commands_of(text: str) -> tuple[Command, ...]:
    """The simple commands of a script, in order; never raises."""
    scan = _Scan(text[:LIMIT_CHARS].replace("\r\n", "\n"))
    _scan(scan)
    return tuple(scan.found)


def unwrap(command: Command) -> Iterator[Command]:
    """The command itself, then those that it runs for being a wrapper (`sudo`, `timeout 5`, `env A=1`)."""
    words = command.words
    for _ in range(DEPTH):
        while words and (words[0] in KEYWORDS or _ASSIGNMENT.match(words[0])):
            words = words[1:]
        if not words:
            return
        yield Command(words, command.reads, command.writes)
        if words[0].rpartition("/")[2] not in WRAPPERS:
            return
        words = words[1:]
        while words and (re.fullmatch(r"-.*|\d+(\.\d+)?[smhd]?", words[0]) or _ASSIGNMENT.match(words[0])):
            words = words[1:]


def _scan(scan: _Scan) -> None:
    words: list[str] = []
    reads: list[str] = []
    writes: list[str] = []
    appends: list[str] = []
    redirection = ""
    line = 0
    while True:
        token, is_word = _next(scan)
        if not words and not reads and not writes:
            line = scan.line()
        if is_word:
            if redirection in _REDIRECTIONS:
                (reads if redirection == "<" else writes).append(token)
                if redirection in (">>", "&>>"):
                    appends.append(token)
            elif redirection in ("<<", "<<-"):
                scan.waiting.append((token, redirection == "<<-"))
            elif not redirection:
                words.append(token)
            redirection = ""
            continue
        if token and token in _REDIRECTIONS | {"<<", "<<-", "<<<", ">&", "<&"}:
            if words and words[-1].isdigit() and scan.text[scan.at - len(token) - 1].isdigit():
                words.pop()  # the number of a descriptor, which stands right before
            redirection = token
            continue
        redirection = ""
        if words or reads or writes:
            _close(scan, Command(tuple(words), tuple(reads), tuple(writes), tuple(appends), token, 0, line))
            words, reads, writes, appends = [], [], [], []
        scan.groups += {"(": 1, ")": -1}.get(token, 0)
        scan.groups = max(0, scan.groups)
        if token == "\n":
            _skip_documents(scan)
        if not token:
            return


def _close(scan: _Scan, command: Command) -> None:
    """Note a command, unless it is the head of a `for`, a pattern of a `case` or the name of a function."""
    words = list(command.words)
    level = scan.level + scan.groups
    is_asked = False
    while words and words[0] in KEYWORDS:
        scan.level += words[0] in _OPENING
        scan.level = max(0, scan.level - (words[0] in _CLOSING))
        is_asked = is_asked or words[0] in _ASKING
        level = level if is_asked else scan.level + scan.groups
        words = words[1:]
    if words and words[0] in ("for", "select", "case"):
        scan.level += 1
        return
    if words and words[0] == "function":
        return
    if len(words) == 1 and (command.ended_by == "(" or (command.ended_by == ")" and not scan.groups)):
        return
    if words or command.reads or command.writes:
        scan.found.append(replace(command, words=tuple(words), level=level, is_asked=is_asked))


def _next(scan: _Scan) -> tuple[str, bool]:
    """The next token, and whether it is a word; ("", False) is the end."""
    text = scan.text
    while scan.at < len(text):
        if text[scan.at] in " \t":
            scan.at += 1
        elif text.startswith("\\\n", scan.at):
            scan.at += 2
        elif text[scan.at] == "#":
            end = text.find("\n", scan.at)
            scan.at = len(text) if end < 0 else end
        else:
            break
    if scan.at >= len(text):
        return "", False
    operator = _OPERATOR.match(text, scan.at)
    if operator:
        scan.at = operator.end()
        return operator.group(), False
    return _word(scan), True


def _word(scan: _Scan) -> str:
    text, made = scan.text, []
    while scan.at < len(text):
        char = text[scan.at]
        if char in " \t" or _OPERATOR.match(text, scan.at):
            break
        if char == "\\":
            made.append(text[scan.at + 1 : scan.at + 2].replace("\n", ""))
            scan.at += 2
        elif char == "'":
            end = text.find("'", scan.at + 1)
            end = len(text) if end < 0 else end
            made.append(text[scan.at + 1 : end])
            scan.at = end + 1
        elif char == '"':
            scan.at += 1
            made.append(_quoted(scan))
        elif char in "$`":
            made.append(_expansion(scan))
        else:
            made.append(char)
            scan.at += 1
    return "".join(made)


def _quoted(scan: _Scan) -> str:
    text, made = scan.text, []
    while scan.at < len(text) and text[scan.at] != '"':
        char = text[scan.at]
        if char == "\\":
            made.append(text[scan.at + 1 : scan.at + 2].replace("\n", ""))
            scan.at += 2
        elif char in "$`":
            made.append(_expansion(scan))
        else:
            made.append(char)
            scan.at += 1
    scan.at += 1
    return "".join(made)


def _expansion(scan: _Scan) -> str:
    """An expansion as it is written; the commands of a substitution are read on the way."""
    text, start = scan.text, scan.at
    if text[start] == "`":
        end = text.find("`", start + 1)
        end = len(text) if end < 0 else end
        scan.inner(text[start + 1 : end])
        scan.at = end + 1
        return text[start : scan.at]
    opener = text[start + 1 : start + 2]
    if opener not in ("(", "{") or not opener:
        scan.at += 1
        return "$"
    closer = ")" if opener == "(" else "}"
    end = _matching(text, start + 1, opener, closer)
    if opener == "(" and not text.startswith("$((", start):
        scan.inner(text[start + 2 : end])
    scan.at = end + 1
    return text[start : scan.at]


def _matching(text: str, at: int, opener: str, closer: str) -> int:
    """Where the bracket at `at` is closed, quotes respected; the end of the text where it never is."""
    depth, quote = 0, ""
    while at < len(text):
        char = text[at]
        if char == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == opener:
            depth += 1
        elif char == closer:
            depth -= 1
            if not depth:
                return at
        at += 1
    return len(text)


def _skip_documents(scan: _Scan) -> None:
    """Pass over the here-documents that were begun on the line before."""
    for tag, is_indented in scan.waiting:
        while scan.at < len(scan.text):
            end = scan.text.find("\n", scan.at)
            end = len(scan.text) if end < 0 else end
            line = scan.text[scan.at : end]
            scan.at = end + 1
            if (line.lstrip("\t") if is_indented else line) == tag:
                break
    scan.waiting.clear()
