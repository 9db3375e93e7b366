"""The oracle, and what stands beside it: accepts, rejects and partials."""

from __future__ import annotations

from aespec.model.edits import occurrences
from aespec.model.expressions import Text
from aespec.model.task import AuthorEdit, DeleteEdit, Example, PutEdit, Script, SwapEdit, Verify
from aespec.resolve.blocks import BLOCKS
from aespec.resolve.context import Context
from aespec.resolve.findings import listed, shorten
from aespec.resolve.library import is_taken
from aespec.resolve.programs import ProgramFault, read_program
from aespec.resolve.reading import Item, Reading, read
from aespec.resolve.texts import resolve_text
from aespec.source import Span
from aespec.syntax.nodes import Heredoc, Name


def read_script(context: Context, reading: Reading) -> Script | None:
    """A script with its tag as interpreter. Python is read, where no value stands in it."""
    heredoc = reading.statement.heredoc
    if heredoc is None or heredoc.tag not in {"sh", "python", "ui"}:
        return None
    text = resolve_text(context, heredoc, reading.scope)
    if heredoc.tag == "python" and not text.refs:
        _check_python(context, heredoc)
    if not heredoc.text.strip():
        context.findings.error(
            "empty-text",
            f"`{reading.block.keyword}` has an empty script",
            reading.statement.keyword_span,
            why="A script that does nothing leaves the start state.",
            help="Write what it does; for a solution that does nothing write `true`.",
        )
    return Script(heredoc.tag, text, span=reading.span)


def _check_python(context: Context, heredoc: Heredoc) -> None:
    names = read_program(heredoc.text)
    if isinstance(names, ProgramFault):
        from aespec.resolve.program_faults import report_fault

        report_fault(context, heredoc, names, "script")


def read_examples(
    context: Context, items: list[Item], verify: Verify, oracle: Script | None
) -> tuple[Example, ...]:
    """Accepts, rejects and partials, with `breaks` as `CHECK` or `CHECK.RULE`."""
    taken: dict[str, dict[str, Span]] = {}
    found = []
    for item in items:
        reading = read(context, item.statement, BLOCKS[item.id], item.scope)
        example = _example(context, reading, verify, oracle)
        if example is None:
            continue
        what = f"two `{example.kind}` are called"
        if not is_taken(context, example.name, example.span, taken.setdefault(example.kind, {}), what):
            found.append(example)
    return tuple(found)


def _example(context: Context, reading: Reading, verify: Verify, oracle: Script | None) -> Example | None:
    name = _constant_name(context, reading)
    breaks = _breaks(context, reading, verify) if "breaks" in reading.given else ()
    body: Script | tuple[AuthorEdit, ...] | None
    if reading.statement.body is not None:
        body = _edits(context, reading, oracle)
    else:
        body = read_script(context, reading)
    if name is None or body is None:
        return None
    return Example(
        reading.block.keyword,
        name,
        body,
        breaks,
        reading.get("instance", int),
        reading.get("reward", float),
        span=reading.span,
    )


def _constant_name(context: Context, reading: Reading) -> str | None:
    label = reading.label
    if not isinstance(label, Text):
        return None
    name = "".join(part for part in label.parts if isinstance(part, str)).strip()
    if label.refs or not name or len(name) > 200 or "\n" in name:
        context.findings.error(
            "invalid-name",
            f"the name of `{reading.block.keyword}` is a line of text without values",
            label.span,
            why="Reports and replays call it by its name.",
            help='Write a few words, such as "counts duplicates".',
        )
        return None
    return name


def _breaks(context: Context, reading: Reading, verify: Verify) -> tuple[str, ...]:
    """The names as ids; a rule may be named alone where no other check has one of that name."""
    checks = {check.name for check in verify.checks}
    rules: dict[str, list[str]] = {}
    for check in verify.checks:
        for rule in check.rules:
            full = f"{check.name}.{rule.name}"
            rules.setdefault(rule.name, []).append(full)
            rules[full] = [full]
    found: list[str] = []
    for name in reading.get("breaks", tuple) or ():
        if not isinstance(name, Name):
            continue
        ids = [name.text] if name.text in checks else rules.get(name.text, [])
        if len(ids) == 1:
            found.append(ids[0])
        elif not ids:
            what = "a check or a rule of this task"
            context.findings.unknown("unknown-check", what, name.text, name.span, checks | set(rules))
        else:
            context.findings.error(
                "ambiguous-name",
                f"`{name.text}` is a rule of several checks",
                name.span,
                why=f"It may be {listed(ids)}.",
                help=f"Write `{ids[0]}`.",
            )
    return tuple(dict.fromkeys(found))


def _edits(context: Context, reading: Reading, oracle: Script | None) -> tuple[AuthorEdit, ...]:
    found: list[AuthorEdit] = []
    for item in reading.items:
        inner = read(context, item.statement, BLOCKS[item.id], item.scope)
        edit = _edit(context, item, inner)
        if edit is not None:
            found.append(edit)
    if not reading.items:
        context.findings.error(
            "empty-text",
            f"`{reading.block.keyword}` changes nothing",
            reading.statement.keyword_span,
            why="Without an edit it ends in the oracle's own state.",
            help='Add `swap(oracle, "old", "new")`, `put("/path") <<<text … >>>` or `delete("/path")`.',
        )
    _check_swaps(context, found, oracle)
    return tuple(found)


def _edit(context: Context, item: Item, reading: Reading) -> AuthorEdit | None:
    path = reading.get("path", Text)
    if item.id == "edit.swap":
        old, new = reading.get("old", Text), reading.get("new", Text)
        if old is None or new is None or (path is None and reading.values.get("path") != "oracle"):
            return None
        return SwapEdit(path, old, new, span=reading.span)
    if path is None:
        return None
    if item.id == "edit.delete":
        return DeleteEdit(path, span=reading.span)
    heredoc = reading.statement.heredoc
    if heredoc is None:
        return None
    content = resolve_text(context, heredoc, reading.scope, is_verbatim=reading.need("verbatim", bool))
    return PutEdit(path, content, span=reading.span)


def _check_swaps(context: Context, edits: list[AuthorEdit], oracle: Script | None) -> None:
    """Follow the swaps of the oracle's program as far as no value stands in it."""
    if oracle is None:
        return
    parts = [part if isinstance(part, str) else None for part in oracle.text.parts]
    for edit in edits:
        if not isinstance(edit, SwapEdit) or edit.path is not None:
            continue
        if edit.old.refs or edit.new.refs:
            return
        old = "".join(part for part in edit.old.parts if isinstance(part, str))
        count = sum(occurrences(part, old) for part in parts if part is not None)
        if count != 1 and (count > 1 or None not in parts or not old):
            _report_swap(context, edit, count, old)
            return
        new = "".join(part for part in edit.new.parts if isinstance(part, str))
        parts = [part.replace(old, new) if part is not None else None for part in parts]


def _report_swap(context: Context, edit: SwapEdit, count: int, old: str) -> None:
    times = "doesn't stand" if count == 0 else f"stands {count} times"
    context.findings.error(
        "swap-not-once",
        f"`{shorten(old, 40)}` {times} in the oracle's program",
        edit.old.span,
        why="A swap says exactly which place it changes.",
        help="Copy the text from the oracle, with as much around it as makes it stand once.",
    )
