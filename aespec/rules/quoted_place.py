"""A place stands inside a string or quotes.

## What
A place such as `{{ p.host }}` stands inside a string literal of a Python text, or inside quotes or a
here-document of a shell text, and its value may be a text.

## Why
A value is written in as a whole literal with quotes of its own: `"{{ p.host }}/a"` becomes `"'mint'/a"` in
Python, and so it does in a shell wherever the value has a blank or another special character. Numbers, and in
a shell plain words, are written without quotes and aren't reported.

## Bad
    oracle <<<python
      print("host {{ p.host }}")
    >>>

## Good
    oracle <<<python
      host = {{ p.host }}
      print(f"host {host}")
    >>>
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.model.expressions import CallExpr, Expr, Kind, Program, Ref
from aespec.model.quoting import write_plain
from aespec.model.task import Computed, Param, Task
from aespec.rules.api import Rule, Subject, constant, content_texts, quoted_places

RULE = Rule("quoted-place", Severity.WARNING)

_NUMBERS = frozenset({"int", "float", "log_int", "bool"})
_PLAIN_WORDS = frozenset({"date", "hex"})


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Places in quotes, in every text that is tagged `sh` or `python`."""
    for text in content_texts(subject.task):
        if text.tag not in ("sh", "python"):
            continue
        for ref, where in quoted_places(text):
            if not _stands_bare(subject.task, ref, text.tag):
                name = ".".join((ref.kind.value, ref.name, *ref.path))
                yield RULE.found(
                    f"`{{{{ {name} }}}}` stands inside {where}, and its value brings quotes of its own",
                    ref.span,
                    why=f"In `{text.tag}` a value is written in as a whole literal.",
                    help=_help(name, ref, where),
                )


def _help(name: str, ref: Ref, where: str) -> str:
    place, variable = f"{{{{ {name} }}}}", (*ref.path, ref.name)[0]
    if where == "a string":
        return f"Write `{variable} = {place}` on a line of its own, and name `{variable}` in an f-string."
    if where == "quotes":
        return f'End the quotes before it: `"…/"{place}"/…"`.'
    return f"Write `{variable}={place}` before it and `${variable}` in it, with the end word unquoted."


def _stands_bare(task: Task, ref: Ref, tag: str) -> bool:
    """Whether the value is surely written without quotes."""
    if ref.path:
        return False
    for item in task.declarations:
        if isinstance(item, Param) and ref.kind is Kind.PARAM and item.name == ref.name:
            return _is_bare(item.generator, tag)
        if isinstance(item, Computed) and (item.kind, item.name) == (ref.kind, ref.name):
            return not isinstance(item.body, Program) and _is_bare(item.body, tag)
    return False


def _is_bare(expr: Expr, tag: str) -> bool:
    if isinstance(expr, CallExpr):
        if expr.name == "choice":
            return all(_is_bare(item, tag) for _, arg in expr.args for item in _items(arg))
        return expr.name in _NUMBERS or (tag == "sh" and expr.name in _PLAIN_WORDS)
    value = constant(expr)
    if value is None:
        return False
    if tag == "python":
        return isinstance(value[0], bool | int | float)
    plain = write_plain(value[0])
    return shlex.quote(plain) == plain


def _items(expr: Expr) -> tuple[Expr, ...]:
    return getattr(expr, "items", (expr,))
