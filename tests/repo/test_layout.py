"""What lies where: the top level, the names of modules, and what no file may say."""

import ast
import itertools
import re

import pytest

from tests.repo import sources

TOP_LEVEL = {
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "aespec",
    "benchmarks",
    "docs",
    "domains",
    "grammar",
    "pyproject.toml",
    "templates",
    "tests",
}
# Names that say nothing of what is in them; a module is named after the thing that it holds.
VAGUE = re.compile(r"^(utils?|helpers?|managers?|common|misc|shared)$")
# A published file names no machine of its makers and no host of a registry: both differ where it is read.
MACHINES_AND_REGISTRIES = (
    r"(?<![\w.$}])/work/(?:main|shared)\b",
    r"(?<![\w.$}])/work/\.",
    r"(?<![\w.$}])/tmp/brief\b",
    r"/root/\.cache/aespec",
    r"\bpypi\.org\b",
    r"\bfiles\.pythonhosted\.org\b",
    r"\b(?:deb|security|snapshot|ftp)\.debian\.org\b",
    r"\bregistry\.npmjs\.org\b",
    r"\bregistry(?:-1)?\.docker\.io\b",
)
FORBIDDEN = re.compile("|".join(MACHINES_AND_REGISTRIES))


def test_the_top_level_holds_only_what_was_agreed():
    names = {path.relative_to(sources.ROOT).parts[0] for path in sources.project_files()}
    strange = {name for name in names - TOP_LEVEL if not name.startswith(".")}
    assert not strange, f"these belong elsewhere: {sorted(strange)}"


def test_modules_are_named_after_what_they_hold():
    vague = [
        sources.shown(path)
        for path in sources.modules("aespec", "domains", "tests", "benchmarks")
        if any(VAGUE.match(part) for part in [*path.relative_to(sources.ROOT).parts[:-1], path.stem])
    ]
    assert not vague, f"named after nothing: {vague}"


def test_no_file_names_a_machine_or_a_registry():
    found = []
    for path in sources.project_files():
        if path == sources.ROOT / "tests/repo/test_layout.py":
            continue
        text = path.read_bytes().decode("utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            found += [f"{sources.shown(path)}:{number}: {hit.group()}" for hit in FORBIDDEN.finditer(line)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text", ["cd /work/main", "see `/work/.x`", "https://pypi.org/simple", "/root/.cache/aespec-ci"]
)
def test_the_words_are_found(text):
    assert FORBIDDEN.search(text)


@pytest.mark.parametrize("text", ["$dir/work/main", "upper/work/main", "/workspace/main", "/work/data"])
def test_a_task_may_have_a_folder_of_that_name(text):
    assert not FORBIDDEN.search(text)


def test_every_script_is_bash_that_stops_at_an_error():
    scripts = [path for path in sources.project_files() if path.parent == sources.ROOT / ".ci"]
    assert scripts
    for path in scripts:
        text = path.read_text(encoding="utf-8")
        if path.stat().st_mode & 0o100:
            assert text.startswith("#!/usr/bin/env bash\n"), path
            assert "\nset -euo pipefail\n" in text, path


# What a count is read off, and a plural that stands behind it whatever the count is.
COUNTS = re.compile(r"\blen\((?![A-Z_]+\))|\bsum\(|\['count'\]")
FIXED_PLURAL = re.compile(r"^ [a-z][a-z -]*?[a-z]s\b")


def fixed_plurals(module):
    """The lines of a module that put a count before a plural, which is wrong for 1."""
    for node in ast.walk(module):
        parts = node.values if isinstance(node, ast.JoinedStr) else []
        for value, text in itertools.pairwise(parts):
            if (
                isinstance(value, ast.FormattedValue)
                and isinstance(text, ast.Constant)
                and COUNTS.search(ast.unparse(value.value))
                and "counted(" not in ast.unparse(value.value)
                and FIXED_PLURAL.match(text.value)
            ):
                yield node.lineno, text.value


def test_a_noun_follows_its_count():
    found = [
        f"{sources.shown(path)}:{line}{text}"
        for path in sources.modules("aespec")
        for line, text in fixed_plurals(sources.tree(path))
    ]
    assert not found, "\n".join(found)


def test_a_fixed_plural_is_found():
    text = 'f"{len(found)} errors" f"{counted(len(found), 0)} are" f"{len(a)} of {len(b)} runs in" f"{n} s"'
    assert [text for _, text in fixed_plurals(ast.parse(text))] == [" errors", " runs in"]
