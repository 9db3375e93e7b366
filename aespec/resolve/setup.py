"""The start state: base, packages, accounts and steps."""

from __future__ import annotations

from collections.abc import Callable

from aespec.diagnostics.diagnostic import Label
from aespec.model.branches import branch_clash
from aespec.model.expressions import CallExpr, Const, Program, Ref, Text
from aespec.model.places import first_line
from aespec.model.task import (
    Account,
    AssetStep,
    CommitStep,
    FileStep,
    GenerateStep,
    PlantStep,
    RepoStep,
    RunStep,
    ServiceStep,
    Setup,
    SetupStep,
)
from aespec.resolve.blocks import BLOCKS
from aespec.resolve.context import Context
from aespec.resolve.declarations import resolve_program, split_sources
from aespec.resolve.files import FileFault, read_beside
from aespec.resolve.findings import listed, shorten, suggest
from aespec.resolve.library import is_taken, report_file
from aespec.resolve.paths import static_path, written_below
from aespec.resolve.reading import Item, Reading, read
from aespec.resolve.texts import resolve_text
from aespec.source import Span

LARGEST_ASSETS_BYTES = 256 * 1024**2
"""All assets of a spec together; they are held in memory while it is compiled."""

AGENT_UID = 1000
"""The first uid of people in Debian; the agent's account unless `user` gives another."""

FIRST_UID = 1100
"""Where accounts without a number of their own begin."""

# fmt: off
DEBIAN_ACCOUNTS = frozenset({
    "root", "daemon", "bin", "sys", "sync", "games", "man", "lp", "mail", "news", "uucp", "proxy", "www-data",
    "backup", "list", "irc", "nobody", "_apt",
})
# fmt: on
"""Accounts of `/etc/passwd` in debian:bookworm-slim."""


def read_setup(context: Context, reading: Reading | None, default_base: str) -> Setup:
    """The setup; without a block of it, the domain's own base and nothing else."""
    if reading is None:
        return Setup(default_base, accounts=_accounts(context, "agent", []))
    agent = reading.need("agent", str)
    users = [
        read(context, item.statement, BLOCKS[item.id], item.scope) for item in reading.named("setup.user")
    ]
    accounts = _accounts(context, agent, users)
    steps = tuple(step for item in reading.items if (step := _step(context, item)) is not None)
    dockerfile = None
    for item in reading.named("setup.dockerfile"):
        raw = read(context, item.statement, BLOCKS[item.id], item.scope)
        if raw.statement.heredoc is not None:
            dockerfile = resolve_text(context, raw.statement.heredoc, raw.scope)
    setup = Setup(
        base=reading.get("base", str) or default_base,
        apt=reading.need("apt", tuple),
        pip=reading.need("pip", tuple),
        env=reading.need("env", tuple),
        workdir=reading.need("workdir", str),
        accounts=accounts,
        agent=agent,
        steps=steps,
        dockerfile=dockerfile,
        base_span=reading.given.get("base"),
        attribute_spans=tuple(reading.given.items()),
    )
    _check_account_names(context, setup, reading)
    _check_repeats(context, setup)
    return setup


def _accounts(context: Context, agent: str, users: list[Reading]) -> tuple[Account, ...]:
    """The declared accounts, and the agent's own where it isn't among them and isn't root."""
    found: list[Account] = []
    names: dict[str, Span] = {}
    uids: dict[str, Span] = {}
    taken = {uid for user in users if (uid := user.get("uid", int)) is not None}
    free = iter(uid for uid in range(FIRST_UID, 60000) if uid not in taken)
    for user in users:
        name = user.label
        if not isinstance(name, str) or is_taken(context, name, user.span, names, "two users are called"):
            continue
        uid = user.get("uid", int)
        if uid is not None:
            is_taken(context, str(uid), user.span, uids, "two users have the uid")
        home = user.get("home", str) or f"/home/{name}"
        found.append(Account(name, uid if uid is not None else next(free), home, span=user.span))
    if agent != "root" and agent not in names:
        uid = AGENT_UID if AGENT_UID not in taken else next(free)
        found.insert(0, Account(agent, uid, f"/home/{agent}"))
    return tuple(found)


