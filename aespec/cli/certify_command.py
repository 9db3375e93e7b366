"""`aespec certify`."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from aespec.cli.console import (
    FORMAT,
    Status,
    clear_progress,
    outside_world,
    progress,
    warn,
    warn_of_stand_in,
    worst,
)
from aespec.cli.files import require_writable
from aespec.cli.machinery import IMAGE_MAP, SANDBOX, SEED, open_named
from aespec.cli.specs import has_manifest, image_map, is_unreadable, report, tasks_and_bundles

if TYPE_CHECKING:
    from aespec.diagnostics import Diagnostic
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
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write NAME.certificate.json to.",
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
@click.pass_context
def command(
    context: click.Context,
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

    Exit status 0: every property holds. 1: one is violated. 2: a file can't be read, or nothing can run.
    3: none is violated, and something was not measured.
    """
    from aespec.fuzz import CertifyOptions
    from aespec.targets import TargetOptions

    if context.get_parameter_source("instances") is ParameterSource.COMMANDLINE:
        refuse_bundles(paths)
    owners: dict[str, Path] = {}
    statuses = []
    with outside_world():
        opened = open_named(sandbox, image_pairs)
        options = CertifyOptions(
            instances=instances,
            seed=seed,
            budget_s=budget,
            target_options=TargetOptions(images=image_map(image_pairs)),
            wants_reference=reference != "none",
        )
        engine = find_reference(reference, opened, image_pairs)
        targets = list(tasks_and_bundles(paths))
        for path in targets:
            if not can_be_read(path):
                statuses.append(Status.INFRASTRUCTURE)
                continue
            if output is not None:
                require_writable(output)
            delivery = Delivery(path, output, output_format, heads=len(targets) > 1, owners=owners)
            certify_path(path, opened, engine, replace(options, progress=progress(str(path))), delivery)
            statuses += delivery.statuses
    sys.exit(worst(statuses))


@dataclass(slots=True)
class Delivery:
    """Hands a certificate over as soon as it is made: keeps it in the folder, then prints it.

    `owners` tells which spec's certificate lies under a task's name; `heads` prints the path above.
    """

    path: Path
    output: Path | None
    output_format: str
    heads: bool
    owners: dict[str, Path]
    statuses: list[Status] = field(default_factory=list)

    def __call__(self, certificate: Certificate) -> None:
        """Do it; raises OSError where it can't be written or printed."""
        self.statuses.append(status_of(certificate))
        owner = self.owners.setdefault(certificate.task, self.path)
        try:
            if self.output is not None and owner == self.path:
                keep(certificate, self.output)
        finally:
            clear_progress()
            show(certificate, self.output_format, self.path if self.heads else None)
        if certificate.environment.get("is_reproducible") is False:
            warn_of_stand_in(f"{self.path}: certified")
        if self.output is not None and owner != self.path:
            warn(f"the certificate of {self.path} isn't kept: {owner} has the same task name")
            self.statuses.append(Status.FINDINGS)


def refuse_bundles(paths: tuple[Path, ...]) -> None:
    """A bundle is one instance: a number of instances says nothing about it. Raises UsageError."""
    for path in paths:
        if has_manifest(path):
            raise click.UsageError(f"{path} is a bundle: it has one instance, and --instances is for specs")


def can_be_read(path: Path) -> bool:
    """Whether a spec's file can be read at all; what is in the way is printed."""
    from aespec.syntax import read_source

    if has_manifest(path):
        return True
    found = read_source(path)[1]
    if is_unreadable(found):
        report(found)
        return False
    return True


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
    path: Path, sandbox: Sandbox, engine: Sandbox | None, options: CertifyOptions, delivery: Delivery
) -> None:
    """Make and deliver the certificate of a spec or a bundle; diagnostics go to standard error."""
    from aespec.bundle import open_bundle
    from aespec.fuzz import certify, certify_bundles

    options = replace(options, deliver=delivery)
    found: tuple[Diagnostic, ...] = ()
    if has_manifest(path):
        certificate = certify_bundles(
            [open_bundle(path)], sandbox, reference=engine, options=options, target=str(path)
        )
    else:
        certificate, found = certify(path, sandbox, reference=engine, options=options)
    report(found)
    if not delivery.statuses:  # nothing was run
        delivery(certificate)


def show(certificate: Certificate, output_format: str, path: Path | None) -> None:
    """Print it in the form asked for, below the path where there are several."""
    from aespec.fuzz import certificate_to_json
    from aespec.report import render_certificate

    if output_format == "json":
        click.echo(json.dumps(certificate_to_json(certificate), sort_keys=True))
    else:
        if path is not None:
            click.echo(f"--- {path}")
        click.echo(render_certificate(certificate))


def keep(certificate: Certificate, folder: Path) -> None:
    """Write it into the folder."""
    from aespec.cli.files import replace_bytes
    from aespec.fuzz import certificate_to_json
    from aespec.model.json_text import write_json

    path = folder / f"{certificate.task}.certificate.json"
    replace_bytes(path, write_json(certificate_to_json(certificate)))


def status_of(certificate: Certificate) -> Status:
    """The exit status that a certificate stands for."""
    if certificate.valid is None:
        is_stuck = any(item.slug == "no-sandbox" for item in certificate.findings)
        return Status.INFRASTRUCTURE if is_stuck else Status.NOT_MEASURED
    return Status.HOLDS if certificate.valid else Status.FINDINGS
