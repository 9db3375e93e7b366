r"""Words of a Dockerfile: quotes, escapes, and variables (`$x`, `${x:-y}`, `${x:+y}`, `${x#y}`, `${x/y/z}`).

After BuildKit's `frontend/dockerfile/shell` (its rules aren't a shell's: `\n` outside of quotes is `n`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_SPECIAL = "@*#?-$!0"
_LONGEST_REPLACED = 4096  # looking from each place is quadratic


class WordError(Exception):
    """A word that can't be read; the message is for the user."""


@dataclass(slots=True)
class _Words:
    """Words as they come: unquoted blanks part them."""

    found: list[str] = field(default_factory=list)
    word: str = ""
    is_in_word: bool = False

    def add(self, text: str, *, is_raw: bool) -> None:
        if is_raw:
            self.word += text
            self.is_in_word = True
            return
        for letter in text:
            if not letter.isspace():
                self.word += letter
                self.is_in_word = True
            elif self.is_in_word and self.word:
                self.found.append(self.word)
                self.word, self.is_in_word = "", False

    def end(self) -> list[str]:
        if self.word:
            self.found.append(self.word)
        return self.found


@dataclass(frozen=True, slots=True)
class Lexer:
    """How words are read: `keeps_quotes` and `keeps_escapes` leave them in the result, `reads_quotes` False
    takes them for letters, `keeps_unset` leaves a variable that isn't set as it stands.
    """

    escape: str = "\\"
    keeps_quotes: bool = False
    keeps_escapes: bool = False
    keeps_unset: bool = False
    reads_quotes: bool = True

    def expand(self, text: str, env: Mapping[str, str]) -> str:
        """The text as one word. Raises WordError."""
        return _Reading(self, text, env).until("", keeps_escapes=self.keeps_escapes)[0]

    def split(self, text: str, env: Mapping[str, str]) -> list[str]:
        """The text's words. Raises WordError."""
        return _Reading(self, text, env).until("", keeps_escapes=self.keeps_escapes)[1]


class _Reading:
    def __init__(self, lexer: Lexer, text: str, env: Mapping[str, str]) -> None:
        self._lexer = lexer
        self._text = text
        self._env = env
        self._at = 0

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self) -> str:
        letter = self._peek()
        self._at += len(letter)
        return letter

    def until(self, stop: str, *, keeps_escapes: bool) -> tuple[str, list[str]]:
        """Up to the letter `stop`, or to the end where it is ""."""
        result, words = "", _Words()
        while letter := self._peek():
            if letter == stop:
                self._next()
                return result, words.end()
            if letter == "$":
                part = self._variable(keeps_escapes=keeps_escapes)
                words.add(part, is_raw=False)
            elif letter == "<":
                part = self._angles()
                words.add(part, is_raw=True)
            elif letter in "'\"" and self._lexer.reads_quotes:
                part = self._single() if letter == "'" else self._double(keeps_escapes=keeps_escapes)
                words.add(part, is_raw=True)
            else:
                part = self._next()
                if part == self._lexer.escape:
                    following = self._next()
                    part = (part if keeps_escapes else "") + following
                    if not following and not keeps_escapes:
                        break
                    words.add(part, is_raw=True)
                else:
                    words.add(part, is_raw=False)
            result += part
        if stop:
            raise WordError(f"the end was reached while looking for {stop}")
        return result, words.end()

    def _angles(self) -> str:
        """`<<` and the blanks after it hang together with what follows: a heredoc's name."""
        start = self._at
        self._next()
        if self._peek() == "<":
            self._next()
            while self._peek() and self._peek() in " \t":
                self._next()
        return self._text[start : self._at]

    def _single(self) -> str:
        self._next()
        end = self._text.find("'", self._at)
        if end < 0:
            raise WordError("the end was reached while looking for a single quote")
        content = self._text[self._at : end]
        self._at = end + 1
        return f"'{content}'" if self._lexer.keeps_quotes else content

    def _double(self, *, keeps_escapes: bool) -> str:
        self._next()
        result = ""
        while letter := self._peek():
            if letter == '"':
                self._next()
                return f'"{result}"' if self._lexer.keeps_quotes else result
            if letter == "$":
                result += self._variable(keeps_escapes=keeps_escapes)
                continue
            letter = self._next()
            if letter == self._lexer.escape:
                if keeps_escapes:
                    result += letter
                if not self._peek():
                    continue
                if self._peek() in ('"', "$", self._lexer.escape):
                    letter = self._next()
            result += letter
        raise WordError("the end was reached while looking for a double quote")

    def _name(self) -> str:
        letter = self._peek()
        if letter and letter in _SPECIAL and not letter.isdigit():
            return self._next()
        pattern = r"\d+" if letter.isdigit() else r"\w*"
        matched = re.compile(pattern).match(self._text, self._at)
        name = matched[0] if matched else ""
        self._at += len(name)
        return name

    def _variable(self, *, keeps_escapes: bool) -> str:
        self._next()
        if self._peek() != "{":
            name = self._name()
            if not name:
                return "$"
            return self._env.get(name, f"${name}" if self._lexer.keeps_unset else "")
        self._next()
        if self._peek() in ("", "{", "}", ":"):
            raise WordError("bad substitution: a name must follow ${")
        name = self._name()
        sign = self._next()
        if sign == "}":
            return self._env.get(name, f"${{{name}}}" if self._lexer.keeps_unset else "")
        if sign == "/":
            return self._replaced(name)
        is_null_unset = sign == ":"
        if is_null_unset:
            sign = self._next()
        is_trim = sign in ("#", "%")
        if sign not in ("-", "+", "?", "#", "%") or not sign or (is_null_unset and is_trim):
            raise WordError(f"the substitution ${{{name}{sign} has no such modifier")
        word, _ = self.until("}", keeps_escapes=is_trim)
        if self._lexer.keeps_unset and name not in self._env:
            return f"${{{name}{':' if is_null_unset else ''}{sign}{word}}}"
        return self._modified(name, sign, word, is_null_unset=is_null_unset)

    def _modified(self, name: str, sign: str, word: str, *, is_null_unset: bool) -> str:
        value = self._env.get(name, "")
        is_set = name in self._env and not (is_null_unset and not value)
        if sign == "-":
            return value if is_set else word
        if sign == "+":
            return word if is_set else ""
        if sign == "?":
            if not is_set:
                raise WordError(f"{name}: {word or 'is not allowed to be unset or empty'}")
            return value
        is_greedy = word[:1] == sign
        return _trimmed(value, word[is_greedy:], is_greedy=is_greedy, is_end=sign == "%")

    def _replaced(self, name: str) -> str:
        is_all = self._peek() == "/"
        if is_all:
            self._next()
        pattern, _ = self.until("/", keeps_escapes=True)
        replacement, _ = self.until("}", keeps_escapes=True)
        if name not in self._env and self._lexer.keeps_unset:
            return f"${{{name}/{pattern}/{replacement}}}"
        return _replace(self._env.get(name, ""), _tokens(pattern), replacement, is_all=is_all)


