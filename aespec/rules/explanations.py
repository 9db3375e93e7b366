"""What `aespec explain` says about the rules: their own docstrings, and the three faults of `allow`."""

from __future__ import annotations

from aespec.diagnostics.explanations import Explanation, read_explanation
from aespec.rules import all_rules

_ALLOW_PAGES = {
    "unknown-rule": """An `allow` names no rule

## What
The slug of an `allow` is not one of the rules.

## Why
A slip here would leave the warning standing that was meant to be decided, or hide nothing at all.

## Bad
    allow(network-opn, because = "the task is about an outage")

## Good
    allow(network-open, because = "the task is about an outage")
""",
    "unused-allow": """An `allow` has nothing to allow

## What
No finding of that slug is there, or it is allowed twice.

## Why
What it was written for is gone, and it would silently hide the next one.

## Bad
    limits { network = none }
    allow(network-open, because = "the task is about an outage")

## Good
    limits { network = none }
""",
    "refused-allow": """This can't be allowed

## What
An `allow` names an error that is wrong whatever the task means.

## Why
A decision can only be taken where a task may be right all the same; each such rule says so in its help.

## Bad
    allow(rule-without-reject, because = "there was no time")

## Good
    reject "counts twice" (breaks = duplicates) { swap(oracle, "if id in seen: continue", "") }
""",
}

EXPLANATIONS: tuple[Explanation, ...] = (
    *(read_explanation(slug, loaded.page) for slug, loaded in all_rules().items()),
    *(read_explanation(slug, page) for slug, page in _ALLOW_PAGES.items()),
)
"""Every slug of the rules, explained."""
