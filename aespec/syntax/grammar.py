"""`grammar/aes.lark`, loaded when the first text is parsed and kept in the user's cache folder."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from aespec.resources import cache_folder, folder

if TYPE_CHECKING:
    from lark import Lark

GRAMMAR_FILE = "aes.lark"
"""The one definition of the syntax, below the `grammar` folder."""


def grammar_text() -> str:
    """The text of the grammar, as other engines (constrained decoding) read it too."""
    return (folder("grammar") / GRAMMAR_FILE).read_text(encoding="utf-8")


class _Place(str):
    """A path that looks the same wherever it is: lark takes all its options as written into the cache's key.

    Without that, a file that was made under another name and then moved here would never be read.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "aes.lark"


@cache
def load_parser() -> Lark:
    """The LALR parser whose callbacks make the nodes of `aespec.syntax.nodes`.

    Making the tables takes about 50 ms of CPU, reading them from the cache about 5 ms. A cache folder that
    can't be written only costs the time.
    """
    import lark

    from aespec.syntax.builder import NodeBuilder

    grammar = grammar_text()

    def make(path: Path | None) -> Lark:
        return lark.Lark(
            grammar,
            parser="lalr",
            lexer="basic",
            start="start",
            maybe_placeholders=True,
            transformer=NodeBuilder(),
            cache=_Place(path) if path else False,
        )

    key = sha256(f"{lark.__version__}\0{sys.version_info[:2]}\0{grammar}".encode()).hexdigest()
    kept = cache_folder() / f"grammar-{key[:32]}.pickle"
    if _is_own_file(kept):
        return make(kept)
    return _make_and_keep(make, kept)


def _make_and_keep(make: Callable[[Path | None], Lark], kept: Path) -> Lark:
    """Write beside the place and rename, so that no other process ever reads half a file."""
    import tempfile

    try:
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=kept.parent, prefix=".grammar-")
        os.close(descriptor)
    except OSError:
        return make(None)
    fresh = Path(name)
    try:
        parser = make(fresh)
        if fresh.stat().st_size:
            fresh.replace(kept)
        return parser
    except OSError:
        return make(None)
    finally:
        fresh.unlink(missing_ok=True)


def _is_own_file(path: Path) -> bool:
    """A pickle runs code when it is read, so one that somebody else could have put there is passed over."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return (
        path.is_file()
        and not path.is_symlink()
        and status.st_uid == os.getuid()
        and not status.st_mode & 0o022
    )


@cache
def token_pattern() -> re.Pattern[str]:
    """All terminals as one expression with a group each, tried in the order of Lark's basic lexer."""
    terminals = sorted(
        load_parser().terminals,
        key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name),
    )
    return re.compile("|".join(f"(?P<{t.name}>{t.pattern.to_regexp()})" for t in terminals))
