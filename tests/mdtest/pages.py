"""Pages of examples: Markdown in which a source and what is reported on it stand below each other.

A page is a file below `tests/mdtest/PHASE/`. Each `## heading` is a case. Its `aes` blocks are files: one
without a name is `task.aes`, which is judged; ```` ```aes lib.aes ```` is a file beside it, and so is any
other block with a name (```` ```python check.py ````). Its `text` block is what is reported, rendered; with
AESPEC_UPDATE=1 it is written anew. A block may be fenced by more than three backticks, to hold such lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PAGES = Path(__file__).parent
TASK = "task.aes"
NOTHING = "nothing to report\n"
"""What stands in the text block of a case without a report."""

_HEADING = re.compile(r"^## (.+)$")
_FENCE = re.compile(r"^(`{3,})(\S*)(?: +(\S+))?$")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its name or "", its text, and the lines (from, to) between the fences."""

    language: str
    name: str
    text: str
    first: int
    last: int
    fence: str


@dataclass(frozen=True)
class Case:
    """One example of a page: its files by name and the block with what is expected, if it is there yet."""

    page: Path
    phase: str
    title: str
    files: dict[str, str]
    expected: Block | None
    last: int

    @property
    def id(self) -> str:
        return f"{self.phase}/{self.page.stem}/{self.title}"


def blocks_of(lines: list[str], start: int, end: int) -> list[Block]:
    """The fenced blocks between two lines."""
    found, at = [], start
    while at < end:
        fence = _FENCE.match(lines[at])
        if fence is None:
            at += 1
            continue
        close = next((i for i in range(at + 1, end) if lines[i] == fence[1]), None)
        if close is None:
            raise ValueError(f"line {at + 1}: the block is not closed")
        text = "".join(line + "\n" for line in lines[at + 1 : close])
        found.append(Block(fence[2], fence[3] or "", text, at + 1, close, fence[1]))
        at = close + 1
    return found


def cases_of(page: Path) -> list[Case]:
    """The cases of a page. Raises ValueError for a page without any or a case without a source."""
    lines = page.read_text(encoding="utf-8").split("\n")
    fenced = [range(b.first - 1, b.last + 1) for b in blocks_of(lines, 0, len(lines))]
    heads = [
        (i, found[1])
        for i, line in enumerate(lines)
        if (found := _HEADING.match(line)) and not any(i in block for block in fenced)
    ]
    cases = []
    for (at, title), (end, _) in zip(heads, [*heads[1:], (len(lines), "")], strict=True):
        files, expected, last = {}, None, at
        for block in blocks_of(lines, at, end):
            if block.language == "text" and not block.name:
                expected = block
            elif block.name or block.language == "aes":
                files[block.name or TASK] = block.text
            last = block.last
        if TASK not in files:
            raise ValueError(f"{page.name}, {title!r}: there is no aes block")
        cases.append(Case(page, page.parent.name, title, files, expected, last))
    if not cases:
        raise ValueError(f"{page.name} has no case")
    titles = [case.title for case in cases]
    if len(titles) != len(set(titles)):
        raise ValueError(f"{page.name} has two cases of one title")
    return cases


def all_cases() -> list[Case]:
    """The cases of all pages, in order."""
    return [case for page in sorted(PAGES.glob("*/*.md")) for case in cases_of(page)]


def rewrite(case: Case, rendered: str) -> None:
    """Put what is rendered into the case's text block, or append one to the case."""
    # Cases before this one may have been rewritten since, so the place is looked up again.
    fresh = next(other for other in cases_of(case.page) if other.title == case.title)
    lines = case.page.read_text(encoding="utf-8").split("\n")
    body = rendered.split("\n")[:-1]
    if fresh.expected is not None:
        lines[fresh.expected.first : fresh.expected.last] = body
    else:
        lines[fresh.last + 1 : fresh.last + 1] = ["", "```text", *body, "```"]
    case.page.write_text("\n".join(lines), encoding="utf-8")
