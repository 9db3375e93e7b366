"""The scripts that images and Harbor start: under several shells, and where something is missing."""

import shutil
import subprocess

import pytest

from aespec.model.task import Setup
from tests import components
from tests.bundle.making import script, tiny
from tests.compiler.planning import planned, read

SHELLS = [shell for shell in ("sh", "bash", "dash", "busybox") if shutil.which(shell)]


def started(shell):
    return ["busybox", "sh"] if shell == "busybox" else [shell]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("interpreter", ["sh", "python"])
def test_every_shell_reads_them(shell, interpreter):
    plan = planned(tiny(oracle=script("x", interpreter), setup=Setup("debian", workdir="/app")))
    for path in ("tests/test.sh", "tests/compile.sh", "solution/solve.sh"):
        subprocess.run([*started(shell), "-n"], input=read(plan, path), text=True, check=True)


def in_container(script, **env):
    """The script's output in the bare base image, which has no Python."""
    flags = [word for name, value in env.items() for word in ("-e", f"{name}={value}")]
    command = [
        "docker",
        "run",
        "--rm",
        "--network",
        "none",
        *flags,
        components.BASE_IMAGE,
        "sh",
        "-c",
        script,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@pytest.mark.needs("docker", "base-image")
def test_without_an_interpreter_there_is_no_verdict():
    told = in_container(
        'mkdir -p /logs/verifier; printf %s "$TEST" > /t.sh;'
        " sh /t.sh; echo $?; bash /t.sh; echo $?; ls /logs/verifier",
        TEST=read(planned(tiny()), "tests/test.sh"),
    )
    assert told == "3\n3\n"


@pytest.mark.needs("docker", "base-image")
def test_without_an_interpreter_or_its_compiler_the_image_is_built_all_the_same():
    compile_it = read(planned(tiny()), "tests/compile.sh")
    assert in_container('sh -euc "$SCRIPT"; echo $?', SCRIPT=compile_it) == "0\n"
    lame = 'printf "#!/bin/sh\\nexit 1\\n" > /usr/bin/python3; chmod 755 /usr/bin/python3; '
    told = in_container(f'{lame} sh -euc "$SCRIPT" 2>&1; echo $?', SCRIPT=compile_it)
    assert told == "the checker was not compiled ahead\n0\n"


@pytest.mark.needs("docker", "base-image")
def test_the_oracle_s_status_is_kept():
    prepare = 'mkdir -p /solution /app; printf %s "$SOLVE" > /s.sh; '
    sh = read(planned(tiny()), "solution/solve.sh")
    told = in_container(f'{prepare} echo "pwd; exit 7" > /solution/oracle.sh; sh /s.sh; echo $?', SOLVE=sh)
    assert told == "/app\n7\n"
    assert in_container('sh -c "$SOLVE"; echo $?', SOLVE=sh) == "1\n", "without the folder there is no start"
    python = read(planned(tiny(oracle=script("x", "python"))), "solution/solve.sh")
    assert in_container(f"{prepare} sh /s.sh; echo $?", SOLVE=python) == "127\n"
