"""How a value is written into each kind of file of a bundle, so that it can't break out of its place.

Every filter returns `Quoted`, and the renderer refuses to print anything else: what has not been through a
filter can't get into a file. A value that a format has no way to hold raises `UnquotableError`; one of the
wrong type raises TypeError, for that is a bug.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aespec.runtime.wording import with_article


class Quoted(str):
    """Text that may stand in a file as it is."""

    __slots__ = ()


class UnquotableError(ValueError):
    """The format of the file can't hold this value; the message says why."""


def quote_toml(value: Any) -> Quoted:
    """A TOML value on one line: a basic string, a boolean, a number, or an array of them."""
    if isinstance(value, str):
        return Quoted(f'"{_escape(value, _TOML_ESCAPES)}"')
    if isinstance(value, bool):
        return Quoted("true" if value else "false")
    if isinstance(value, int):
        return Quoted(str(value))
    if isinstance(value, float):
        return Quoted(_finite(value))
    if isinstance(value, list | tuple):
        return Quoted(f"[{', '.join(quote_toml(item) for item in value)}]")
    raise TypeError(f"TOML has no {type(value).__name__}")


def quote_yaml(value: Any) -> Quoted:
    """A YAML scalar in double quotes, all of it ASCII; `$` is doubled, for Compose reads it as its own."""
    if isinstance(value, bool):
        return Quoted("true" if value else "false")
    if isinstance(value, int | float):
        return Quoted(_finite(float(value)) if isinstance(value, float) else str(value))
    if not isinstance(value, str):
        raise TypeError(f"a YAML scalar can't hold {with_article(type(value).__name__)}")
    escaped = "".join(
        char if " " <= char <= "~" and char not in '"\\' else _yaml_escape(char) for char in value
    )
    return Quoted(f'"{escaped.replace("$", "$$")}"')


def quote_sh(value: Any) -> Quoted:
    """One word of a POSIX shell script."""
    text = _text(value)
    if "\0" in text:
        raise UnquotableError("a shell word can't hold a NUL")
    return Quoted(shlex.quote(text))


def quote_python(value: Any) -> Quoted:
    """A Python literal in ASCII; raises for anything that isn't made of JSON's types."""
    if isinstance(value, float) and not math.isfinite(value):
        raise UnquotableError("only finite numbers can be written")
    if value is None or isinstance(value, bool | int | float | str):
        return Quoted(ascii(value))
    if isinstance(value, list):
        return Quoted(f"[{', '.join(quote_python(item) for item in value)}]")
    if isinstance(value, dict):
        pairs = (f"{quote_python(key)}: {quote_python(item)}" for key, item in value.items())
        return Quoted(f"{{{', '.join(pairs)}}}")
    raise TypeError(f"{with_article(type(value).__name__)} is no literal")


def quote_env(value: Any) -> Quoted:
    """The value of a Dockerfile's `ENV`, in double quotes.

    The format has no escape for a line's end or another control character, so these are refused.
    """
    text = _text(value)
    if _CONTROL.search(text):
        raise UnquotableError(
            "an environment variable of an image can't hold a line's end or a control character"
        )
    return Quoted('"' + re.sub(r'(["\\$])', r"\\\1", text) + '"')


def quote_words(values: Iterable[Any]) -> Quoted:
    """The JSON form of `COPY`, `ADD` and `RUN`: plain words only, so that no expansion applies to them."""
    words = [_text(value) for value in values]
    for word in words:
        if not is_plain(word):
            raise UnquotableError(f"{word!r} is no plain word")
    return Quoted(json.dumps(words, separators=(", ", ": ")))


def quote_word(value: Any) -> Quoted:
    """A word of a Dockerfile that stands for itself everywhere: a path, an account, a package, an image."""
    text = _text(value)
    if not is_plain(text):
        raise UnquotableError(f"{text!r} is no plain word")
    return Quoted(text)


def quote_comment(value: Any) -> Quoted:
    """Text for a `#` comment: one line, printable ASCII, the rest replaced by `?`."""
    return Quoted(re.sub(r"[^ -~]", "?", _text(value)).strip())


def is_plain(text: str) -> bool:
    """Whether a word needs no quoting in shell, Dockerfile and glob alike."""
    return bool(_PLAIN.fullmatch(text))


FILTERS: Mapping[str, Callable[[Any], Quoted]] = {
    "toml": quote_toml,
    "yaml": quote_yaml,
    "sh": quote_sh,
    "python": quote_python,
    "env": quote_env,
    "words": quote_words,
    "word": quote_word,
    "comment": quote_comment,
    "raw": lambda value: Quoted(_text(value)),
}
"""By the name that templates use. `raw` is for text made for its place: the author's own Dockerfile."""

# Dash and tilde only inside: at the start they would be an option and a home folder.
_PLAIN = re.compile(r"[A-Za-z0-9_./@:+=%,][A-Za-z0-9_./@:+=%,~-]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
_TOML_ESCAPES = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"wanted a text, not {with_article(type(value).__name__)}")
    return value


def _finite(value: float) -> str:
    if not math.isfinite(value):
        raise UnquotableError("only finite numbers can be written")
    return repr(value)


def _escape(text: str, short: Mapping[str, str]) -> str:
    """TOML's escapes for what may not stand bare, and for what an editor would not show."""
    parts = []
    for char in text:
        if char in short:
            parts.append(short[char])
        elif char.isprintable():
            parts.append(char)
        else:
            parts.append(_scalar_escape(char))
    return "".join(parts)


def _scalar_escape(char: str) -> str:
    point = ord(char)
    if 0xD800 <= point <= 0xDFFF:
        raise UnquotableError("half of a surrogate pair is no character")
    return f"\\u{point:04X}" if point <= 0xFFFF else f"\\U{point:08X}"


def _yaml_escape(char: str) -> str:
    return f"\\{char}" if char in '"\\' else _scalar_escape(char)
