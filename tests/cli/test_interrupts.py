"""Commands that are interrupted, whose readers go away, or that start without streams."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_endings import ENVIRONMENT, GOOD

STRIKE = """
import importlib, os, signal, sys
wheres, number, times = sys.argv[1].split(","), int(sys.argv[2]), int(sys.argv[3])
del sys.argv[1:4]

def strike_before(where):
    module, _, name = where.partition(":")
    module, _, kind = module.partition("/")
    owner = importlib.import_module(module)
    owner = getattr(owner, kind) if kind else owner
    inner = getattr(owner, name)

    def outer(*words, **options):
        for _ in range(times):
            os.kill(os.getpid(), number)
        return inner(*words, **options)

    setattr(owner, name, outer)

for where in wheres:
    strike_before(where)
from aespec.cli import main
main()
"""
MOMENTS = {
    "before click": "aespec.cli.console:complete_streams",
    "while a command is loaded": "aespec.cli.app/LazyGroup:get_command",
    "while it works": "aespec.compiler:load",
    "while it prints": "aespec.cli.lint_command:show",
}


def start(tmp_path, words, **options):
    (tmp_path / "a.aes").write_text(GOOD)
    return subprocess.run(
        [*words],
        cwd=tmp_path,
        env=ENVIRONMENT,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


def strike(tmp_path, where, number, times=1, **options):
    words = [sys.executable, "-c", STRIKE, where, str(int(number)), str(times), "lint", "a.aes"]
    return start(tmp_path, words, **options)


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda it: it.name)
def test_an_interrupt_at_any_moment_is_no_finding(tmp_path, moment, number):
    done = strike(tmp_path, MOMENTS[moment], number)
    assert done.returncode == 128 + number, done.stderr
    assert done.stderr == "aespec: stopped\n"
    assert done.stdout == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_second_interrupt_ends_at_once(tmp_path, number):
    done = strike(tmp_path, "aespec.compiler:load,aespec.cli.console:describe", number)
    assert done.returncode == -number, done.stderr
    assert done.stderr == ""


LOSING = """
import os, signal, sys, weakref
from aespec.cli import ending
number = int(sys.argv[1])

class Thing: pass

def lose(_reference):
    os.kill(os.getpid(), number)

with ending.ending_in_order():
    thing = Thing()
    kept = weakref.ref(thing, lose)
    try:
        del thing
        import time
        time.sleep(20)
        print("lost")
    except KeyboardInterrupt:
        print("heard")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_an_interrupt_where_python_drops_exceptions_is_heard(tmp_path, number):
    done = start(tmp_path, [sys.executable, "-c", LOSING, str(int(number))])
    assert done.stdout == "heard\n"
    assert done.stderr == ""


def test_a_closed_terminal_is_nothing_to_a_command_that_ignores_it(tmp_path):
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    done = strike(tmp_path, MOMENTS["while it works"], signal.SIGHUP, preexec_fn=ignore)
    assert done.returncode == 0, done.stderr
    assert "0 errors" in done.stdout


def aespec(*words):
    return [sys.executable, "-m", "aespec", *words]


@pytest.mark.parametrize("words", [["lint", "a.aes"], ["explain"], ["--help"]])
def test_a_reader_that_is_gone_is_no_finding(tmp_path, words):
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        done = start(tmp_path, aespec(*words), stdout=write_end)
    finally:
        os.close(write_end)
    assert done.returncode == 128 + signal.SIGPIPE
    assert done.stderr == ""


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_from_the_start(tmp_path, closed):
    done = start(tmp_path, ["sh", "-c", f'exec "$@" {closed}', "sh", *aespec("new", "b")])
    assert done.returncode == 0
    assert done.stderr == ""
    written = (tmp_path / "b.aes").read_text()
    assert written.startswith("aes = 1")
    assert written.endswith("}\n")
    again = start(tmp_path, ["sh", "-c", f'exec "$@" {closed}', "sh", *aespec("new", "b")])
    assert again.returncode == 2
    assert (tmp_path / "b.aes").read_text() == written


def test_a_full_disk_behind_standard_error_spoils_no_result(tmp_path):
    (tmp_path / "odd.aes").write_text(GOOD + "?")
    with Path("/dev/full").open("wb") as full:
        done = start(tmp_path, aespec("fmt", "a.aes", "odd.aes"), stderr=full)
    assert done.returncode == 1
    assert (tmp_path / "odd.aes").read_text() == GOOD + "?"
