"""Finds the rules, runs them, and honours `allow`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache

from aespec import rules
from aespec.diagnostics.diagnostic import Diagnostic, Fix, Severity, TextEdit
from aespec.diagnostics.order import in_order
from aespec.diagnostics.suggest import suggest
from aespec.model.lock import Lock
from aespec.model.task import Allow, CheckedTask, Task
from aespec.records import dataclass
from aespec.rules.api import Rule, Subject

NOT_RULES = frozenset({"api", "explanations", "registry"})
"""Modules of the folder that are no rules."""

ALLOWED_LATER = frozenset(
    {"answer-in-sight", "chance-rate", "forgeable", "unclean-ending", "unread-output", "untold-literal"}
)
"""Findings of certification that a spec may decide on; a rule can't tell whether they will come up."""

UNKNOWN_RULE = Rule("unknown-rule", Severity.ERROR)
UNUSED_ALLOW = Rule("unused-allow", Severity.WARNING)
REFUSED_ALLOW = Rule("refused-allow", Severity.ERROR)


@dataclass(frozen=True, slots=True)
class LoadedRule:
    """A rule with its function and its page."""

    rule: Rule
    check: Callable[[Subject], Iterator[Diagnostic]]
    page: str


@cache
def all_rules() -> dict[str, LoadedRule]:
    """Every rule by its slug, sorted."""
    found: dict[str, LoadedRule] = {}
    for name in sorted(module.name for module in pkgutil.iter_modules(rules.__path__)):
        if name in NOT_RULES:
            continue
        module = importlib.import_module(f"aespec.rules.{name}")
        rule: Rule = module.RULE
        found[rule.slug] = LoadedRule(rule, module.check, _page(module.__doc__ or ""))
    return found


def _page(docstring: str) -> str:
    """The docstring as a page: a title without a full stop, and examples without their indentation."""
    title, _, rest = docstring.partition("\n")
    lines = [line.removeprefix("    ") for line in rest.split("\n")]
    return "\n".join([title[:1].lower() + title[1:].removesuffix("."), *lines])


def check(task: Task, lock: Lock | None = None) -> tuple[CheckedTask | None, tuple[Diagnostic, ...]]:
    """The task as checked, or None where an error remains; and all findings that no `allow` takes away."""
    subject = Subject(task, lock)
    found = [item for loaded in all_rules().values() for item in loaded.check(subject)]
    kept = in_order([*_disallowed(task, found), *_allow_faults(task, found)])
    return (None if any(item.is_error for item in kept) else CheckedTask(task)), kept


def _is_allowable(slug: str) -> bool:
    loaded = all_rules().get(slug)
    return loaded is not None and loaded.rule.may_be_allowed


def _disallowed(task: Task, found: list[Diagnostic]) -> Iterator[Diagnostic]:
    allowed = {allow.slug for allow in task.allows if _is_allowable(allow.slug)}
    return (item for item in found if item.slug not in allowed)


def _allow_faults(task: Task, found: list[Diagnostic]) -> Iterator[Diagnostic]:
    reported = {item.slug for item in found}
    seen: set[str] = set()
    for allow in task.allows:
        fault = _allow_fault(allow, reported, is_repeat=allow.slug in seen)
        seen.add(allow.slug)
        if fault is not None:
            yield fault


def _allow_fault(allow: Allow, reported: set[str], *, is_repeat: bool) -> Diagnostic | None:
    known = all_rules()
    if allow.slug not in known and allow.slug not in ALLOWED_LATER:
        nearest = suggest(allow.slug, [*known, *ALLOWED_LATER])
        return UNKNOWN_RULE.found(
            f"`{allow.slug}` is not a rule",
            allow.span,
            why="Only findings of the rules are a spec's to decide on.",
            help=f"Write `{nearest}`." if nearest else "Remove it; `aespec explain` lists the rules.",
        )
    if allow.slug in known and not known[allow.slug].rule.may_be_allowed:
        return REFUSED_ALLOW.found(
            f"`{allow.slug}` can't be allowed",
            allow.span,
            why="It is wrong whatever the task means.",
            help="Mend what it reports, and remove this.",
        )
    if is_repeat or (allow.slug not in reported and allow.slug not in ALLOWED_LATER):
        return UNUSED_ALLOW.found(
            f"`allow({allow.slug})` has nothing to allow",
            allow.span,
            why="What it was written for is gone, and it would hide the next one.",
            help="Remove it.",
            fix=Fix("remove it", (TextEdit(allow.span, ""),)),
        )
    return None
