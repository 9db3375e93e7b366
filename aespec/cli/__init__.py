"""The command line: one module per command, imported only when that command is called."""

from __future__ import annotations


def main() -> None:
    """Run the command line; the entry point of the `aespec` script."""
    import signal
    import sys

    from aespec.cli.app import app

    def stop(number: int, _frame: object) -> None:
        # As an exception, so that temporary folders and sandboxes are taken down on the way out.
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    try:
        app(prog_name="aespec")
    except OSError as error:
        from aespec.cli.console import fail, remedy_for

        fail(f"{error.filename or 'standard output'}: {error.strerror or error}", remedy_for(error))
