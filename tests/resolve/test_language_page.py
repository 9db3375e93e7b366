"""The page on the language names every word of the table of blocks, and its examples resolve."""

import re
from pathlib import Path

import pytest

from aespec.resolve.blocks import BLOCKS, EXPANDED, LANGUAGES, RESERVED_WORDS, places_of
from aespec.resolve.converters import CONVERTERS
from aespec.resolve.generators import GENERATORS

PAGE = (Path(__file__).parents[2] / "docs" / "language.md").read_text(encoding="utf-8")
LABELS = {"", "file-name", "id", "name", "task-name", "text", "value-name", "account-name"}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=lambda block: block.id)
def test_every_word_stands_on_the_page(block):
    for word in (block.keyword, *(field.name for field in (*block.args, *block.attributes))):
        assert re.search(rf"\b{word}\b", PAGE), word


@pytest.mark.parametrize("block", BLOCKS.values(), ids=lambda block: block.id)
def test_the_table_is_whole(block):
    assert block.doc.endswith(".")
    assert set(block.children) <= set(BLOCKS)
    assert block.label in LABELS | set(CONVERTERS)
    assert set(block.tails) <= {"body", "heredoc", "value", "none", "call"}
    assert block.times in {"many", "once", "needed", "some"}
    assert set(block.languages) <= LANGUAGES | {""}
    for field in (*block.args, *block.attributes):
        assert field.doc.endswith(".")
        assert field.kind in CONVERTERS
        assert bool(field.choices) == (field.kind == "enum")
    names = [field.name for field in block.attributes] + [
        child.rpartition(".")[2] for child in block.children
    ]
    assert len(names) == len(set(names))


def test_generators_and_expanded_words_stand_on_the_page():
    for word in (*GENERATORS, *EXPANDED):
        assert f"`{word}" in PAGE


def test_words_lead_to_where_they_stand():
    assert places_of("says") == ("verify.check",)
    assert places_of("commit") == ("setup.repo",)
    assert places_of("any") == ("verify.check", "check.rule", "condition.any", "condition.not")
    assert not any(places_of(word) for word in RESERVED_WORDS)
