"""Words that follow what stands beside them in a sentence: a noun its number, an article its noun."""

from __future__ import annotations

_SAID_LIKE_YOU = ("eu", "one", "ui", "uni", "us", "ut")
"""Words that begin with a vowel's letter and not with its sound: `user`, `unit`, `utf-8`."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun in the form that fits it: `1 error`, `2 errors`, `0 errors`.

    `plural` is for nouns that take more than an `s`.
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def with_article(noun: str) -> str:
    """A noun behind `a` or `an`; quotes and backticks around it are passed over."""
    word = noun.lstrip("`'\"").lower()
    is_vowel = word[:1] in tuple("aeiou") and not word.startswith(_SAID_LIKE_YOU)
    return f"{'an' if is_vowel else 'a'} {noun}"
