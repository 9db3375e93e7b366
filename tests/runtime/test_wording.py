import pytest

from aespec.runtime.wording import counted, with_article


@pytest.mark.parametrize("number", range(4))
def test_a_noun_follows_its_number(number):
    assert counted(number, "error") == f"{number} error" + ("" if number == 1 else "s")


def test_a_plural_of_its_own():
    assert counted(1, "property", "properties") == "1 property"
    assert counted(0, "property", "properties") == "0 properties"


@pytest.mark.parametrize(
    ("noun", "article"),
    [("order", "an"), ("`order`", "an"), ("integer", "an"), ("Order", "an"), ("", "a"), ("mode", "a")]
    + [(noun, "a") for noun in ("user", "`unit`", "utf-8 text", "uid", "European")],
)
def test_an_article_follows_the_sound_of_its_noun(noun, article):
    assert with_article(noun) == f"{article} {noun}"
