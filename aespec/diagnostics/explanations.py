"""What `aespec explain SLUG` says. Each layer writes its explanations down where its diagnostics are made.

A layer exports `EXPLANATIONS: tuple[Explanation, ...]`, written out, or read by `read_explanation` from the
docstrings of its modules, or by `read_explanations` from one page for many; whoever shows them joins the
layers by `join_explanations`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

from aespec.records import dataclass

_SECTION = re.compile(r"^## (What|Why|Bad|Good)[ \t]*$", re.MULTILINE)
_TITLE = re.compile(r"^# ([a-z0-9-]+): (.+)$", re.MULTILINE)
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Explanation:
    """A slug explained: a title in a few words, what is reported, why it is wrong, a bad and a good example.

    `bad` and `good` are `.aes` text (or a command line, for what has no text), not Markdown.
    """

    slug: str
    title: str
    what: str
    why: str
    bad: str
    good: str

    def markdown(self) -> str:
        """The page that `aespec explain` prints and the documentation holds."""
        return (
            f"# {self.slug}: {self.title}\n\n## What\n{self.what.strip()}\n\n## Why\n{self.why.strip()}\n\n"
            f"## Bad\n{_fenced(self.bad)}\n\n## Good\n{_fenced(self.good)}\n"
        )


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text.rstrip()}\n{fence}"


def read_explanation(slug: str, page: str) -> Explanation:
    """An explanation from a page (a docstring or a file): a title line, then `## What`, `Why`, `Bad`, `Good`.

    Examples may stand in a fence. Raises ValueError, naming the slug, for a page that lacks a part.
    """
    page = inspect.cleandoc(page)
    if not _SLUG.fullmatch(slug):
        raise ValueError(f"{slug!r} is no slug: lower-case words joined by hyphens")
    parts = _SECTION.split(page)
    title = parts[0].strip().split("\n", 1)[0].removeprefix(f"# {slug}:").removeprefix("# ").strip()
    sections = dict(zip((name.lower() for name in parts[1::2]), parts[2::2], strict=True))
    for name in ("what", "why", "bad", "good"):
        if not sections.get(name, "").strip():
            raise ValueError(f"the explanation of {slug!r} lacks its section `## {name.title()}`")
    if not title:
        raise ValueError(f"the explanation of {slug!r} lacks its title")
    return Explanation(
        slug,
        title,
        sections["what"].strip(),
        sections["why"].strip(),
        _unfenced(sections["bad"]),
        _unfenced(sections["good"]),
    )


def read_explanations(pages: str) -> tuple[Explanation, ...]:
    """All explanations of a text in which each begins with a line `# slug: title`, in its order."""
    parts = _TITLE.split(inspect.cleandoc(pages))
    return tuple(
        read_explanation(slug, f"{title}\n{page}")
        for slug, title, page in zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    )


def _unfenced(text: str) -> str:
    found = re.fullmatch(r"(`{3,})[\w-]*\n(.*?)\n?\1", text.strip(), re.DOTALL)
    return found[2] if found else text.strip("\n").rstrip()


def join_explanations(*layers: Iterable[Explanation]) -> dict[str, Explanation]:
    """All explanations by slug. Raises ValueError where two layers explain the same slug."""
    joined: dict[str, Explanation] = {}
    for layer in layers:
        for explanation in layer:
            if explanation.slug in joined:
                raise ValueError(f"two layers explain {explanation.slug!r}")
            joined[explanation.slug] = explanation
    return joined


def render_explanation(explanation: Explanation) -> str:
    """What `aespec explain SLUG` prints, without a line end at its end."""
    return explanation.markdown().rstrip("\n")
