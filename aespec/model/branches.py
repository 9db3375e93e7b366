"""Which names git takes for branches, and which two it can't keep beside each other."""

from __future__ import annotations

import re
from collections.abc import Iterable

from aespec.model.paths import is_below

IMPORTED = "aespec-import"
"""The branch that a repository's history is read into while it is made; it is gone when that is done."""

LONGEST_PART_BYTES = 250
"""Of what stands between slashes: git keeps a branch as a file and locks it by one with `.lock` behind."""

_REFUSED = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]")


def branch_fault(name: str) -> str | None:
    """Why git takes no branch of that name, to be read behind it; None where it does.

    The rules are those of `git check-ref-format --branch`, and of the file systems that git keeps refs on.
    """
    parts = name.split("/")
    found = _REFUSED.search(name)
    faults = {
        "is empty": not name,
        "begins with `-`": name.startswith("-"),
        "means something else to git": name in {"@", "HEAD"},
        f"holds {_show(found[0]) if found else ''}": found is not None,
        "holds `..`": ".." in name,
        "holds `@{`": "@{" in name,
        "has a `/` with nothing before or behind it": bool(name) and "" in parts,
        "has a part that begins with `.`": any(part.startswith(".") for part in parts),
        "has a part that ends with `.lock`": any(part.endswith(".lock") for part in parts),
        "ends with `.`": name.endswith("."),
        f"has a part of more than {LONGEST_PART_BYTES} bytes": any(
            len(part.encode("utf-8", "surrogatepass")) > LONGEST_PART_BYTES for part in parts
        ),
        "is taken while the repository is made": is_below(f"/{name}", f"/{IMPORTED}"),
    }
    return next((fault for fault, is_so in faults.items() if is_so), None)


def branch_clash(name: str, others: Iterable[str]) -> str | None:
    """The first of the other branches that can't be beside this one: one lies below the other."""
    for other in others:
        if name != other and (is_below(f"/{name}", f"/{other}") or is_below(f"/{other}", f"/{name}")):
            return other
    return None


def _show(char: str) -> str:
    if char == " ":
        return "a blank"
    return f"`{char}`" if char.isprintable() else f"the control character U+{ord(char):04X}"
