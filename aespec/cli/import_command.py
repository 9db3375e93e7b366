"""`aespec import`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from aespec.cli.console import fail, outside_world, progress
from aespec.cli.files import replace_bytes, replace_text
from aespec.cli.machinery import IMAGE_MAP, SANDBOX, open_named

if TYPE_CHECKING:
    from aespec.sandbox.api import Builder
    from aespec.trial.importing import Imported

FINDINGS_LIMIT_BYTES = 64 * 1024**2


@click.command()
@click.argument("path", metavar="TASK", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE.aes",
    type=click.Path(path_type=Path),
    help="The spec to write.",
)
@click.option("--base", default="", metavar="IMAGE", help="An image that you built of the task's Dockerfile.")
@click.option(
    "--findings",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.json",
    help="An audit (of `aespec fuzz -o`), whose findings become TODOs in the check.",
)
@click.option("--audit", "wants_audit", is_flag=True, help="Audit the task first, for its findings.")
@IMAGE_MAP
@SANDBOX
def command(
    path: Path,
    output: Path,
    base: str,
    findings: Path | None,
    wants_audit: bool,
    image_pairs: tuple[str, ...],
    sandbox: str,
) -> None:
    """Write a Harbor task as a spec, its verifier kept opaque, to certify and to replace check by check.

    TASK is a task folder, whoever wrote it. Files that the environment copies come to lie beside the spec, in
    NAME.import. What can't be carried over is a TODO in the spec, and is told.
    """
    from aespec.bundle.foreign import read_foreign
    from aespec.resolve.kinds import TASK_NAME
    from aespec.trial.importing import ImportRefusedError, import_task

    name = output.name.removesuffix(".aes")
    if output.suffix != ".aes" or not TASK_NAME.fullmatch(name):
        fail(
            f"{output} is no name for a spec",
            "name it with lower-case letters, digits and hyphens: a-task.aes",
        )
    with outside_world():
        if output.exists() or (output.parent / f"{name}.import").exists():
            fail(f"{output} or {name}.import exists already", "choose another name with -o")
        task, faults = read_foreign(path)
        if task is None:
            fatal = next(fault for fault in faults if fault.is_fatal)
            fail(f"{path}: {fatal.message}", fatal.help or "name the folder of one task")
        told = read_findings(findings) if findings is not None else []
        if wants_audit:
            told += audit_findings(path, cast("Builder", open_named(sandbox, image_pairs)))
        try:
            made = import_task(task, name, base=base, findings=told)
        except ImportRefusedError as refusal:
            fail(f"{path}: {refusal}", refusal.remedy)
        write(made, output)
    click.echo(f"wrote {output}" + (f" and {name}.import" if made.files else ""))
    for text in made.todos:
        click.echo(f"todo: {text}")
    click.echo(f"next: aespec lint {output}  and  aespec certify {output}")


def read_findings(path: Path) -> list[dict[str, Any]]:
    """The findings of an audit's or a certificate's file; ends the command for what is none."""
    try:
        if path.stat().st_size > FINDINGS_LIMIT_BYTES:
            raise ValueError("it is too large")
        told = json.loads(path.read_text(encoding="utf-8"))
        found = told["findings"]
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            raise ValueError("its findings are no list of objects")
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        fail(f"{path} is no audit: {fault}", "name a NAME.fuzz.json that `aespec fuzz -o FOLDER` wrote")
    return found


def audit_findings(path: Path, sandbox: Builder) -> list[dict[str, Any]]:
    """The findings of an audit that is made now."""
    from aespec.fuzz.audit import AuditOptions, audit, audit_to_json

    found = audit_to_json(audit(path, sandbox, options=AuditOptions(progress=progress(str(path)))))
    return cast("list[dict[str, Any]]", found["findings"])


def write(made: Imported, output: Path) -> None:
    """The files beside the spec first, so that a spec that is there is whole."""
    from aespec.source import Source
    from aespec.syntax.formatter import format_source

    for name, data in made.files.items():
        place = output.parent / name
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_bytes(place, data)
    formatted, _ = format_source(Source(str(output), made.text))
    replace_text(output, formatted or made.text)