def _step(context: Context, item: Item) -> SetupStep | None:
    make = _STEPS.get(item.id)
    if make is None:
        return None
    return make(context, read(context, item.statement, BLOCKS[item.id], item.scope))


def _file(context: Context, reading: Reading) -> FileStep | None:
    heredoc = reading.statement.heredoc
    if not isinstance(reading.label, Text) or heredoc is None:
        return None
    content = resolve_text(context, heredoc, reading.scope, is_verbatim=reading.need("verbatim", bool))
    encoding = reading.need("encoding", str)
    _check_encoding(context, reading, content, encoding)
    return FileStep(
        reading.label,
        content,
        reading.need("mode", int),
        reading.need("owner", str),
        reading.need("newline", str),
        encoding,
        span=reading.span,
    )


def _check_encoding(context: Context, reading: Reading, content: Text, encoding: str) -> None:
    """Whether the constant parts of a text can be written in an encoding."""
    written = "".join(part for part in content.parts if isinstance(part, str))
    try:
        written.encode(encoding)
    except ValueError as trouble:
        context.findings.error(
            "invalid-encoding",
            f"this text can't be written as {encoding}",
            reading.given.get("encoding", reading.span),
            why=shorten(str(trouble), 100),
            help="Correct the text, or choose another `encoding`.",
        )


def _generate(context: Context, reading: Reading) -> GenerateStep | None:
    heredoc = reading.statement.heredoc
    refs, paths = split_sources(reading)
    for path in paths:
        context.findings.error(
            "wrong-type",
            "a `generate` program is given values, not paths",
            path.span,
            why="It makes the start state, which isn't there yet.",
            help="Give it a `hidden` value that both are made from.",
        )
    program = None
    if heredoc is not None:
        program = resolve_program(context, heredoc, refs, reading.scope, must_emit=False)
    if not isinstance(reading.label, Text) or not isinstance(program, Program):
        return None
    return GenerateStep(
        reading.label, program, reading.need("mode", int), reading.need("owner", str), span=reading.span
    )


def _asset(context: Context, reading: Reading) -> AssetStep | None:
    origin = reading.get("from", str)
    if origin is None:
        return None
    data = read_beside(context.folder_of(reading.span), origin)
    if isinstance(data, FileFault):
        report_file(context, data, origin, reading.given["from"])
        return None
    context.asset_bytes += len(data)
    if context.asset_bytes > LARGEST_ASSETS_BYTES:
        fault = FileFault(
            "large-asset",
            f"brings all assets above {LARGEST_ASSETS_BYTES // 1024**2} MiB",
            "Make data by `generate` programs.",
        )
        report_file(context, fault, origin, reading.given["from"])
        return None
    if not isinstance(reading.label, Text):
        return None
    mode, owner = reading.need("mode", int), reading.need("owner", str)
    return AssetStep(reading.label, origin, data, mode, owner, span=reading.span)


def _run(context: Context, reading: Reading) -> RunStep | None:
    if reading.statement.heredoc is None:
        return None
    script = resolve_text(context, reading.statement.heredoc, reading.scope)
    return RunStep(script, reading.need("user", str), reading.need("network", bool), span=reading.span)


def _service(context: Context, reading: Reading) -> ServiceStep | None:
    command = reading.get("run", Text)
    if not isinstance(reading.label, str) or command is None:
        return None
    return ServiceStep(
        reading.label,
        command,
        reading.need("user", str),
        reading.get("port", int),
        reading.get("health", Text),
        span=reading.span,
    )


def _plant(context: Context, reading: Reading) -> PlantStep | None:
    how = reading.get("how", CallExpr)
    if not isinstance(reading.label, Ref) or how is None:
        return None
    return PlantStep(reading.label, how, span=reading.span)


