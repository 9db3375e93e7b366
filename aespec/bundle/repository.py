"""A git repository of the start state: its history as a stream of commits, and the files that it checks out.

The stream is what `git fast-import` reads. It fixes names and dates, so commit ids are the same in every
build. The commits of a deleted branch are in it, to be found by who looks for dangling objects: that is what
an author deletes a branch for. Nothing else is ever unreachable, for the history is written only once.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from aespec.model.branches import IMPORTED, branch_clash, branch_fault
from aespec.model.expressions import Values
from aespec.model.instance import FixtureFile, RepoFiles
from aespec.model.rendering import render
from aespec.model.task import CommitStep, RepoStep
from aespec.source import Span

FIRST_COMMIT = datetime(2024, 1, 1, 9, 0, tzinfo=UTC)
"""The date of a first commit without one; each commit after it is an hour later."""

AUTHOR = "Alex Doe <alex@example.com>"
"""Who wrote a commit that names nobody."""


class RepositoryError(ValueError):
    """The history can't be made; `span` is where it is written, `slug` names the kind, `remedy` helps."""

    def __init__(self, slug: str, message: str, span: Span, remedy: str) -> None:
        """See the class."""
        super().__init__(message)
        self.slug = slug
        self.span = span
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Blob:
    """A file in a commit: bytes, and 0o644 or 0o755."""

    data: bytes
    mode: int


Tree = Mapping[str, Blob]


@dataclass(frozen=True, slots=True)
class Grown:
    """What a commit leaves: its whole tree; `parent` is an index into the history, None for the first."""

    parent: int | None
    tree: Tree


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit with its whole tree; `parent` is an index into the history, None for the first."""

    message: str
    author: str
    date: str
    parent: int | None
    tree: Tree


@dataclass(frozen=True, slots=True)
class Repository:
    """A history: commits in the order written, the branches that live on, and the one checked out."""

    path: str
    owner: str
    commits: tuple[Commit, ...]
    branches: Mapping[str, int]
    checkout: str

    @property
    def worktree(self) -> Tree:
        """The files that the checkout leaves, by path relative to the repository."""
        return self.commits[self.branches[self.checkout]].tree


def build_repository(step: RepoStep, files: RepoFiles, values: Values) -> Repository:
    """The history; a branch starts from the commit written before its first. Raises `RepositoryError`."""
    commits: list[Commit] = []
    branches: dict[str, int] = {}
    for at, (written, puts, grown) in enumerate(
        zip(step.commits, files.commits, grow(step, files, values), strict=True)
    ):
        _check_branch(written.branch, branches, written.span)
        _check_change(commits[grown.parent].tree if grown.parent is not None else {}, written, puts, values)
        message = render(written.message, values)
        commits.append(Commit(message, _author(written), _date(written, at), grown.parent, grown.tree))
        branches[written.branch] = at
    for name in step.deleted_branches:
        if name not in branches:
            remedy = f"There are {', '.join(sorted(branches))}."
            raise RepositoryError("unknown-branch", f"no commit is on the branch {name}", step.span, remedy)
        del branches[name]
    if step.checkout not in branches:
        remedy = (
            f"Check out one of {', '.join(sorted(branches)) or 'its branches'}, or commit to {step.checkout}."
        )
        message = f"the repository has no branch {step.checkout} to check out"
        raise RepositoryError("unknown-branch", message, step.span, remedy)
    return Repository(files.path, files.owner, tuple(commits), branches, step.checkout)


def grow(step: RepoStep, files: RepoFiles, values: Values) -> tuple[Grown, ...]:
    """What each commit leaves, as far as its files are made; what no history could hold is passed over."""
    found: list[Grown] = []
    tips: dict[str, int] = {}
    for at, (written, puts) in enumerate(zip(step.commits, files.commits, strict=True)):
        parent = tips.get(written.branch, at - 1 if at else None)
        tree = dict(found[parent].tree) if parent is not None else {}
        for delete in written.deletes:
            tree.pop(render(delete, values), None)
        tree.update((put.path, Blob(put.data, 0o755 if put.mode & 0o111 else 0o644)) for put in puts)
        found.append(Grown(parent, tree))
        tips[written.branch] = at
    return tuple(found)


def checked_out(step: RepoStep, files: RepoFiles, values: Values) -> Tree:
    """The files that the checkout leaves, as far as they are made; of no commit, none."""
    grown = grow(step, files, values)
    tips = [at for at, written in enumerate(step.commits) if written.branch == step.checkout]
    return grown[tips[-1] if tips else -1].tree if grown else {}


def import_stream(repository: Repository) -> bytes:
    """The input of `git fast-import`: every commit, then the branches that live on."""
    parts: list[bytes] = []
    for at, commit in enumerate(repository.commits):
        parts += _commit_parts(at, commit, repository.commits)
    for name, at in sorted(repository.branches.items()):
        parts.append(f"reset refs/heads/{name}\nfrom :{at + 1}\n\n".encode())
    return b"".join([*parts, b"done\n"])


def folders_of(tree: Tree) -> list[str]:
    """The folders of a tree, relative, outer ones first."""
    found: set[str] = set()
    for path in tree:
        folder = posixpath.dirname(path)
        while folder:
            found.add(folder)
            folder = posixpath.dirname(folder)
    return sorted(found)


def _commit_parts(at: int, commit: Commit, commits: Sequence[Commit]) -> Iterator[bytes]:
    who = f"{commit.author} {commit.date}"
    # No branch moves here: a ref below a name of its own is replaced by the last lines of the stream.
    yield f"commit refs/heads/{IMPORTED}\nmark :{at + 1}\nauthor {who}\ncommitter {who}\n".encode()
    yield _data((commit.message.rstrip("\n") + "\n").encode())
    before: Tree = {}
    if commit.parent is not None:
        before = commits[commit.parent].tree
        yield f"from :{commit.parent + 1}\n".encode()
    for path in sorted(before.keys() - commit.tree.keys()):
        yield b"D " + _quote_path(path) + b"\n"
    for path, blob in sorted(commit.tree.items()):
        if before.get(path) != blob:
            yield f"M 100{blob.mode:o} inline ".encode() + _quote_path(path) + b"\n" + _data(blob.data)
    yield b"\n"


def _data(data: bytes) -> bytes:
    return f"data {len(data)}\n".encode() + data + b"\n"


def _quote_path(path: str) -> bytes:
    """A path in C's quoting: everything but plain ASCII as octal bytes."""
    plain = frozenset(range(0x20, 0x7F)) - set(b'"\\')
    body = b"".join(bytes([byte]) if byte in plain else b"\\%03o" % byte for byte in path.encode())
    return b'"' + body + b'"'


