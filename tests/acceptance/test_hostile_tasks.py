"""Task folders made to harm: each command on one ends with a message, within bounds, and leaves nothing.

The commands run as a user runs them, in processes of their own, in the embedded sandbox.
"""

import ctypes
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.components import require
from tests.sandbox.scene import descendants, is_running, wait_for
from tests.trial.foreign.tasks import BASE, SHELL, SUM, write_files

pytestmark = pytest.mark.needs("userns", "uid-range")
ROOT = Path(__file__).resolve().parents[2]
REWARD = "/logs/verifier/reward"
LARGEST_MB = 600
"""What a process of a command may take, those in the sandbox included: their tasks allow 256 MiB."""

SMALL = "[environment]\nstorage_mb = 64\nmemory_mb = 256\nbuild_timeout_sec = 120.0\nallow_internet = false\n"
HASTY = SMALL.replace("120.0", "6.0")  # for builds that are to be ended, over a base that is there by then
BOMB = "bomb() { bomb | bomb & }\nbomb\nwait\nsleep 30\n"
CHECK = SHELL.partition("\n")[2]
ESCAPES = "\x1b[2J\x1b]0;pwned\x07\u202e"
_PR_SET_CHILD_SUBREAPER = 36


@dataclass
class Ended:
    """How a command ended; `peak_mb` is the largest of its processes."""

    status: int
    out: str
    err: str
    peak_mb: float


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """One cache for all: the base's layer is made once."""
    for name in ("userns", "uid-range"):
        require(name)
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def scene(tmp_path, cache):
    """Starts commands; what is left at the end of the test of processes, mounts and folders fails it."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # orphans come to this process
    before = set(descendants(os.getpid()))
    made = Scene(tmp_path, cache)
    made.temporary.mkdir()
    yield made
    assert wait_for(lambda: not [pid for pid in set(descendants(os.getpid())) - before if is_running(pid)])
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    mounts = Path("/proc/self/mountinfo").read_text()
    assert str(cache) not in mounts
    assert str(tmp_path) not in mounts
    assert list(made.temporary.iterdir()) == []
    if not made.was_killed:
        assert list(cache.glob("sandbox/*/tmp-*")) == []


class Scene:
    def __init__(self, folder, cache):
        self.folder = folder
        self.cache = cache
        self.temporary = folder / "temporary"
        self.was_killed = False

    def task(self, name="task", **settings):
        """The folder of a small task with some of it changed; times are short, and there is no network."""
        settings = {"verifier_timeout_s": 3.0, "agent_timeout_s": 3.0, **settings}
        more = settings.pop("toml", SMALL)
        path = self.folder / name
        write_files(path, **settings)
        with (path / "task.toml").open("a") as file:
            file.write(more)
        return path

    def start(self, *words):
        environment = {
            **os.environ,
            "AESPEC_CACHE": str(self.cache),
            "TMPDIR": str(self.temporary),
            "PYTHONPATH": str(ROOT),
        }
        with (self.folder / "out").open("wb") as out, (self.folder / "err").open("wb") as err:
            return subprocess.Popen(
                [sys.executable, "-m", "aespec", *map(str, words)],
                env=environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )

    def end(self, process):
        """Wait for it, and tell how it ended."""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out, err = ((self.folder / name).read_text(errors="strict") for name in ("out", "err"))
        # Until it is another program a process is as large as the one that started it: that can't be told.
        peak, own = usage.ru_maxrss, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return Ended(process.returncode, out, err, peak / 1024 if peak > own else 0.0)

    def run(self, *words):
        return self.end(self.start(*words))

    def trial(self, path, agent="oracle"):
        return self.run("trial", path, "--agent", agent, "--sandbox", "fork")

    def fuzz(self, path, *words):
        return self.run("fuzz", path, "--sandbox", "fork", *words)


def assert_is_harmless(ended):
    text = ended.out + ended.err
    assert "Traceback" not in text
    assert text.strip(), f"nothing is said, with status {ended.status}"
    assert all(char.isprintable() or char == "\n" for char in text), "nothing that a terminal obeys"
    assert len(text) < 40_000
    assert ended.peak_mb < LARGEST_MB


# --- what a task's programs do ------------------------------------------------------------------------------

TESTS_OF = {
    "a fork bomb": (BOMB, "ran longer than 3 s (VerifierTimeoutError)"),
    "a hang": ("sleep 100000\n", "raise timeout_sec in [verifier]"),
    "a hang that minds no signal": (
        "trap '' TERM INT HUP\nwhile :; do sleep 1; done\n",
        "ran longer than 3 s",
    ),
    "no reward": ("true\n", "wrote no reward (RewardFileNotFoundError)"),
    "a reward that is no number": (f"echo nan > {REWARD}.txt\n", "not finite"),
    "a reward without end": (f"echo 1e999 > {REWARD}.txt\n", "not finite"),
    "a reward of JSON without end": (
        f"echo '{{\"reward\": 1e999}}' > {REWARD}.json\n",
        "not a finite number",
    ),
    "a reward of 50 MB": (f"head -c 50000000 /dev/zero | tr '\\0' 1 > {REWARD}.txt\n", "one of several MiB"),
    "a reward of 200,000 keys": (
        f"(printf '{{\"a\": 1'; seq -f ',\"k%.0f\": 1' 200000; echo '}}') > {REWARD}.json\n",
        "one of several MiB",
    ),
    "all deleted": ("rm -rf --no-preserve-root / 2>/dev/null\n", "RewardFileNotFoundError"),
    "a full disk": ("cat /dev/zero > /app/zero\n" + CHECK, "the disk is full"),
    "a flood without end": ("yes\n" + CHECK, "disk"),
    "a hog": ("x=$(cat /dev/zero | tr '\\0' x)\necho 1 > /logs/verifier/reward.txt\n", "memory"),
    "escapes": (f"printf '{ESCAPES} 1 failed\\nFAILED {ESCAPES}::x - y\\n'; exit 3\n", "ended with status 3"),
}


@pytest.mark.parametrize("name", TESTS_OF)
def test_a_hostile_test_script_ends_in_a_message(scene, name):
    script, words = TESTS_OF[name]
    storage = {"a reward of 50 MB": 200}.get(name, 64)
    patience = {"a hog": 60.0}.get(name, 3.0)  # on a busy machine it takes a while to take all
    toml = SMALL.replace("64", str(storage), 1)
    ended = scene.trial(scene.task(test="#!/bin/bash\n" + script, toml=toml, verifier_timeout_s=patience))
    assert_is_harmless(ended)
    assert ended.status == 2
    assert words in ended.out
    assert list((scene.cache / "sandbox").glob("*/tmp-*")) == []


SOLUTIONS = {
    "a fork bomb": (SUM + BOMB, "PASS"),
    "a hang": ("sleep 100000\n", "ran longer than 3 s"),
    "a flood without end": (SUM + "yes\n", "PASS"),
    "a flood past the log": (SUM + "yes | head -c 30000000 >&2\n", "PASS"),
    "a full disk": (SUM + "cat /dev/zero > /app/zero\n", "PASS"),
    "a hog": (SUM + "x=$(cat /dev/zero | tr '\\0' x)\n", "PASS"),
    "all deleted": ("rm -rf --no-preserve-root / 2>/dev/null\n", "the verifier: can't start in '/app'"),
    "daemons": (
        SUM + 'for n in 1 2 3; do setsid sh -c \'trap "" TERM HUP; while :; do setsid sleep 300 & sleep 0.1; '
        "done' >/dev/null 2>&1 & done\nnohup sleep 300 &\n",
        "PASS",
    ),
    "20,000 files": (SUM + "mkdir m; cd m; seq 20000 | xargs touch\n", "PASS"),
    "names that are no text": (
        SUM + "printf x > $'new\\nline'; printf x > $'\\xff\\xfe'; printf x > $'\\e[2J\\a'; printf x > -rf\n",
        "PASS",
    ),
    "pipes and sockets": (
        SUM + "mkfifo pipe; python3 -c 'import socket; socket.socket(1).bind(\"s\")' || :\n",
        "PASS",
    ),
    "links out": (SUM + "ln -s /etc/shadow a; ln -s . loop; ln -s nowhere b; ln -s /proc/1/root c\n", "PASS"),
    "escapes": (f"printf '{ESCAPES}\\n'; printf '{ESCAPES}\\n' >&2; exit 4\n", "ended with status 4"),
}


@pytest.mark.parametrize("name", SOLUTIONS)
def test_a_hostile_solution_ends_in_a_verdict_or_a_message(scene, name):
    script, words = SOLUTIONS[name]
    ended = scene.trial(scene.task(solve=script))
    assert_is_harmless(ended)
    assert words in ended.out
    assert ended.status == (0 if words == "PASS" else 1 if "status 4" in words or name == "a hang" else 2)


DOCKERFILES = {
    "a hang": ("RUN sleep 100000\n", "build_timeout_sec"),
    "a flood without end": ("RUN yes\n", "build_timeout_sec"),
    "a fork bomb": ("RUN bomb() { bomb | bomb & }; bomb; sleep 1000\n", "could not be made"),
    "daemons that hold the streams": ("RUN setsid sleep 1000 & exit 3\n", "ended with status 3"),
    "escapes": ("RUN printf '\\033[2J\\033]0;x\\007\\n'; exit 3\n", "ended with status 3"),
}


@pytest.mark.parametrize("name", DOCKERFILES)
def test_a_hostile_dockerfile_ends_in_a_message(scene, name):
    line, words = DOCKERFILES[name]
    scene.trial(scene.task("base"), "nop")  # makes the base's layer, which may take longer
    ended = scene.trial(scene.task(dockerfile=BASE + line, toml=HASTY), "nop")
    assert_is_harmless(ended)
    assert ended.status == 2
    assert "line 3" in ended.out
    assert words in ended.out


# --- what lies in a task's folder ---------------------------------------------------------------------------


def make_fifo(path):
    os.mkfifo(path)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        before = Path.cwd()
        os.chdir(path.parent)
        try:
            made.bind(path.name)
        finally:
            os.chdir(before)


def make_link(target):
    return lambda path: path.symlink_to(target)


def make_huge(path):
    path.touch()
    os.truncate(path, 10 * 1024**3)


FOLDERS = {
    "a pipe in environment": ("environment/odd", make_fifo, "can't be copied into a container"),
    "a socket in tests": ("tests/odd", make_socket, "can't be copied into a container"),
    "a link to a folder outside": ("tests/odd", make_link("/etc"), "leads out of the task's folder"),
    "a link to a file outside": ("solution/odd", make_link("/etc/shadow"), "leads out of the task's folder"),
    "a link to itself": ("solution/odd", make_link("odd"), "leads to itself"),
    "a huge file": ("environment/odd", make_huge, "Keep only what the task needs"),
    "a huge task.toml": ("task.toml", make_huge, "Keep data in files of their own"),
    "a huge instruction": ("instruction.md", make_huge, "Keep data in files of their own"),
}


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize("command", ["trial", "fuzz"])
def test_a_hostile_folder_is_refused_with_the_way_out(scene, name, command):
    place, make, words = FOLDERS[name]
    path = scene.task()
    (path / place).unlink(missing_ok=True)
    make(path / place)
    ended = scene.trial(path, "nop") if command == "trial" else scene.fuzz(path)
    assert_is_harmless(ended)
    assert ended.status == 1
    assert " ".join(words.split()) in " ".join((ended.out + ended.err).split())
    assert ended.peak_mb < 100, "nothing of it is read"


def test_names_that_are_no_text_do_no_harm(scene):
    path = scene.task()
    for folder in ("environment", "tests", "solution"):
        with open(os.fsencode(path / folder) + b"/\xff\n\x1b[2J", "wb"):  # noqa: PTH123 - no path of text
            pass
    ended = scene.fuzz(path, "--budget", "4s")
    assert_is_harmless(ended)
    assert ended.status == 1


# --- audits of hostile tasks --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"test": "#!/bin/bash\nsleep 100000\n"},
            "ran into the task's limits of time: nothing more was tried",
        ),
        ({"test": "#!/bin/bash\n" + BOMB}, "VerifierTimeoutError"),
        ({"solve": "rm -rf --no-preserve-root / 2>/dev/null\n"}, "can't start in '/app'"),
        ({"test": f"#!/bin/bash\nprintf '{ESCAPES}\\n'\necho x > {REWARD}.txt\n"}, "not a number"),
        ({"solve": SOLUTIONS["names that are no text"][0]}, "cheat-wins"),
        ({"solve": SOLUTIONS["links out"][0] + "mkfifo pipe\n"}, "cheat-wins"),
        ({"solve": SOLUTIONS["20,000 files"][0]}, "cheat-wins"),
        ({"solve": SOLUTIONS["daemons"][0]}, "cheat-wins"),
        ({"dockerfile": BASE + "RUN sleep 1000\n", "toml": HASTY}, "build_timeout_sec"),
    ],
    ids=["hang", "bomb", "deletes", "escapes", "names", "links", "files", "daemons", "build"],
)
def test_an_audit_of_a_hostile_task_ends(scene, settings, words):
    ended = scene.fuzz(scene.task(**settings), "--budget", "4s")
    assert_is_harmless(ended)
    assert ended.status == 1
    assert words in " ".join(ended.out.split())


# --- interrupts ---------------------------------------------------------------------------------------------


def judged(cache):
    """How many verdicts stand in what interrupted audits left."""
    return sum(path.read_bytes().count(b"\n") for path in cache.glob("fuzz/*/judged.jsonl"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize("draw", range(3))
def test_an_interrupted_audit_shows_what_it_has_and_goes_on_from_there(scene, number, draw):
    path = scene.task(f"task-{number}-{draw}")
    shutil.rmtree(scene.cache / "fuzz", ignore_errors=True)
    process = scene.start("fuzz", path, "--sandbox", "fork")
    count = random.Random(draw).randint(1, 40)
    assert wait_for(lambda: judged(scene.cache) >= count)
    process.send_signal(number)
    ended = scene.end(process)
    assert_is_harmless(ended)
    assert ended.status in (1, 3)
    assert "it was interrupted: what stands here was found by then" in ended.out
    kept = judged(scene.cache)
    assert kept > 0
    whole = scene.fuzz(path, "--budget", "30s")
    assert "it was interrupted" not in whole.out
    assert judged(scene.cache) == 0, "what was made whole is forgotten"


def test_a_hang_keeps_no_interrupt_waiting(scene):
    slow = scene.task(test="#!/bin/bash\nsleep 100000\n", verifier_timeout_s=5000.0)
    process = scene.start("fuzz", slow, "--sandbox", "fork")
    assert wait_for(lambda: _sleeps_within(process.pid))
    process.send_signal(signal.SIGINT)
    ended = scene.end(process)
    assert "interrupted" in ended.out + ended.err or "stopped" in ended.err
    assert_is_harmless(ended)


def _sleeps_within(pid):
    names = []
    for child in descendants(pid):
        try:
            names.append(Path(f"/proc/{child}/cmdline").read_bytes())
        except OSError:
            continue
    return any(name.startswith(b"sleep\x00100000") for name in names)


@pytest.mark.needs("docker", "base-image")
def test_a_build_that_hangs_does_not_outlive_a_killed_command(scene):
    scene.was_killed = True
    path = scene.task(dockerfile=BASE + "RUN sleep 100000\n", toml="")
    process = scene.start("trial", path, "--agent", "nop", "--sandbox", "docker")
    assert wait_for(lambda: descendants(process.pid))
    time.sleep(1)
    process.kill()
    scene.end(process)
    shutil.rmtree(scene.temporary)  # the folder of a killed command is the next one's to remove
    scene.temporary.mkdir()


def test_a_killed_audit_leaves_nothing_and_loses_no_verdict(scene):
    scene.was_killed = True
    path = scene.task("killed")
    shutil.rmtree(scene.cache / "fuzz", ignore_errors=True)
    kept = 0
    for draw in range(4):
        process = scene.start("fuzz", path, "--sandbox", "fork")
        more = random.Random(draw).randint(1, 15)
        assert wait_for(lambda: judged(scene.cache) >= kept + more)  # noqa: B023
        process.kill()
        scene.end(process)
        assert judged(scene.cache) >= kept
        kept = judged(scene.cache)
        assert kept > 0
        time.sleep(0.1)
    whole = scene.run("fuzz", path, "--sandbox", "fork", "--format", "json")
    assert whole.status == 1
    assert '"is_partial": false' in whole.out
