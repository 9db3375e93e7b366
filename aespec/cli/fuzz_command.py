"""`aespec fuzz`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from aespec.cli.certify_command import find_reference
from aespec.cli.console import FORMAT, Status, clear_progress, leave, outside_world, progress, worst
from aespec.cli.files import require_writable
from aespec.cli.machinery import IMAGE_MAP, SANDBOX, SEED, Compiling, one_bundle, open_named
from aespec.cli.specs import has_manifest, image_map

if TYPE_CHECKING:
    from aespec.fuzz.audit import Audit, AuditOptions
    from aespec.sandbox.api import Builder

_UNITS = {"s": 1, "m": 60, "h": 3600}


def parse_budget(
    _context: click.Context, _option: click.Parameter, value: str | None
) -> tuple[float | None, int | None]:
    """CPU seconds of `90s`, `10m`, `1h`, or a number of probes of `500`."""
    if value is None:
        return None, None
    if value.isdecimal():
        return None, int(value)
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)", value)
    if not found:
        raise click.BadParameter(f"'{value}' is neither a time (90s, 10m) nor a number of probes (500)")
    return float(found[1]) * _UNITS[found[2]], None


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write the report (NAME.fuzz.json) and the counterexamples to.",
)
@click.option(
    "--budget",
    callback=parse_budget,
    metavar="N|TIME",
    help="So many probes (500), or so much processor time (90s, 10m); 120s for pytest, else 60s, by default.",
)
@click.option(
    "--reference",
    type=click.Choice(["auto", "docker", "none"]),
    default="none",
    help="Where what is reported as an error is judged again; auto is Docker where it works.",
)
@SEED
@IMAGE_MAP
@SANDBOX
@FORMAT
def command(
    paths: tuple[Path, ...],
    output: Path | None,
    budget: tuple[float | None, int | None],
    reference: str,
    seed: int,
    image_pairs: tuple[str, ...],
    sandbox: str,
    output_format: str,
) -> None:
    """Find out whether a task's verifier can be fooled, and whether it is too strict.

    PATH is any Harbor task folder, whoever wrote it, a folder of them, or a spec. Exit status 0: nothing was
    found. 1: errors or warnings. 2: nothing could be run. 3: nothing was found, and not all was tried.
    Interrupted, it shows what it has found by then; the next run goes on from there.
    """
    from aespec.fuzz.audit import AuditOptions

    statuses = []
    with outside_world():
        if output is not None:
            require_writable(output)
        opened = cast("Builder", open_named(sandbox, image_pairs))
        engine = cast("Builder | None", find_reference(reference, opened, image_pairs))
        options = AuditOptions(
            budget_s=budget[0],
            probes=budget[1],
            seed=seed,
            folder=output / "counterexamples" if output is not None else None,
            image_map=image_map(image_pairs),
            deliver=lambda found: deliver(found, output, output_format),
        )
        for path in list(iterate_tasks(paths)):
            found = audit_path(path, opened, engine, options, image_pairs)
            statuses.append(status_of(found))
            if found.is_interrupted:
                leave(worst(statuses))
    sys.exit(worst(statuses))


def iterate_tasks(paths: tuple[Path, ...]) -> Iterator[Path]:
    """Each path, or the task folders right below it where it is a folder of tasks."""
    for path in paths:
        if not path.is_dir() or is_task(path):
            yield path
            continue
        below = [item for item in sorted(path.iterdir()) if item.is_dir() and is_task(item)]
        yield from below or [path]


def is_task(path: Path) -> bool:
    """Whether a folder looks like a task of some layout."""
    return any((path / name).is_file() for name in ("task.toml", "task.yaml"))


def audit_path(
    path: Path,
    sandbox: Builder,
    engine: Builder | None,
    options: AuditOptions,
    image_pairs: tuple[str, ...],
) -> Audit:
    """The audit of a task folder, or of the first bundle of a spec."""
    from dataclasses import replace

    from aespec.fuzz.audit import audit

    told = replace(options, progress=progress(str(path)))
    with _as_folder(path, sandbox, image_pairs) as folder:
        return audit(folder, sandbox, reference=engine, options=told)


@contextmanager
def _as_folder(path: Path, sandbox: Builder, image_pairs: tuple[str, ...]) -> Iterator[Path]:
    if path.suffix != ".aes" or path.is_dir() or has_manifest(path):
        yield path
        return
    with one_bundle(path, None, Compiling(sandbox, pairs=image_pairs)) as bundle:
        yield bundle.path


def deliver(found: Audit, output: Path | None, output_format: str) -> None:
    """Keep it in the folder, then print it."""
    try:
        if output is not None:
            keep(found, output)
    finally:
        clear_progress()
        show(found, output_format)


def show(found: Audit, output_format: str) -> None:
    """Print it in the form asked for."""
    from aespec.fuzz.audit import audit_to_json
    from aespec.report.audit import render_audit

    if output_format == "json":
        click.echo(json.dumps(audit_to_json(found), sort_keys=True))
    else:
        click.echo(render_audit(found))


def keep(found: Audit, folder: Path) -> None:
    """Write it into the folder."""
    from aespec.cli.files import replace_bytes
    from aespec.fuzz.audit import audit_to_json
    from aespec.model.json_text import write_json_of_names

    name = found.certificate.task.replace("/", "__")
    replace_bytes(folder / f"{name}.fuzz.json", write_json_of_names(audit_to_json(found)))


def status_of(found: Audit) -> Status:
    """The exit status that an audit stands for."""
    findings = found.certificate.findings
    if any(item.slug == "no-sandbox" for item in findings):
        return Status.INFRASTRUCTURE
    if any(item.severity in ("error", "warning") for item in findings):
        return Status.FINDINGS
    return Status.NOT_MEASURED if found.is_partial else Status.HOLDS
