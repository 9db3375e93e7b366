"""A bundle before it is on disk, and the same read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from aespec.bundle.recipe import Recipe
from aespec.model.expressions import Json
from aespec.records import dataclass


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """Bytes and permission bits (0o644 or 0o755)."""

    data: bytes = field(repr=False)
    mode: int = 0o644


@dataclass(frozen=True, slots=True)
class BundlePlan:
    """What `bundle.write` puts on disk: relative POSIX path → file. A pure function of instance and options.

    `manifest` is the content of `aespec/manifest.json` without the table of files, which `write` adds.
    """

    name: str
    target: str
    files: Mapping[str, PlannedFile]
    manifest: Mapping[str, Json]
    environment: Recipe
    verifier: Recipe


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle on disk whose files agree with its manifest; its identity is `digest`, a hex SHA-256."""

    path: Path
    name: str
    target: str
    digest: str
    manifest: Mapping[str, Json] = field(repr=False)
    environment: Recipe = field(repr=False)
    verifier: Recipe = field(repr=False)
