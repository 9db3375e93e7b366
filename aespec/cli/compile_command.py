"""`aespec compile`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from aespec.cli.console import FORMAT, Status, clear_progress, outside_world
from aespec.cli.machinery import IMAGE_MAP, SANDBOX, SEED, Compiling, RefusedError, compile_spec, open_named
from aespec.cli.specs import find_specs


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder for the bundles."
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
    from aespec.targets import names

    if target not in names():
        raise click.BadParameter(f"there is no target '{target}'; there are {', '.join(names())}")
    status = Status.HOLDS
    with outside_world():
        specs = find_specs(paths)
        compiling = Compiling(open_named(sandbox, image_pairs), target, image_pairs, org, network)
        seeds = instance_seeds(seed, instances)

        def name(task: str, instance: int) -> str:
            return task if instances == 1 else f"{task}-{instance}"

        for path in specs:
            try:
                for bundle in compile_spec(path, seeds, compiling, output, name):
                    clear_progress()
                    if output_format == "json":
                        click.echo(
                            json.dumps(
                                {"spec": str(path), "bundle": str(bundle.path), "digest": bundle.digest}
                            )
                        )
                    else:
                        click.echo(f"{bundle.path}  {bundle.digest[:16]}")
            except RefusedError:
                status = Status.FINDINGS
    sys.exit(status)