def _repo(context: Context, reading: Reading) -> RepoStep | None:
    commits = tuple(
        commit for item in reading.named("repo.commit") if (commit := _commit(context, item)) is not None
    )
    if not reading.named("repo.commit"):
        context.findings.error(
            "missing-block",
            "`repo` has no `commit`",
            reading.statement.keyword_span,
            why="A repository without a commit has no branch to check out.",
            help='Add `commit "first" { file "a.txt" <<<text … >>> }`.',
        )
    branches = _branches(context, commits)
    checkout, deleted = reading.need("checkout", str), reading.need("delete_branch", tuple)
    for name in (checkout, *deleted):
        if commits and name not in branches:
            span = reading.given.get("checkout" if name == checkout else "delete_branch", reading.span)
            context.findings.unknown("unknown-branch", "a branch of this repository", name, span, branches)
    if checkout in deleted:
        context.findings.error(
            "unknown-branch",
            f"`{checkout}` is checked out and deleted",
            reading.given["delete_branch"],
            why="git doesn't delete the branch that is checked out.",
            help="Name another branch in `checkout`.",
        )
    if not isinstance(reading.label, Text):
        return None
    owner = reading.need("owner", str)
    return RepoStep(reading.label, commits, deleted, checkout, owner, span=reading.span)


def _branches(context: Context, commits: tuple[CommitStep, ...]) -> set[str]:
    """The branches that commits are on; two that git can't keep beside each other are noted."""
    found: dict[str, Span] = {}
    for commit in commits:
        other = branch_clash(commit.branch, found)
        if other is not None:
            context.findings.error(
                "branch-name",
                f"the branches `{shorten(other)}` and `{shorten(commit.branch)}` can't both be there",
                commit.span,
                why="git keeps each as a file, and one would have to be the other's folder.",
                help="Rename one of them.",
                related=(Label(first_line(found[other]), "the other has its first commit here"),),
            )
        found.setdefault(commit.branch, commit.span)
    return set(found)


def _commit(context: Context, item: Item) -> CommitStep | None:
    reading = read(context, item.statement, BLOCKS[item.id], item.scope)
    files: list[FileStep | GenerateStep | AssetStep] = []
    deletes: list[Text] = []
    seen: dict[str, Span] = {}
    for child in reading.items:
        inner = read(context, child.statement, BLOCKS[child.id], child.scope)
        path = inner.get("path", Text) if child.id == "commit.delete" else inner.label
        if isinstance(path, Text) and (name := static_path(path)) is not None:
            is_taken(context, name, path.span, seen, "two statements of this commit write")
        if child.id == "commit.delete":
            if isinstance(path, Text):
                deletes.append(path)
            continue
        step = _COMMIT_FILES[child.id](context, inner)
        if step is not None:
            files.append(step)
    if not isinstance(reading.label, Text):
        return None
    return CommitStep(
        reading.label,
        tuple(files),
        tuple(deletes),
        reading.need("branch", str),
        reading.need("author", str),
        reading.need("date", str),
        span=reading.span,
    )


_COMMIT_FILES: dict[str, Callable[[Context, Reading], FileStep | GenerateStep | AssetStep | None]] = {
    "commit.file": _file,
    "commit.generate": _generate,
    "commit.asset": _asset,
}
_STEPS: dict[str, Callable[[Context, Reading], SetupStep | None]] = {
    "setup.file": _file,
    "setup.generate": _generate,
    "setup.asset": _asset,
    "setup.run": _run,
    "setup.repo": _repo,
    "setup.service": _service,
    "setup.plant": _plant,
}


def step_path(step: SetupStep) -> Text | None:
    """The path that a step writes, or None where it writes none of its own."""
    if isinstance(step, FileStep | GenerateStep | AssetStep | RepoStep):
        return step.path
    if isinstance(step, PlantStep):
        target = step.how.arg("path")
        return target if isinstance(target, Text) else None
    return None


