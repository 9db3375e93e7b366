"""Programs that turn on the driver or on each other: what each makes is its own, or an error of its own."""

import json
import subprocess

import pytest

from aespec.evaluate.cache import ContentCache
from aespec.evaluate.programs import Failure, Job, Made, ProgramRunner
from aespec.sandbox import open_sandbox
from aespec.sandbox.api import Outcome, SandboxError
from tests.evaluate.making import HostSandbox
from tests.evaluate.test_driver import program, run

PYTHON = "/usr/bin/python3"


def told(tmp_path, text, makes="value", **more):
    return run(PYTHON, tmp_path, program(text, makes, **more))[0]


SAY = """
import os
def say(data):
    for fd in range(3, 30):
        try: os.write(fd, data)
        except OSError: pass
"""
OWN_ANSWERS = {
    "beside its own": "say(b'{\"value\": 2}\\n')\nemit(1)",
    "not a number": "say(b'{\"value\": NaN}\\n')\nos._exit(0)",
    "deep": "say(b'[' * 5000 + b']' * 5000 + b'\\n')\nos._exit(0)",
    "odd error": "say(b'{\"error\": 3}\\n')\nos._exit(0)",
    "no line": "say(b'x')\nos._exit(0)",
    "patched": "import json\njson.dumps = lambda *a, **k: 'null'\nemit(1)",
}


@pytest.mark.parametrize("name", OWN_ANSWERS)
def test_an_answer_of_its_own_making_is_an_error_of_the_program(tmp_path, name):
    assert told(tmp_path, SAY + OWN_ANSWERS[name])["error"]["kind"] in {"ended", "type"}


REACH = """
import ctypes, os
driver = %s
reached = []
for name, way in {
    "memory": lambda: open("/proc/%%d/mem" %% driver, "r+b"),
    "output": lambda: os.open("/proc/%%d/fd/1" %% driver, os.O_WRONLY),
    "environment": lambda: open("/proc/%%d/environ" %% driver).read(),
}.items():
    try:
        way()
        reached.append(name)
    except OSError:
        pass
if ctypes.CDLL(None).ptrace(0x4206, driver, 0, 0) == 0:
    reached.append("trace")
emit(reached)
"""


@pytest.mark.needs("userns")
def test_nothing_of_the_driver_can_be_reached(tmp_path):
    runner = ProgramRunner(open_sandbox("fork"), cache=ContentCache(tmp_path / "cache"))
    assert runner.run([Job("let.x", "value", REACH % "os.getppid()", "s")], {}) == [Made([])]


DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in range(30):
            try: os.close(fd)
            except OSError: pass
        while True:
            for place in ("../1/d/x", "d/x"):
                try: open(place, "w").write("disturbed")
                except OSError: pass
    os._exit(0)
os.wait()
emit(1)
"""


def test_what_a_program_leaves_running_is_gone_before_the_next(tmp_path):
    later = "import time\nopen('d/x', 'w').write('own')\ntime.sleep(0.3)"
    results = run(PYTHON, tmp_path, program(DAEMON), program(later, "folder", path="/d/"))
    assert results[1] == {"files": {"/d/x": "b3du"}}
    work = str(tmp_path / "work")
    left = subprocess.run(["pgrep", "-f", work], capture_output=True, text=True, check=False)
    assert not left.stdout.split()


REPLACED = {
    "link": "os.symlink('/etc/hostname', '../0.out')",
    "device": "os.symlink('/dev/zero', '../0.out')",
    "fifo": "os.mkfifo('../0.out')",
    "nothing": "pass",
}


@pytest.mark.parametrize("name", REPLACED)
def test_the_output_is_what_was_printed(tmp_path, name):
    text = f"import os\nos.unlink('../0.out')\n{REPLACED[name]}\nprint('own')"
    assert told(tmp_path, text, "file", path="/f") == {"files": {"/f": "b3duCg=="}}


DEEP = """
import os
os.chdir("d")
for number in range(200):
    os.mkdir("d")
    os.chdir("d")
"""
FOLDERS = {
    "deep": DEEP,
    "bytes": "open(b'd/\\xff', 'w').close()",
    "link": "import os\nos.symlink('/etc/hostname', 'd/x')",
    "replaced": "import os\nos.rmdir('d')\nos.symlink('/etc', 'd')",
    "fifo": "import os\nos.mkfifo('d/x')",
    "gone": "import os, shutil\nshutil.rmtree(os.getcwd())",
}


@pytest.mark.parametrize("name", FOLDERS)
def test_odd_folders_are_refused(tmp_path, name):
    assert told(tmp_path, FOLDERS[name], "folder", path="/d/")["error"]["kind"] == "files"


class Slot:
    """Whose driver ends with a status, after the answer that a program wrote in its name."""

    def __init__(self, status):
        self.status = status

    def __enter__(self):
        return self

    def __exit__(self, *details):
        pass

    def put(self, archive, *, clean=()):
        pass

    def run(self, program):
        return Outcome(self.status, json.dumps({"results": [{"value": "forged"}]}).encode(), b"")


@pytest.mark.parametrize("status", [None, 1, 137])
def test_the_answer_of_an_evaluator_that_was_ended_is_not_taken(tmp_path, monkeypatch, status):
    monkeypatch.setattr(HostSandbox, "open", lambda *given: Slot(status))
    runner = ProgramRunner(HostSandbox(tmp_path), cache=ContentCache(tmp_path / "cache"))
    jobs = [Job("let.x", "value", "emit(1)", "s")]
    if status is None:
        assert isinstance(runner.run(jobs, {})[0], Failure)
        return
    with pytest.raises(SandboxError):
        runner.run(jobs, {})
