"""The README shows what is true: its spec is a good one, its links and paths lead somewhere."""

import re
from pathlib import Path

from aespec.cli.app import COMMANDS
from aespec.compiler import load_text
from aespec.source import Source
from aespec.syntax import format_source

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text()


def test_its_spec_is_formatted_and_lints_clean_but_for_the_lock():
    (block,) = re.findall(r"```aes\n(.*?)```", TEXT, re.DOTALL)
    task, found = load_text(Source("README.md", block))
    assert task is not None
    assert {item.slug for item in found} == {"unpinned"}
    assert format_source(Source("README.md", block)) == (block, ())


def test_its_links_and_paths_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    paths = re.findall(r"domains/\S+\.aes|\.ci/\w+", TEXT)
    assert links
    assert paths
    assert [path for path in [*links, *paths] if not (ROOT / path).exists()] == []


def test_its_commands_are_commands():
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL))
    called = set(re.findall(r"aespec ([a-z]+) ", blocks))
    assert {"new", "lint", "trial", "certify", "compile"} <= called
    assert called <= COMMANDS.keys()
