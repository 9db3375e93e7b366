"""The command line: one module per command, imported only when that command is called."""

from __future__ import annotations


def main() -> None:
    """Run the command line; the entry point of the `aespec` script."""
    from aespec.cli.ending import ending_in_order

    try:
        with ending_in_order():
            _run()
    except KeyboardInterrupt as interrupt:  # while modules were loaded, or told of another ending
        from aespec.cli.console import stop

        stop(interrupt)


def _run() -> None:
    from aespec.cli.app import app
    from aespec.cli.console import complete_streams, describe_fault, fail, remedy_for

    complete_streams()
    try:
        app(prog_name="aespec")
    except OSError as error:
        fail(describe_fault(error, "standard output"), remedy_for(error))
