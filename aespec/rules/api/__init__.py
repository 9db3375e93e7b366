"""What a rule is made of, and what it looks at; the only modules of this folder that a rule may import.

A rule is a module of `aespec/rules`, named by its slug with `_` for `-`. Its docstring is what `aespec
explain` says (a title, then `## What`, `## Why`, `## Bad`, `## Good`); `RULE` describes it;
`check(subject)` yields what it finds, by `RULE.found(…)`.
"""

from aespec.rules.api.expected import expected_texts
from aespec.rules.api.quotes import quoted_places
from aespec.rules.api.rule import Rule
from aespec.rules.api.stand_ins import stand_in
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
from aespec.rules.api.written import all_texts, content_texts

__all__ = [
    "Fixture",
    "Placed",
    "Rule",
    "Subject",
    "all_texts",
    "claim_paths",
    "constant",
    "constant_args",
    "content_texts",
    "each_text",
    "expected_texts",
    "iterate_groups",
    "literal_values",
    "names",
    "quoted_places",
    "setup_texts",
    "shape",
    "sketch",
    "stand_in",
]
