"""Repositories: what git makes of the stream, that ids repeat, and what is refused."""

import subprocess
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aespec.bundle.repository import RepositoryError, build_repository, folders_of, import_stream
from aespec.evaluate.start_state import start_files
from aespec.model.branches import branch_clash, branch_fault
from aespec.model.instance import FixtureFile, RepoFiles
from aespec.model.task import Setup
from tests.bundle.making import commit, repo_step

ENV = {
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "PATH": "/usr/bin:/bin",
}


def made(commits):
    """The files of the commits, as the evaluator makes them."""
    files = tuple(
        tuple(
            FixtureFile("".join(put.path.parts), "".join(put.content.parts).encode(), put.mode)
            for put in one.files
        )
        for one in commits
    )
    return RepoFiles("/app", files, "agent")


def built(*commits, **more):
    return build_repository(repo_step("/app", *commits, **more), made(commits), {})


def git(folder, *args, **more):
    return subprocess.run(["git", *args], cwd=folder, env=ENV, check=True, capture_output=True, **more).stdout


def imported(folder, repository):
    folder.mkdir()
    git(folder, "init", "-q", "--template=", ".")
    git(folder, "symbolic-ref", "HEAD", f"refs/heads/{repository.checkout}")
    git(folder, "fast-import", "--quiet", "--done", input=import_stream(repository))
    git(folder, "update-ref", "-d", "refs/heads/aespec-import")
    git(folder, "reset", "-q", "--hard")
    return folder


HISTORY = (
    commit("first\n\nwith a body", ("a.py", "x = 1\n"), ("src/b.py", "y\n"), ("old", "z")),
    commit("wip", ("secret.py", "key = 1\n"), branch="wip"),
    commit(
        "second",
        ("a.py", "x = 2\n"),
        deletes=["old"],
        author="Ann Lee <ann@example.org>",
        date="2024-05-01T10:00:00+02:00",
    ),
    commit("side", ("c", "c"), branch="side/way"),
)


@pytest.mark.needs("git")
def test_git_makes_the_history_that_was_planned(tmp_path):
    repository = built(*HISTORY, deleted_branches=("wip",))
    folder = imported(tmp_path / "r", repository)
    log = git(folder, "log", "--format=%an <%ae> %aI %s", "main").decode().splitlines()
    assert log == [
        "Ann Lee <ann@example.org> 2024-05-01T10:00:00+02:00 second",
        "Alex Doe <alex@example.com> 2024-01-01T09:00:00+00:00 first",
    ]
    assert git(folder, "branch", "--format=%(refname:short)").decode().split() == ["main", "side/way"]
    assert git(folder, "status", "--short") == b""
    tree = {path: (folder / path).read_bytes() for path in git(folder, "ls-files").decode().split()}
    assert tree == {path: blob.data for path, blob in repository.worktree.items()}
    assert tree == {"a.py": b"x = 2\n", "src/b.py": b"y\n"}
    assert git(folder, "log", "-1", "--format=%B", "main~1").decode() == "first\n\nwith a body\n\n"


@pytest.mark.needs("git")
def test_a_deleted_branch_is_found_by_who_looks_for_it_and_nothing_else_is(tmp_path):
    folder = imported(tmp_path / "r", built(*HISTORY, deleted_branches=("wip",)))
    dangling = [line.split()[-1] for line in git(folder, "fsck").decode().splitlines()]
    assert len(dangling) == 1
    assert git(folder, "show", "-s", "--format=%s", dangling[0]).decode().strip() == "wip"
    assert git(folder, "fsck", "--unreachable").decode().count("commit") == 1
    kept = imported(tmp_path / "kept", built(*HISTORY))
    assert git(kept, "fsck", "--unreachable", "--no-reflogs") == b""


@pytest.mark.needs("git")
def test_commit_ids_are_the_same_every_time(tmp_path):
    heads = [
        git(imported(tmp_path / name, built(*HISTORY)), "rev-parse", "HEAD") for name in ("one", "another")
    ]
    assert heads[0] == heads[1]


# Git refuses what is `.git` on some system: with ignored characters in it, or by its short name.
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=20).filter(
    lambda name: not name.startswith((".", "git~", "GIT~", " .")) and len(name.encode()) < 200
)


@pytest.mark.needs("git")
@settings(max_examples=20)
@given(names=st.lists(NAMES, min_size=1, max_size=5, unique_by=str.lower), data=st.binary(max_size=50))
def test_any_name_and_any_bytes_come_through(tmp_path_factory, names, data):
    step = repo_step("/app", commit("all"))
    files = (tuple(FixtureFile(f"d/{name}", data) for name in names),)
    repository = build_repository(step, RepoFiles("/app", files), {})
    folder = tmp_path_factory.mktemp("any") / "r"
    imported(folder, repository)
    listed = git(folder, "ls-files", "-z").split(b"\0")[:-1]
    assert sorted(listed) == sorted(f"d/{name}".encode() for name in names)
    assert {(folder / name.decode()).read_bytes() for name in listed} == {data}


