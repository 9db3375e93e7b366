"""What ships parses, is formatted, lints clean, and shows what a spec should have."""

import tomllib

import pytest

from aespec.compiler import load
from aespec.syntax import format_source, parse, print_syntax, read_source
from tests.examples.specs import EXAMPLES, NAMES, ROOT, TEMPLATES, place


@pytest.mark.parametrize("name", NAMES)
def test_lints_clean(name, tmp_path):
    task, found = load(place(name, tmp_path))
    assert task is not None
    assert [(item.slug, item.headline) for item in found] == []


@pytest.mark.parametrize("name", NAMES)
def test_is_formatted_and_prints_to_what_it_was(name, tmp_path):
    source, _ = read_source(place(name, tmp_path))
    tree, found = parse(source)
    assert not found
    assert format_source(source) == (source.text, ())
    again, found = parse(type(source)("printed.aes", print_syntax(tree)))
    assert not found
    assert again == tree


@pytest.mark.parametrize("name", NAMES)
def test_has_rules_with_rejects_and_two_accepts(name, tmp_path):
    task, _ = load(place(name, tmp_path))
    rules = {f"{check.name}.{rule.name}" for check in task.step.verify.checks for rule in check.rules}
    broken = {item for example in task.step.rejects for item in example.breaks}
    assert rules
    assert not {rule for rule in rules if rule not in broken and rule.partition(".")[2] not in broken}
    assert len(task.step.accepts) >= 2
    assert task.declarations


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_stands_in_its_domain_and_in_that_domain_s_page(name):
    task, _ = load(EXAMPLES[name])
    folder = EXAMPLES[name].parents[1]
    assert (task.name, task.domain) == (name, folder.name)
    assert f"examples/{name}.aes" in (folder / "README.md").read_text(encoding="utf-8")
    assert task.setup.base == "debian:bookworm-slim"
    assert not task.setup.pip


def test_every_domain_has_a_page_and_a_template():
    domains = {tomllib.loads(path.read_text())["name"] for path in ROOT.glob("domains/*/domain.toml")}
    assert domains == {name.removeprefix("new-") for name in TEMPLATES}
    assert domains == {path.parent.name for path in ROOT.glob("domains/*/README.md")}


def test_the_first_command_of_the_readme_needs_little():
    task, _ = load(EXAMPLES["ledger-reconcile"])
    assert task.setup.apt == ("python3",)
