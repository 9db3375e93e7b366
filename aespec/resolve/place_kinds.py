"""Converters of attribute and argument values: texts with places, paths, sources and what is made of them."""

from __future__ import annotations

import re

from aespec.model.branches import branch_fault
from aespec.model.expressions import CallExpr, Const, Expr, Kind, Ref, Text
from aespec.resolve.context import Context, is_reference
from aespec.resolve.expressions import report_repeated_key, resolve_value
from aespec.resolve.findings import shorten
from aespec.resolve.kinds import (
    ACCOUNT,
    BAD,
    DATE,
    HOST,
    VARIABLE,
    Bad,
    Converter,
    convert_bare,
    convert_integer,
    convert_listing,
    convert_string,
    convert_strings,
    matching,
    shown,
    wrong,
)
from aespec.resolve.paths import has_control, path_fault, relative_fault, reserved_root, sketch
from aespec.resolve.schema import Field
from aespec.resolve.scope import Scope, dereference
from aespec.resolve.texts import resolve_text
from aespec.syntax.nodes import CallValue, Heredoc, ListValue, MapValue, Name, Number, String, Value


def text_of(context: Context, value: Value, field: Field, scope: Scope, slots: str = "leave") -> Text | Bad:
    """A text, perhaps with places; a bare value name is a text of one place."""
    if isinstance(value, String | Heredoc):
        return resolve_text(context, value, scope, slots=slots)
    if isinstance(value, Name) and is_reference(value):
        ref = context.reference(value.parts, value.span, scope)
        return BAD if ref is None else Text((ref,), "", span=value.span)
    return wrong(context, field, "a text", shown(value), value.span)


def _text(context: Context, value: Value, field: Field, scope: Scope) -> object:
    return text_of(context, value, field, scope, "refuse" if field.name in {"says", "sentence"} else "leave")


def checked_path(context: Context, text: Text, field: Field, rules: str) -> Text | Bad:
    """The path if it may stand here. `rules`: `file`, `folder` (a closing `/` allowed), `repo`, `leaf`."""
    path, has_refs = sketch(text, "x")
    selector = ""
    if rules == "leaf":
        path, _, selector = path.partition("#")
    if rules == "repo":
        fault = "isn't relative to the repository" if path.startswith("/") else relative_fault(path)
        if fault is None and ".git" in path.lower().split("/"):
            fault = "lies in `.git`, which git itself writes"
    elif has_refs and text.parts and not isinstance(text.parts[0], str):
        # The whole path is a value: only its evaluation can tell.
        return text
    else:
        fault = path_fault(path, is_folder_allowed=rules in {"folder", "leaf"}, is_partial=has_refs)
    if fault is None and has_control(selector):
        fault = "holds a control character"
    if fault is not None:
        context.findings.error(
            "invalid-path",
            f"the path `{shorten(path)}` {fault}",
            text.span,
            why="One address for one file: paths are absolute and normal, those of a commit relative.",
            help="Write the path as `readlink -f` would print it.",
        )
        return BAD
    return _unreserved(context, path, text)


def _unreserved(context: Context, path: str, text: Text) -> Text | Bad:
    root = reserved_root(path)
    if root is None:
        return text
    context.findings.error(
        "reserved-path",
        f"`{shorten(path)}` lies in `{root}`, which isn't the task's",
        text.span,
        why="/tests, /logs and /solution belong to the harness, /proc, /sys and /dev to the kernel.",
        help="Use another folder, such as the one in `workdir`.",
    )
    return BAD


def _path(rules: str) -> Converter:
    def convert_path(context: Context, value: Value, field: Field, scope: Scope) -> object:
        text = text_of(context, value, field, scope)
        return checked_path(context, text, field, rules) if isinstance(text, Text) else BAD

    return convert_path


def _paths(context: Context, value: Value, field: Field, scope: Scope) -> object:
    return convert_listing(context, value, field, scope, _path("folder"), "a list of paths", single=False)


def _constant_path(context: Context, value: Value, field: Field, scope: Scope) -> object:
    path = convert_string(context, value, field, scope)
    if not isinstance(path, str):
        return BAD
    text = checked_path(context, Text((path,), span=value.span), field, "file")
    return path if isinstance(text, Text) else BAD


def _edit_target(context: Context, value: Value, field: Field, scope: Scope) -> object:
    if isinstance(value, Name) and not is_reference(value):
        if value.text == "oracle":
            return "oracle"
        context.findings.unknown("unknown-value", "`oracle` nor a path", value.text, value.span, ("oracle",))
        return BAD
    return _path("file")(context, value, field, scope)


_MODE = 'octal digits in quotes, such as "0644"'


def _mode(context: Context, value: Value, field: Field, scope: Scope) -> object:
    if isinstance(value, String) and re.fullmatch(r"0?[0-7]{3,4}", value.value):
        return int(value.value, 8)
    if isinstance(value, Number):
        written = f'"{value.span.text}"' if re.fullmatch(r"0?[0-7]{3,4}", value.span.text) else ""
        return wrong(context, field, _MODE, "a number", value.span, instead=written)
    return wrong(context, field, _MODE, shown(value), value.span)


def _account(context: Context, value: Value, field: Field, scope: Scope) -> object:
    text = convert_bare(context, value, field, scope)
    if not isinstance(text, str):
        return BAD
    what = "a lower-case letter, then lower-case letters, digits, `_` and `-`, 32 in all"
    return matching(context, text, ACCOUNT, what, field, value.span)