def _check_change(before: Tree, step: CommitStep, puts: Sequence[FixtureFile], values: Values) -> None:
    """Refuse a commit that deletes what isn't there, or puts a file where a folder is, or the reverse."""
    tree = set(before)
    for delete in step.deletes:
        path = _check_path(render(delete, values), delete.span)
        if path not in tree:
            remedy = "Delete only what an earlier commit of its branch put there."
            raise RepositoryError("commit-path", f"{path} isn't there to delete", delete.span, remedy)
        tree.remove(path)
    for put in puts:
        path = _check_path(put.path, step.span)
        outer = path
        while outer := posixpath.dirname(outer):
            if outer in tree:
                message = f"{outer} is a file, and {path} wants a folder there"
                raise RepositoryError("commit-path", message, step.span, "Delete it first.")
        if any(other.startswith(f"{path}/") for other in tree):
            message = f"{path} is a folder already"
            raise RepositoryError("commit-path", message, step.span, "Delete its files first.")
        tree.add(path)


def _check_path(path: str, span: Span) -> str:
    parts = path.split("/")
    is_bad = any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)
    if is_bad or "\0" in path:
        remedy = "Write a path relative to the repository, without `..` and not below .git."
        raise RepositoryError("commit-path", f"{path!r} is no path for a file of a repository", span, remedy)
    return path


def _check_branch(name: str, others: Iterable[str], span: Span) -> None:
    fault = branch_fault(name)
    if fault is not None:
        remedy = "Use letters, digits, `.`, `_`, `-`, and `/` between."
        raise RepositoryError("branch-name", f"the branch {name!r} {fault}", span, remedy)
    other = branch_clash(name, others)
    if other is not None:
        message = f"git keeps branches as files, so {name} and {other} can't both be there"
        raise RepositoryError("branch-name", message, span, "Rename one of them.")


_PERSON = re.compile(r"(?P<name>[^<>\x00-\x1f\x7f]+?)(?:\s*<(?P<mail>[^<>\s\x00-\x1f\x7f]+)>)?")


def _author(step: CommitStep) -> str:
    found = _PERSON.fullmatch(step.author.strip() or AUTHOR)
    if found is None:
        raise RepositoryError(
            "commit-author", f"{step.author!r} names nobody", step.span, 'Write "Name <mail@example.com>".'
        )
    name = found["name"].strip()
    mail = found["mail"] or re.sub(r"[^a-z0-9]+", ".", name.lower()).strip(".") + "@example.com"
    return f"{name} <{mail}>"


def _date(step: CommitStep, at: int) -> str:
    """Seconds and offset, as git writes dates; a date without an offset is UTC."""
    moment = FIRST_COMMIT + timedelta(hours=at)
    if step.date:
        try:
            moment = datetime.fromisoformat(step.date)
        except ValueError:
            message = f"{step.date!r} is no date"
            raise RepositoryError("commit-date", message, step.span, 'Write "2024-05-01T10:00:00".') from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    seconds = int(moment.timestamp())
    if seconds < 0:
        raise RepositoryError("commit-date", f"{step.date} is before 1970", step.span, "Write a later date.")
    return f"{seconds} {moment.strftime('%z')[:5]}"
