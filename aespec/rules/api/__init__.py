"""What a rule is made of, and what it looks at; the only modules of this folder that a rule may import.

A rule is a module of `aespec/rules`, named by its slug with `_` for `-`. Its docstring is what `aespec
explain` says (a title, then `## What`, `## Why`, `## Bad`, `## Good`); `RULE` describes it;
`check(subject)` yields what it finds, by `RULE.found(…)`.
"""

from aespec.rules.api.expected import expected_texts
from aespec.rules.api.rule import Rule
from aespec.rules.api.subject import (
    Fixture,
    Placed,
    Subject,
    claim_paths,
    constant,
    constant_args,
    each_text,
    iterate_groups,
    literal_values,
    names,
    setup_texts,
    shape,
    sketch,
)

__all__ = [
    "Fixture",
    "Placed",
    "Rule",
    "Subject",
    "claim_paths",
    "constant",
    "constant_args",
    "each_text",
    "expected_texts",
    "iterate_groups",
    "literal_values",
    "names",
    "setup_texts",
    "shape",
    "sketch",
]
