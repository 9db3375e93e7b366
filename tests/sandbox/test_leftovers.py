"""What stays when something is killed or repeated: nothing."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from aespec.sandbox.api import SandboxError
from tests.sandbox.scene import LIMITS, RECIPE, descendants, is_running, make_tar, shell_of, wait_for

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.needs("userns")


def test_nothing_is_left_when_the_parent_is_killed(cache, context):
    script = textwrap.dedent(f"""
        from pathlib import Path
        from aespec.sandbox import open_sandbox
        from aespec.sandbox.api import Program, SandboxLimits
        from tests.sandbox.scene import descendants, is_running, wait_for, RECIPE
        fork = open_sandbox("fork", roots=("host",))
        image = fork.prepare(RECIPE, Path({str(context)!r}))
        with fork.open(image, SandboxLimits()) as slot:
            print("ready", flush=True)
            script = "setsid sleep 1000 & trap '' TERM HUP; sleep 1000; sleep 1000"
            slot.run(Program(("/bin/sh", "-c", script)))
    """)
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    assert wait_for(lambda: len(descendants(process.pid)) >= 4)
    children = descendants(process.pid)
    mounts = Path("/proc/self/mountinfo").read_text()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert wait_for(lambda: not any(is_running(pid) for pid in children))
    assert Path("/proc/self/mountinfo").read_text() == mounts
    from aespec.sandbox.fork.cgroup import parent_folders, reap_groups

    reap_groups()
    left = [path for parent in parent_folders().values() for path in parent.glob(f"aespec-{process.pid}-*")]
    assert not left


def test_a_killed_supervisor_takes_its_program_along(fork, context):
    image = fork.prepare(RECIPE, context)
    with fork.open(image, LIMITS) as slot:
        children = []

        def strike():
            assert wait_for(lambda: len(descendants(slot._worker.pid)) >= 2)
            children.extend(descendants(slot._worker.pid))
            os.kill(slot._worker.pid, signal.SIGKILL)

        import threading

        thread = threading.Thread(target=strike)
        thread.start()
        with pytest.raises(SandboxError, match="ended unexpectedly"):
            shell_of(slot)("sleep 1000", timeout_s=60.0)
        thread.join()
    assert children
    assert wait_for(lambda: not any(is_running(pid) for pid in children))


def held(folder):
    return len(list((folder / "fd").iterdir())), (folder / "mountinfo").read_text()


def test_many_runs_leave_nothing(fork, context):
    image = fork.prepare(RECIPE, context)
    with fork.open(image, LIMITS) as slot:
        folder = Path(f"/proc/{slot._worker.pid}")
        shell_of(slot)("true")
        slot.put(make_tar({"f": "x"}))
        slot.get(["/f"])
        before = held(folder)
        for _ in range(50):
            shell_of(slot)("sleep 100 & true")
            slot.put(make_tar({"f": "x"}))
            slot.get(["/f"])
        assert held(folder) == before
        assert descendants(slot._worker.pid) == []
    fork.close()
    assert not folder.exists()


def test_a_supervisor_is_used_again_and_keeps_nothing(fork, context):
    image = fork.prepare(RECIPE, context)
    seen = []
    for _ in range(3):
        with fork.open(image, LIMITS) as slot:
            seen.append((slot._worker.pid, held(Path(f"/proc/{slot._worker.pid}"))))
            assert shell_of(slot)("cat /left /tmp/left").status == 1
            shell_of(slot)("echo x >/left; echo x >/tmp/left; mkdir /usr/local/x; rm -rf /home")
    assert len({pid for pid, _ in seen}) == 1
    assert seen[0][1][0] == seen[2][1][0], "descriptors"
    assert len(seen[0][1][1].splitlines()) == len(seen[2][1][1].splitlines()), "mounts"


def test_a_supervisor_of_which_an_answer_is_owed_is_not_used_again(fork, context):
    image = fork.prepare(RECIPE, context)

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), fork.open(image, LIMITS) as slot:  # noqa: PT012
        pid = slot._worker.pid
        before = signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        try:
            shell_of(slot)("echo stale; sleep 1000", timeout_s=60.0)
        finally:
            signal.signal(signal.SIGALRM, before)
    assert wait_for(lambda: not is_running(pid))
    with fork.open(image, LIMITS) as slot:
        assert shell_of(slot)("echo fresh").stdout == b"fresh\n"
