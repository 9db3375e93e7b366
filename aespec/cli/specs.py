"""From the paths on the command line to specs, checked tasks and bundles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from aespec.diagnostics import Diagnostic, render_text


def find_specs(paths: Sequence[Path]) -> list[Path]:
    """The specs that the paths name: a file is itself, a folder is every `.aes` below it, sorted."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            below = sorted(item for item in path.rglob("*.aes") if not is_in_hidden_folder(item, path))
            if not below:
                raise click.UsageError(f"no .aes file in {path}")
            found += below
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def is_in_hidden_folder(item: Path, root: Path) -> bool:
    """Whether a folder between starts with a dot."""
    return any(part.startswith(".") for part in item.relative_to(root).parts[:-1])


def report(diagnostics: Sequence[Diagnostic]) -> None:
    """Print diagnostics for a person, to standard error: they are not the result here."""
    if diagnostics:
        click.echo(render_text(diagnostics, color=is_colored()), err=True)


def is_colored() -> bool:
    """Whether standard error is a terminal that wants color."""
    import os
    import sys

    return sys.stderr.isatty() and not os.environ.get("NO_COLOR")


def is_bundle(path: Path) -> bool:
    """Whether a folder is a bundle that aespec wrote."""
    return (path / "aespec" / "manifest.json").is_file()


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
        if is_bundle(path):
            yield path
        else:
            yield from find_specs([path])
