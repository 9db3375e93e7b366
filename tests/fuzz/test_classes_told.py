"""What docs/audit.md says of the classes of faults is what the tool has."""

import re
from pathlib import Path

from aespec.fuzz.cheats import all_cheats
from aespec.fuzz.cheats.classes import CLASSES

PAGE = Path(__file__).parents[2] / "docs" / "audit.md"
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)


def rows():
    return {int(number): (name, found) for number, name, found, _ in ROW.findall(PAGE.read_text())}


def test_every_class_is_told_once_by_its_name():
    numbers = [int(number) for number, *_ in ROW.findall(PAGE.read_text())]
    assert numbers == sorted(CLASSES)
    assert {number: name for number, (name, _) in rows().items()} == CLASSES


def test_a_class_that_a_cheat_is_of_is_found_by_runs():
    for cheat in all_cheats():
        if not cheat.is_harmless:
            number = next(number for number, name in CLASSES.items() if name == cheat.class_name)
            assert "runs" in rows()[number][1], cheat.slug
