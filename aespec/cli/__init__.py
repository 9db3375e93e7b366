"""The command line: one module per command, imported only when that command is called."""

from __future__ import annotations


def main() -> None:
    """Run the command line; the entry point of the `aespec` script."""
    from aespec.cli.app import app

    app(prog_name="aespec")
