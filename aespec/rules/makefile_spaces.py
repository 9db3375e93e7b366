"""A Makefile's recipe begins with blanks.

## What
In a text with the tag `make` or `makefile`, the line below a target begins with blanks instead of a tab.

## Why
make stops there with "missing separator". Where the broken Makefile is the task, allow this.

## Bad
    file "/app/Makefile" <<<make
      all:
          echo built
    >>>

## Good
    file "/app/Makefile" <<<make
      all:
        echo built
    >>>
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.model.task import FileStep
from aespec.rules.api import Rule, Subject, sketch

RULE = Rule("makefile-spaces", Severity.WARNING)

_RECIPE = re.compile(r"^[A-Za-z0-9_.%/$(){} -]+:(?![=:])[^\n=]*\n {2,}\S", re.MULTILINE)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Makefiles of setup in which a recipe begins with blanks."""
    for fixture in subject.fixtures:
        step = fixture.step
        if not isinstance(step, FileStep) or step.content.tag not in {"make", "makefile"}:
            continue
        if ".RECIPEPREFIX" not in fixture.content and _RECIPE.search(sketch(step.content)):
            yield RULE.found(
                "a recipe of this Makefile begins with blanks",
                step.span,
                why="make wants a tab there.",
                help="Begin the lines of recipes with a tab, after the heredoc's own indentation.",
            )
