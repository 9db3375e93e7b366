"""`aespec certify`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aespec.cli.console import FORMAT, Status, clear_progress, outside_world, progress, worst
from aespec.cli.machinery import IMAGE_MAP, SANDBOX, SEED, open_named
from aespec.cli.specs import image_map, is_bundle, report, tasks_and_bundles

if TYPE_CHECKING:
    from aespec.fuzz import Certificate, CertifyOptions
    from aespec.sandbox.api import Sandbox

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def parse_budget(_context: click.Context, _option: click.Parameter, value: str | None) -> float | None:
    """A time as `90s`, `10m`, `1h` in seconds."""
    if value is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h|)", value)
    if not found:
        raise click.BadParameter(f"'{value}' is no time; write 90s, 10m or 1h")
    return float(found[1]) * _UNITS[found[2]]


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder to write NAME.certificate.json to."
)
@click.option(
    "--instances", type=click.IntRange(min=1), default=5, help="How many instances; a family needs five."
)
@click.option(
    "--budget", callback=parse_budget, metavar="TIME", help="Stop then, with what was found: 90s, 10m."
)
@click.option(
    "--reference",
    type=click.Choice(["auto", "docker", "none"]),
    default="auto",
    help="Where the bundle's own test.sh has the last word; auto is Docker where it works.",
)
@SEED
@IMAGE_MAP
@SANDBOX
@FORMAT
def command(
    paths: tuple[Path, ...],
    output: Path | None,
    instances: int,
    budget: float | None,
    reference: str,
    seed: int,
    image_pairs: tuple[str, ...],
    sandbox: str,
    output_format: str,
) -> None:
    """Show that specs (or bundles) are solvable and that their verifiers tell right from wrong.

    Exit status 0: every property holds. 1: one is violated. 3: none is, and something was not measured.
    """
    from aespec.fuzz import CertifyOptions
    from aespec.targets import TargetOptions

    statuses = []
    with outside_world():
        opened = open_named(sandbox, image_pairs)
        options = CertifyOptions(
            instances=instances,
            seed=seed,
            budget_s=budget,
            target_options=TargetOptions(images=image_map(image_pairs)),
            progress=progress(),
        )
        engine = find_reference(reference, opened, image_pairs)
        for path in tasks_and_bundles(paths):
            certificate = certify_path(path, opened, engine, options)
            clear_progress()
            show(certificate, output_format)
            if output is not None:
                keep(certificate, output)
            statuses.append(status_of(certificate))
    sys.exit(worst(statuses))


def find_reference(choice: str, sandbox: Sandbox, pairs: tuple[str, ...]) -> Sandbox | None:
    """The engine that judges last; None where there is none: a cold slot stands in, and that is said."""
    from aespec.sandbox import open_sandbox

    if choice == "none" or sandbox.name == "docker":
        return None
    engine = open_sandbox("docker", image_map=image_map(pairs))
    if engine.abilities().is_usable:
        return engine
    return open_named("docker", pairs) if choice == "docker" else None


def certify_path(
    path: Path, sandbox: Sandbox, engine: Sandbox | None, options: CertifyOptions
) -> Certificate:
    """The certificate of a spec or a bundle; what the static tools say goes to standard error."""
    from aespec.bundle import open_bundle
    from aespec.fuzz import certify, certify_bundles

    if is_bundle(path):
        return certify_bundles(
            [open_bundle(path)], sandbox, reference=engine, options=options, target=str(path)
        )
    certificate, found = certify(path, sandbox, reference=engine, options=options)
    clear_progress()
    report(found)
    return certificate


def show(certificate: Certificate, output_format: str) -> None:
    """Print it in the form asked for."""
    from aespec.fuzz import certificate_to_json
    from aespec.report import render_certificate

    if output_format == "json":
        click.echo(json.dumps(certificate_to_json(certificate), sort_keys=True))
    else:
        click.echo(render_certificate(certificate))


def keep(certificate: Certificate, folder: Path) -> None:
    """Write it into the folder."""
    from aespec.cli.fmt_command import replace_text
    from aespec.fuzz import certificate_to_json

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{certificate.task}.certificate.json"
    text = json.dumps(certificate_to_json(certificate), indent=2, sort_keys=True, ensure_ascii=False)
    replace_text(path, f"{text}\n")


def status_of(certificate: Certificate) -> Status:
    """The exit status that a certificate stands for."""
    if certificate.valid is None:
        is_stuck = any(item.slug == "no-sandbox" for item in certificate.findings)
        return Status.INFRASTRUCTURE if is_stuck else Status.NOT_MEASURED
    return Status.HOLDS if certificate.valid else Status.FINDINGS
