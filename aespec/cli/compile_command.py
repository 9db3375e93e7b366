"""`aespec compile`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aespec.cli.console import FORMAT, Status, clear_progress, outside_world, warn, worst
from aespec.cli.machinery import IMAGE_MAP, SANDBOX, SEED, Compiling, RefusedError, compile_spec, open_named
from aespec.cli.specs import find_specs

if TYPE_CHECKING:
    from aespec.bundle.plan import Bundle


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the bundles.",
)
@click.option("--target", default="harbor", help="Format of the bundles.")
@click.option("--instances", type=click.IntRange(min=1), default=1, help="How many instances of each spec.")
@click.option("--org", default="aespec", help="First half of the tasks' public names.")
@click.option(
    "--network",
    type=click.Choice(["compose", "harbor"]),
    default="compose",
    help="Who keeps the network away: the bundle's Compose files, or Harbor (which pulls images for it).",
)
@SEED
@IMAGE_MAP
@SANDBOX
@FORMAT
def command(
    paths: tuple[Path, ...],
    output: Path,
    target: str,
    instances: int,
    org: str,
    network: str,
    seed: int,
    image_pairs: tuple[str, ...],
    sandbox: str,
    output_format: str,
) -> None:
    """Turn specs into bundles: OUTPUT/NAME, or OUTPUT/NAME-SEED for each of several instances.

    The spec's own programs run in the sandbox; the bytes depend on the spec, its lock and the seed only.
    """
    from aespec.evaluate import instance_seeds
    from aespec.targets import names as target_names

    if target not in target_names():
        raise click.BadParameter(f"there is no target '{target}'; there are {', '.join(target_names())}")
    statuses = []
    with outside_world():
        specs = find_specs(paths)
        compiling = Compiling(open_named(sandbox, image_pairs), target, image_pairs, org, network, True)
        seeds = instance_seeds(seed, instances)
        names = Names(is_single=instances == 1)
        for path in specs:
            try:
                for bundle in compile_spec(path, seeds, compiling, output, names.of(path)):
                    clear_progress()
                    show(path, bundle, output_format)
                statuses.append(Status.HOLDS)
            except RefusedError as refusal:
                statuses.append(refusal.status)
    sys.exit(worst(statuses))


class Names:
    """Folder names of bundles; each belongs to the spec that took it first, so that none is overwritten."""

    def __init__(self, *, is_single: bool) -> None:
        self._is_single = is_single
        self._owners: dict[str, Path] = {}

    def of(self, path: Path) -> Callable[[str, int], str]:
        """How the bundles of the spec at `path` are called; raises RefusedError for a name that is taken."""

        def name(task: str, instance: int) -> str:
            folder = task if self._is_single else f"{task}-{instance}"
            owner = self._owners.setdefault(folder, path)
            if owner != path:
                warn(f"{path} has the same task name as {owner}: both would be the bundle '{folder}'")
                raise RefusedError(path)
            return folder

        return name


def show(path: Path, bundle: Bundle, output_format: str) -> None:
    """Print the line of one bundle."""
    if output_format == "json":
        click.echo(json.dumps({"spec": str(path), "bundle": str(bundle.path), "digest": bundle.digest}))
    else:
        click.echo(f"{bundle.path}  {bundle.digest[:16]}")