def test_folders_come_outer_first():
    tree = built(commit("x", ("a/b/c", ""), ("a/d", ""), ("e", ""))).worktree
    assert folders_of(tree) == ["a", "a/b"]


def test_a_file_that_can_be_run_keeps_that():
    step = commit("x", ("a", ""))
    step = replace(step, files=(replace(step.files[0], mode=0o700),))
    assert built(step).worktree["a"].mode == 0o755


@pytest.mark.parametrize(
    ("commits", "more", "slug"),
    [
        ([commit("x", ("../a", ""))], {}, "commit-path"),
        ([commit("x", ("/etc/a", ""))], {}, "commit-path"),
        ([commit("x", (".git/config", ""))], {}, "commit-path"),
        ([commit("x", ("a/.GIT/config", ""))], {}, "commit-path"),
        ([commit("x", ("a//b", ""))], {}, "commit-path"),
        ([commit("x", ("a\0b", ""))], {}, "commit-path"),
        ([commit("x", ("a", "")), commit("y", ("a/b", ""))], {}, "commit-path"),
        ([commit("x", ("a/b", "")), commit("y", ("a", ""))], {}, "commit-path"),
        ([commit("x", deletes=["a"])], {}, "commit-path"),
        ([commit("x", branch="a..b")], {}, "branch-name"),
        ([commit("x", branch="-a")], {}, "branch-name"),
        ([commit("x", branch="a.lock")], {}, "branch-name"),
        ([commit("x", branch="a b")], {}, "branch-name"),
        ([commit("x", branch="aespec-import")], {}, "branch-name"),
        ([commit("x", branch="aespec-import/x")], {}, "branch-name"),
        ([commit("x"), commit("y", branch="main/x")], {}, "branch-name"),
        ([commit("x", branch="a/b/c"), commit("y", branch="a/b")], {}, "branch-name"),
        ([commit("x", author="A <a@b> c\nd")], {}, "commit-author"),
        ([commit("x", date="yesterday")], {}, "commit-date"),
        ([commit("x", date="1960-01-01")], {}, "commit-date"),
        ([commit("x")], {"deleted_branches": ("wip",)}, "unknown-branch"),
        ([commit("x")], {"deleted_branches": ("main",)}, "unknown-branch"),
        ([], {}, "unknown-branch"),
        ([commit("x", branch="dev")], {}, "unknown-branch"),
    ],
)
def test_what_git_could_not_hold_is_refused_with_help(commits, more, slug):
    with pytest.raises(RepositoryError) as refused:
        built(*commits, **more)
    assert refused.value.slug == slug
    assert refused.value.remedy


@pytest.mark.needs("git")
@given(st.text("aZ0_-./~^:?*[\\@{} \t\x01\x7flock#'\"$ü+", max_size=8) | st.text(max_size=4))
def test_branches_are_refused_where_git_refuses_them_and_nowhere_else(name):
    if "\0" in name:
        assert branch_fault(name)
        return
    asked = subprocess.run(["git", "check-ref-format", f"refs/heads/{name}"], env=ENV, check=False)
    # The rest of `--branch`, which would also look `@{-1}` up.
    is_fit = asked.returncode == 0 and not name.startswith("-") and name not in {"HEAD", "@"}
    assert (branch_fault(name) is None) == is_fit


@pytest.mark.needs("git")
def test_git_takes_the_branches_that_are_let_through(tmp_path):
    names = ["fix/#12-ü", "it's", 'a"b', "$x", "a;b", "{}", "x" * 250]
    history = [commit(name, ("a", name), branch=name) for name in names]
    folder = imported(tmp_path / "r", built(*history, checkout=names[0]))
    raw = git(folder, "for-each-ref", "--format=%(refname:lstrip=2)").decode().split("\n")
    assert sorted(raw) == sorted([*names, ""])
    assert (folder / "a").read_text() == names[0]


def test_two_branches_of_which_one_would_be_a_folder_of_the_other_clash():
    assert branch_clash("main/x", ["dev", "main"]) == "main"
    assert branch_clash("a", ["a-b", "a/b"]) == "a/b"
    assert branch_clash("a", ["a", "ab", "b/a"]) is None


def test_programs_see_the_files_that_the_checkout_leaves():
    for checkout in ("main", "side/way", "wip"):
        repository = built(*HISTORY, checkout=checkout)
        step = repo_step("/app", *HISTORY, checkout=checkout)
        found = start_files(Setup(base="x", steps=(step,)), [], [made(HISTORY)], {})
        assert found == {f"/app/{path}": blob.data for path, blob in repository.worktree.items()}
