"""The `aespec` command: finds its subcommands by name, so that none costs another its imports."""

from __future__ import annotations

import importlib
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from aespec import __version__

COMMANDS = {
    "new": "Write a spec that certifies as it stands, to edit.",
    "fmt": "Format specs in place, or check that they are formatted.",
    "lint": "Say what is wrong with specs without running them.",
    "explain": "Tell more about a message by its slug.",
    "lock": "Pin images and packages in NAME.aes.lock.",
    "compile": "Turn specs into bundles.",
    "trial": "Run one agent on one bundle and judge the end state.",
    "why": "Tell why a trial ended as it did, per check.",
    "shell": "Look around in a state of a task, in the sandbox.",
    "certify": "Show that specs are solvable and their verifiers tell right from wrong.",
    "fuzz": "Find out whether a task's verifier can be fooled, or is too strict, whoever wrote it.",
    "import": "Write a Harbor task as a spec, with its verifier kept opaque.",
    "doctor": "Say what this machine can run, and what to do about the rest.",
    "images": "Bring base images into the embedded sandbox's store.",
}
"""Every subcommand with its line of help, so that `aespec --help` imports none of them."""


@contextmanager
def own_endings() -> Iterator[None]:
    """Two endings that click would tell as findings, by status 1.

    An interrupt has the shell's status for it. So has a reader of standard output that is gone (`| head`):
    that is as silent as any other command then.
    """
    try:
        yield
    except KeyboardInterrupt as interrupt:
        from aespec.cli.console import stop

        stop(interrupt)
    except BrokenPipeError:
        from aespec.cli.console import drop_unwritten_output

        drop_unwritten_output()
        sys.exit(128 + signal.SIGPIPE)


class LazyGroup(click.Group):
    """A group whose commands live in `aespec.cli.NAME_command` as `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"aespec.cli.{cmd_name}_command").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the nearest name where there is no such command."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from aespec.diagnostics import suggest

            near = suggest(args[0], COMMANDS)
            hint = f" Did you mean '{near}'?" if near else ""
            raise click.UsageError(f"No such command '{args[0]}'.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def make_context(self, *words: Any, **options: Any) -> click.Context:
        """As click does; `--help` prints here."""
        with own_endings():
            return super().make_context(*words, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """As click does."""
        with own_endings():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of `--help`, from the lines above."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="aespec")
def app() -> None:
    """Write a task as one small spec, compile it to a sandbox bundle, show that its verifier is sound.

    Results go to standard output, progress to standard error. Exit status: 0 it holds, 1 findings,
    2 usage or infrastructure, 3 something needed was not measured.
    """
