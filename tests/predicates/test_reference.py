"""The reference in docs/ is what the signatures say."""

import os

import pytest

from aespec import predicates
from aespec.predicates.reference import render_reference
from aespec.runtime.signature import KINDS, NEEDS
from tests.repo.sources import ROOT

PAGE = ROOT / "docs/predicates.md"


def test_the_page_is_up_to_date():
    if os.environ.get("AESPEC_UPDATE") == "1":
        PAGE.write_text(render_reference(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == render_reference(), "AESPEC_UPDATE=1 writes the page anew"


@pytest.mark.parametrize("item", predicates.all_predicates(), ids=lambda item: item.name)
def test_signatures(item):
    names = [param.name for param in item.signature.params]
    assert len(set(names)) == len(names)
    assert set(item.signature.needs) <= set(NEEDS)
    assert {name for group in item.signature.requires_one_of for name in group} <= set(names)
    for param in item.signature.params:
        assert param.kind in KINDS
        assert param.doc.endswith((".", "`"))
        assert bool(param.choices) is (param.kind == "enum")
        assert not (param.is_required and param.default is not None)
        assert param.default is None or not param.choices or param.default in param.choices
