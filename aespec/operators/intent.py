"""What an instruction lets one guess of the author's intent, as far as plain words tell it."""

from __future__ import annotations

import re

from aespec.operators.api import Scene

_ORDER = re.compile(
    r"\b(?:sort|rank|ascend|descend|chronolog|alphabet|lexicograph|sequen)\w*"
    r"|(?<!in )\border(?:ed|ing)?\b(?! to)|\b(?:largest|smallest|highest|lowest|oldest|newest|earliest)\b",
    re.IGNORECASE,
)


def is_order_told(scene: Scene) -> bool:
    """Whether the instruction speaks of an order: then what changes places is wrong, else it depends."""
    return _ORDER.search(scene.instruction) is not None