_ANY, _ONE = "any", "one"


def _tokens(pattern: str) -> list[str]:
    """A shell's pattern: letters, `_ONE` for `?`, `_ANY` for `*`."""
    found, letters = [], iter(pattern)
    for letter in letters:
        if letter in "*?":
            found.append(_ANY if letter == "*" else _ONE)
        else:
            found.append(next(letters, "") if letter == "\\" else letter)
    return found


def _lengths(text: str, tokens: list[str]) -> Iterator[int]:
    """How many letters from the start the pattern can match, least first; time is linear in both."""

    def settled(states: set[int]) -> set[int]:
        for state in sorted(states):
            while state < len(tokens) and tokens[state] == _ANY:
                state += 1
                states.add(state)
        return states

    states = settled({0})
    for length, letter in enumerate([*text, ""]):
        if len(tokens) in states:
            yield length
        moved = {state + 1 for state in states if state < len(tokens) and tokens[state] in (letter, _ONE)}
        states = settled(moved | {state for state in states if state < len(tokens) and tokens[state] == _ANY})
        if not states:
            return


def _trimmed(value: str, pattern: str, *, is_greedy: bool, is_end: bool) -> str:
    """Without the shortest, or longest, start or end that the pattern matches."""
    tokens = _tokens(pattern)
    found = list(_lengths(value[::-1], tokens[::-1]) if is_end else _lengths(value, tokens))
    if not found:
        return value
    length = found[-1] if is_greedy else found[0]
    return value[: len(value) - length] if is_end else value[length:]


def _replace(value: str, tokens: list[str], replacement: str, *, is_all: bool) -> str:
    if len(value) > _LONGEST_REPLACED:
        raise WordError(f"a value of more than {_LONGEST_REPLACED} letters is too long to replace in")
    result, at = "", 0
    while at < len(value):
        length = max(_lengths(value[at:], tokens), default=0)
        if not length:
            result += value[at]
            at += 1
            continue
        result, at = result + replacement, at + length
        if not is_all:
            break
    return result + value[at:]
