"""What can be read off a foreign task's files before anything is run: signs, each to be looked at.

Signs alone are wrong more often than right, so all but the plainest are warnings or advice: an error is only
what is wrong whatever the author meant, as the solution in the solver's image.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from aespec.bundle.foreign import ForeignTask
from aespec.diagnostics.escape import escape_controls
from aespec.fuzz.audit.inquiry import Inquiry
from aespec.fuzz.audit.signs.assertions import find_in_tests
from aespec.fuzz.audit.signs.images import find_in_image
from aespec.fuzz.audit.signs.material import Material, Sign, gather, texts_of_tests
from aespec.fuzz.audit.signs.scripts import find_in_script
from aespec.fuzz.audit.signs.wording import find_untold

_KINDS: tuple[Callable[[Material], Iterator[Sign]], ...] = (
    find_in_image,
    find_in_script,
    find_in_tests,
    find_untold,
)


def read_signs(task: ForeignTask) -> tuple[Sign, ...]:
    """All signs of a task, the likeliest first; nothing is run, and what can't be read has none."""
    material = gather(task)
    found = dict.fromkeys(sign for find in _KINDS for sign in find(material))
    return tuple(sorted(found, key=lambda sign: (sign.severity != "error", -sign.rank)))


def report_signs(inquiry: Inquiry) -> None:
    """Add the signs of the task to its findings."""
    for sign in read_signs(inquiry.task):
        inquiry.report(
            sign.slug, sign.severity, sign.property, escape_controls(sign.message), rank=sign.rank - 1
        )


def runs_pytest(task: ForeignTask) -> bool:
    """Whether the verifier runs pytest, as far as its script and its Python files tell."""
    return any(re.search(r"\bpytest\b", text) for text in texts_of_tests(task).values())
