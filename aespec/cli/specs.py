"""From the paths on the command line to specs, checked tasks and bundles."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

import click

from aespec.cli.console import tell
from aespec.diagnostics import Diagnostic, render_text


def find_specs(paths: Sequence[Path]) -> list[Path]:
    """The specs that the paths name: a file is itself, a folder is every `.aes` below it, sorted.

    The copies of specs in bundles are results and not sources: bundles below a folder are passed over, and
    one that is named is refused. Raises UsageError.
    """
    found: list[Path] = []
    for path in paths:
        if has_manifest(path):
            raise click.UsageError(f"{path} is a bundle, and a spec is wanted here")
        if path.is_dir():
            below = sorted(item for item in path.rglob("*.aes") if not is_passed_over(item, path))
            if not below:
                raise click.UsageError(f"no .aes file in {path} (bundles and hidden folders are passed over)")
            found += below
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def is_passed_over(item: Path, root: Path) -> bool:
    """Whether a folder between starts with a dot, or is a bundle."""
    between = item.relative_to(root).parents
    return any(part.name.startswith(".") or has_manifest(root / part) for part in between)


def is_unreadable(found: Sequence[Diagnostic]) -> bool:
    """Whether a named file itself couldn't be read, which is no finding about a spec."""
    slugs = ("missing-file", "unreadable-file", "irregular-file")
    return any(item.span is None and item.slug in slugs for item in found)


def report(diagnostics: Sequence[Diagnostic]) -> None:
    """Print diagnostics for a person, to standard error: they are not the result here."""
    if diagnostics:
        tell(render_text(diagnostics, color=is_colored(sys.stderr)))


def is_colored(stream: TextIO) -> bool:
    """Whether a stream is a terminal that wants color."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def has_manifest(path: Path) -> bool:
    """Whether a folder is meant as a bundle that aespec wrote; opening it tells whether it is whole."""
    from aespec.bundle.places import MANIFEST_PATH

    return (path / MANIFEST_PATH).is_file()


def image_map(pairs: Sequence[str]) -> dict[str, str]:
    """`PUBLIC=LOCAL` pairs as a map."""
    mapped: dict[str, str] = {}
    for pair in pairs:
        public, sign, local = pair.partition("=")
        if not sign or not public or not local:
            raise click.BadParameter(f"'{pair}' is not PUBLIC=LOCAL", param_hint="--image-map")
        mapped[public] = local
    return mapped


def tasks_and_bundles(paths: Sequence[Path]) -> Iterator[Path]:
    """Bundles as they are, and every spec of the other paths."""
    for path in paths:
        if has_manifest(path):
            yield path
        else:
            yield from find_specs([path])