def _network(context: Context, value: Value, field: Field, scope: Scope) -> object:
    if isinstance(value, Name) and value.text in {"none", "open"}:
        return value.text
    if isinstance(value, Name):
        context.findings.unknown("unknown-choice", "a `network`", value.text, value.span, ("none", "open"))
        return BAD
    if not isinstance(value, ListValue):
        return wrong(context, field, "`none`, `open` or a list of hosts", shown(value), value.span)
    hosts = convert_strings(context, value, field, scope)
    if not isinstance(hosts, tuple):
        return BAD
    checked = [
        matching(context, host, HOST, "a host's name, perhaps with a port", field, value.span)
        for host in hosts
    ]
    return BAD if BAD in checked else hosts


def _env(context: Context, value: Value, field: Field, scope: Scope) -> object:
    if not isinstance(value, MapValue):
        return wrong(
            context, field, "a map", shown(value), value.span, help='Write `env = { NAME = "value" }`.'
        )
    found: dict[str, Text] = {}
    for entry in value.entries:
        if entry.key in found:
            report_repeated_key(context, entry.key, value)
        what = "letters, digits and `_`"
        inner, inner_scope = dereference(entry.value, scope)
        text = text_of(context, inner, field, inner_scope)
        if matching(context, entry.key, VARIABLE, what, field, entry.span) is not BAD and isinstance(
            text, Text
        ):
            found[entry.key] = text
    return tuple(found.items())


def _date(context: Context, value: Value, field: Field, scope: Scope) -> object:
    text = convert_string(context, value, field, scope)
    if not isinstance(text, str):
        return BAD
    if not DATE.fullmatch(text):
        return wrong(context, field, 'an ISO date such as "2024-03-01"', "this text", value.span)
    from datetime import datetime

    try:
        datetime.fromisoformat(text)
    except ValueError:
        return wrong(context, field, "a day of the calendar", "this text", value.span)
    return text


def _branch(context: Context, value: Value, field: Field, scope: Scope) -> object:
    name = convert_bare(context, value, field, scope)
    fault = branch_fault(name) if isinstance(name, str) else None
    if fault is None:
        return name
    context.findings.error(
        "branch-name",
        f"the branch `{shorten(str(name))}` {fault}",
        value.span,
        why="git couldn't make it.",
        help="Use letters, digits, `.`, `_`, `-`, and `/` between.",
    )
    return BAD


def _branches(context: Context, value: Value, field: Field, scope: Scope) -> object:
    return convert_listing(context, value, field, scope, _branch, "a list of branches", single=False)


def _seed(context: Context, value: Value, field: Field, scope: Scope) -> object:
    if isinstance(value, Name) and value.text == "fresh":
        return None
    if isinstance(value, Number):
        return convert_integer(context, value, field, scope)
    return wrong(context, field, "`fresh` or a whole number", shown(value), value.span)


def _sources(context: Context, value: Value, field: Field, scope: Scope) -> object:
    return convert_listing(context, value, field, scope, _source, "a list of values and paths", single=True)


def _source(context: Context, value: Value, field: Field, scope: Scope) -> object:
    if isinstance(value, Name) and (is_reference(value)):
        return context.reference(value.parts, value.span, scope) or BAD
    if isinstance(value, String):
        return _path("folder")(context, value, field, scope)
    return wrong(context, field, "a named value or a path of the start state", shown(value), value.span)


_PLANTS = {"file": "path", "append": "path", "env": "name"}


def _plant(context: Context, value: Value, field: Field, scope: Scope) -> object:
    wanted = '`file("/path")`, `append("/path")` or `env("NAME")`'
    if not isinstance(value, CallValue) or value.name[-1] not in _PLANTS or len(value.name) != 1:
        return wrong(context, field, wanted, shown(value), value.span)
    name = value.name[0]
    parameter = _PLANTS[name]
    if len(value.args) != 1 or value.args[0].name not in {None, parameter}:
        return wrong(context, field, wanted, f"`{name}` with other arguments", value.span)
    inner, inner_scope = dereference(value.args[0].value, scope)
    content: object
    if name == "env":
        content = convert_string(context, inner, field, inner_scope)
        if isinstance(content, str):
            content = matching(context, content, VARIABLE, "letters, digits and `_`", field, inner.span)
        expr: Expr | None = Const(content, span=inner.span) if isinstance(content, str) else None
    else:
        content = _path("file")(context, inner, field, inner_scope)
        expr = content if isinstance(content, Text) else None
    return BAD if expr is None else CallExpr(name, ((parameter, expr),), span=value.span)


def _secret(context: Context, value: Value, field: Field, scope: Scope) -> object:
    if not isinstance(value, Name) or value.parts[0] != Kind.SECRET.value or len(value.parts) != 2:
        return wrong(context, field, "a secret's name, such as `secret.token`", shown(value), value.span)
    ref = context.reference(value.parts, value.span, scope)
    return ref if isinstance(ref, Ref) else BAD


def _any_value(context: Context, value: Value, field: Field, scope: Scope) -> object:
    return resolve_value(context, value, scope) or BAD


PLACES: dict[str, Converter] = {
    "account": _account,
    "account-name": _account,
    "branch": _branch,
    "branches": _branches,
    "constant-path": _constant_path,
    "date": _date,
    "edit-target": _edit_target,
    "env": _env,
    "file-path": _path("file"),
    "leaf": _path("leaf"),
    "mode": _mode,
    "network": _network,
    "path": _path("folder"),
    "paths": _paths,
    "plant": _plant,
    "repo-path": _path("repo"),
    "secret": _secret,
    "seed": _seed,
    "setup-path": _path("file"),
    "setup-path-or-folder": _path("folder"),
    "sources": _sources,
    "text": _text,
    "value": _any_value,
}
"""These converters by their kinds."""
