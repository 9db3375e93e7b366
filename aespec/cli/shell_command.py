"""`aespec shell`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aespec.cli.console import fail, outside_world
from aespec.cli.machinery import IMAGE_MAP, SANDBOX, Compiling, RefusedError, one_bundle, open_named

if TYPE_CHECKING:
    from aespec.trial import Shell


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--state", default="start", help="start, oracle, accept:NAME, reject:NAME, or a script to run first."
)
@click.option("--instance", type=click.IntRange(min=0), help="The instance's seed, where PATH is a spec.")
@click.option("--user", help="Who you are there; by default the agent.")
@click.option(
    "-c", "commands", multiple=True, help="Run this line instead of asking for lines; may be repeated."
)
@IMAGE_MAP
@SANDBOX
def command(
    path: Path,
    state: str,
    instance: int | None,
    user: str | None,
    commands: tuple[str, ...],
    image_pairs: tuple[str, ...],
    sandbox: str,
) -> None:
    """Look around in a state of a task, in the sandbox.

    Each line is run by a fresh `sh` in the folder where the last one ended; there is no terminal in there, so
    editors and pagers won't work. What you change is gone when you leave.
    """
    from aespec.trial import AgentError, open_state

    with outside_world():
        opened = open_named(sandbox, image_pairs)
        try:
            with (
                one_bundle(path, instance, Compiling(opened, pairs=image_pairs)) as bundle,
                open_state(bundle, state, opened, user=user) as shell,
            ):
                status = run_lines(shell, commands) if commands else ask_for_lines(shell)
        except RefusedError as refusal:
            sys.exit(refusal.status)
        except AgentError as error:
            fail(str(error))
    sys.exit(status)


def run_lines(shell: Shell, lines: tuple[str, ...]) -> int:
    """Run lines in order; the status of the last."""
    status = 0
    for line in lines:
        status = run_line(shell, line)
    return status


def ask_for_lines(shell: Shell) -> int:
    """A loop of lines from standard input, until its end or `exit`; the status of the last."""
    status = 0
    is_terminal = sys.stdin.isatty()
    while True:
        if is_terminal:
            click.echo(f"{shell.user}:{shell.cwd}$ ", nl=False)
        line = sys.stdin.readline()
        if not line or line.strip() == "exit":
            return status
        if line.strip():
            status = run_line(shell, line)


def run_line(shell: Shell, line: str) -> int:
    """Run one line and show what it printed, control characters escaped where a terminal would obey them."""
    outcome = shell.run(line)
    for stream, data in ((sys.stdout, outcome.stdout), (sys.stderr, outcome.stderr)):
        text = data.decode("utf-8", "replace")
        if stream.isatty():
            text = "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)
        stream.write(text)
        stream.flush()
    return outcome.status if outcome.status is not None else 1
