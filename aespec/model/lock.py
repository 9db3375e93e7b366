"""What a lock pins: the content of `NAME.aes.lock`, read and checked by whoever read the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from aespec.records import dataclass


@dataclass(frozen=True, slots=True)
class LockedImage:
    """An image by content. `source` tells where the digest is from: `registry`, `engine` or `store`."""

    digest: str
    source: str = "registry"


@dataclass(frozen=True, slots=True)
class Lock:
    """Pins by public name: image → digest, package → version, asset → hex SHA-256, and the evaluator's root.

    `evaluator` has the keys `base`, `digest` and `python`; `made_on` is an ISO date.
    """

    spec: str
    images: Mapping[str, LockedImage] = field(default_factory=dict)
    apt: Mapping[str, str] = field(default_factory=dict)
    pip: Mapping[str, str] = field(default_factory=dict)
    assets: Mapping[str, str] = field(default_factory=dict)
    evaluator: Mapping[str, str] = field(default_factory=dict)
    made_on: str = ""
