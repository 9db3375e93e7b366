"""A hidden program that starts the solver's: same account, and yet out of its reach."""

import pytest

from tests.runtime.places import SYSTEM_PYTHON, Verifier, check, document

pytestmark = pytest.mark.needs("root")  # without it all programs are the invoker's, and so is their memory

HIDDEN = """
import os, subprocess
done = subprocess.run(["/usr/bin/python3", "attack.py"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
print(done.stdout.decode())
print("honest", os.environ["MODE"])
"""
ATTACK = """
import ctypes, os, sys
parent = os.getppid()
for name, way in {
    "memory": lambda: open("/proc/%d/mem" % parent, "r+b"),
    "files": lambda: os.listdir("/proc/%d/fd" % parent),
    "stdin": lambda: open("/proc/%d/fd/0" % parent).read(),
    "stdout": lambda: open("/proc/%d/fd/1" % parent, "w").write("forged"),
    "environment": lambda: open("/proc/%d/environ" % parent).read(),
    "maps": lambda: open("/proc/%d/maps" % parent).read(),
}.items():
    try:
        way()
        print("reached", name)
    except OSError:
        pass
libc = ctypes.CDLL(None)
if libc.ptrace(0x4206, parent, 0, 0) == 0:
    print("reached by tracing")
for fd in range(3, 100):
    try:
        os.fstat(fd)
        print("left open", fd)
    except OSError:
        pass
"""


def judge(verifier, **more):
    args = {
        "argv": [SYSTEM_PYTHON, "-I", "-S", "-"],
        "cwd": "/app",
        "timeout": 20.0,
        "env": {"MODE": "one"},
        **more,
    }
    return verifier.run(document(check("c", ("command", args))), python=SYSTEM_PYTHON)


def test_nothing_that_it_starts_reaches_it(open_path):
    verifier = Verifier(open_path, ("command",))
    verifier.put("/app/attack.py", ATTACK)
    (verifier.tests / "hidden/run.py").write_text(HIDDEN)
    judged = judge(verifier, stdin_file="run.py", stdout="\nhonest one")
    assert judged.verdicts == {"c": "pass"}, judged.reasons


def test_without_the_guard_the_attack_works(open_path):
    """What the test above would miss if the attack itself were broken."""
    verifier = Verifier(open_path, ("command",))
    verifier.put("/app/attack.py", ATTACK)
    judged = judge(verifier, stdin=HIDDEN, stdout_matches="(?s).*reached memory.*reached by tracing.*")
    assert judged.verdicts == {"c": "pass"}, judged.reasons


@pytest.mark.parametrize("program", ["sh", "/bin/sh", "/usr/bin/env"])
def test_any_program_of_the_system_can_be_guarded(open_path, program):
    verifier = Verifier(open_path, ("command",))
    (verifier.tests / "hidden/text").write_text("echo hello")
    argv = [program] if program.endswith("sh") else [program, "sh"]
    judged = judge(verifier, argv=argv, stdin_file="text", stdout="hello")
    assert judged.verdicts == {"c": "pass"}, judged.reasons


def test_a_program_of_the_solvers_own_gets_its_hidden_input(open_path):
    verifier = Verifier(open_path, ("command",))
    verifier.put("/app/run", "#!/bin/sh\ncat\n", 0o755)
    (verifier.tests / "hidden/text").write_text("hello")
    judged = judge(verifier, argv=["./run"], stdin_file="text", stdout="hello")
    assert judged.verdicts == {"c": "pass"}, judged.reasons