def _check_repeats(context: Context, setup: Setup) -> None:
    """Note two steps that write one path, and a file where another step needs a folder."""
    written: dict[str, SetupStep] = {}
    files: dict[str, SetupStep] = {}
    services: dict[str, Span] = {}
    variables = {name: text.span for name, text in setup.env}
    for step in setup.steps:
        if isinstance(step, ServiceStep):
            is_taken(context, step.name, step.span, services, "two services are called")
        if isinstance(step, PlantStep) and isinstance(name := step.how.arg("name"), Const):
            is_taken(context, str(name.value), name.span, variables, "two variables are called")
        text = step_path(step)
        path = static_path(text) if text is not None else None
        if text is None or path is None or (isinstance(step, PlantStep) and step.how.name == "append"):
            continue
        if path in written:
            _report_repeat(context, step, path, written[path], "is written by two steps")
            continue
        written[path] = step
        if not isinstance(step, RepoStep) and not _ends_in_slash(text):
            files[path] = step
    for path, step in written.items():
        parent = path.rpartition("/")[0]
        while parent:
            if parent in files:
                _report_repeat(context, step, parent, files[parent], "is a file and a folder at once")
                break
            parent = parent.rpartition("/")[0]


def _ends_in_slash(text: Text) -> bool:
    return bool(text.parts) and isinstance(text.parts[-1], str) and text.parts[-1].endswith("/")


def _report_repeat(context: Context, step: SetupStep, path: str, first: SetupStep, what: str) -> None:
    context.findings.error(
        "duplicate-path",
        f"`{shorten(path)}` {what}",
        step.span,
        why="Only one of them could stand in the start state.",
        help="Remove one of the steps, or give it another path.",
        related=(Label(first_line(first.span), "the other step stands here"),),
    )


def _check_account_names(context: Context, setup: Setup, reading: Reading) -> None:
    """Owners and users must exist. Packages and build steps may make accounts that nobody sees here."""
    known = {account.name for account in setup.accounts} | DEBIAN_ACCOUNTS
    may_have_more = bool(setup.apt) or setup.dockerfile is not None
    may_have_more = may_have_more or any(isinstance(step, RunStep) for step in setup.steps)
    for step in setup.steps:
        inner = step.commits if isinstance(step, RepoStep) else ()
        for part in (step, *(item for commit in inner for item in commit.files)):
            name = getattr(part, "owner", "") or getattr(part, "user", "")
            if not name or name in known or (may_have_more and suggest(name, known) is None):
                continue
            accounts = {account.name for account in setup.accounts} | {"root"}
            context.findings.unknown(
                "unknown-account", "an account of the start state", name, part.span, accounts
            )


def made_from(setup: Setup) -> dict[str, tuple[Ref, ...]]:
    """For each path that a step writes, the values that the step is made from."""
    found: dict[str, tuple[Ref, ...]] = {}
    for step in setup.steps:
        text = step_path(step)
        path = static_path(text) if text is not None else None
        if path is None:
            continue
        refs: tuple[Ref, ...] = ()
        parts = (
            [item for commit in step.commits for item in commit.files]
            if isinstance(step, RepoStep)
            else [step]
        )
        for part in parts:
            if isinstance(part, GenerateStep):
                refs += part.program.uses
            elif isinstance(part, FileStep):
                refs += part.content.refs
            elif isinstance(part, PlantStep):
                refs += (part.secret,)
        found[path] = found.get(path, ()) + refs
    return found


def check_reads(context: Context, reads: tuple[Text, ...], setup: Setup) -> None:
    """Note paths in `from` that no step makes: their bytes aren't known before the image is built."""
    written = made_from(setup)
    has_dynamic = any(
        (text := step_path(step)) is not None and static_path(text) is None for step in setup.steps
    )
    for text in reads:
        path = static_path(text)
        if path is None or has_dynamic or written_below(path, written):
            continue
        nearest = suggest(path, written)
        context.findings.error(
            "unmade-path",
            f"no step of `setup` makes `{shorten(path)}`",
            text.span,
            why="A program sees what `file`, `generate`, `asset`, `repo` and `plant` put there; "
            "what build steps make isn't known when it runs.",
            help=f"Write `{nearest}`."
            if nearest
            else f"Use one of {listed(sorted(written)) or 'the steps'}.",
        )
