"""What every backend must do alike: programs, files, endings."""

import io
import tarfile
import time

import pytest

from aespec.sandbox.api import Program, SandboxError, SandboxLimits
from tests.sandbox.scene import LIMITS, make_tar, python_of, read_tar, shell_of


def test_abilities_name_a_usable_tier(sandbox):
    abilities = sandbox.abilities()
    assert abilities.is_usable
    assert abilities.tier in ("full", "single-uid")
    assert abilities.name == sandbox.name
    assert all(abilities.missing.values()), "whatever is missing has its remedy"


def test_image_keeps_what_the_recipe_says(image):
    assert image.digest.startswith("sha256:")
    assert image.env["FROM_RECIPE"] == "yes"
    assert image.env["PATH"]
    assert (image.workdir, image.user) == ("/app", "agent")


def test_preparing_again_finds_the_same_image(sandbox, image, tmp_path):
    from tests.sandbox.scene import RECIPE

    assert sandbox.prepare(RECIPE, tmp_path).digest == image.digest


# --- programs -------------------------------------------------------------------------------------


def test_streams_and_status(sh):
    outcome = sh("echo out; echo err >&2; exit 3")
    assert (outcome.status, outcome.stdout, outcome.stderr) == (3, b"out\n", b"err\n")
    assert not outcome.is_timed_out
    assert not outcome.is_truncated
    assert set(outcome.seconds) == {"start", "run", "stop"}
    assert all(seconds >= 0 for seconds in outcome.seconds.values())


def test_arguments_are_not_read_by_a_shell(shared):
    argv = ("/usr/bin/printf", "%s|", "a b", "$HOME", "", "*", "'\"", "new\nline", "é")
    assert shared.run(Program(argv)).stdout.decode() == "a b|$HOME||*|'\"|new\nline|é|"


def test_environment_is_the_images_and_the_programs(sh):
    outcome = sh('echo "$FROM_RECIPE $OWN $PATH"', env={"OWN": "a b$", "PATH": "/usr/bin:/bin"})
    assert outcome.stdout == b"yes a b$ /usr/bin:/bin\n"


def test_environment_of_the_host_stays_out(sh, monkeypatch):
    monkeypatch.setenv("AESPEC_SECRET_OF_HOST", "leaked")
    assert b"leaked" not in sh("env").stdout


def test_home_is_the_accounts(sh, sandbox):
    assert sh('echo "$HOME"').stdout == b"/root\n"
    assert sh('echo "$HOME"', user="agent").stdout == b"/home/agent\n"


def test_working_folder(sh):
    assert sh("pwd", cwd="/usr/bin").stdout == b"/usr/bin\n"


def test_missing_working_folder_is_the_askers_slip(sh):
    with pytest.raises(SandboxError) as caught:
        sh("pwd", cwd="/no/such/folder")
    assert caught.value.boundary == "spec"


def test_unknown_account_is_the_askers_slip(sh):
    with pytest.raises(SandboxError) as caught:
        sh("id", user="stranger")
    assert caught.value.boundary == "spec"


def test_relative_program_is_refused(shared):
    with pytest.raises(SandboxError):
        shared.run(Program(("sh", "-c", "true")))


def test_user(sh, sandbox):
    outcome = sh("id -u; id -g; touch /home/agent/mine && stat -c %u /home/agent/mine", user="agent")
    if sandbox.abilities().tier == "full":
        assert outcome.stdout.split() == [b"1000", b"1000", b"1000"]
        assert sh("touch /etc/mine", user="agent").status != 0
    else:
        assert "not measured" in sandbox.abilities().facts["users"]


def test_root_gives_files_to_others(slot, sandbox):
    outcome = shell_of(slot)("touch /f && chown agent:agent /f && stat -c %u:%g /f")
    assert outcome.status == 0, outcome.stderr
    if sandbox.abilities().tier == "full":
        assert outcome.stdout == b"1000:1000\n"


def test_root_can_become_another_user(slot, sandbox):
    script = "import os; os.setgroups([]); os.setgid(1000); os.setuid(1000); print(os.getuid())"
    outcome = python_of(slot)(script)
    assert outcome.status == 0, outcome.stderr
    if sandbox.abilities().tier == "full":
        assert outcome.stdout == b"1000\n"


@pytest.mark.parametrize(("mask", "mode"), [(0o022, b"644"), (0o077, b"600"), (0o000, b"666")])
def test_umask(sh, mask, mode):
    script = "rm -f /tmp/m; touch /tmp/m; stat -c %a /tmp/m"
    assert sh(script, umask=mask).stdout.strip() == mode


def test_stdin(sh):
    assert sh("cat", stdin=b"a\x00b\nc").stdout == b"a\x00b\nc"
    assert sh("cat").stdout == b""


def test_large_stdin_meets_large_stdout(sh):
    content = bytes(range(256)) * 4096
    outcome = sh("cat; cat >&2 </dev/null", stdin=content, output_limit_bytes=2 << 20)
    assert outcome.stdout == content


def test_bytes_come_back_as_bytes(sh):
    outcome = sh(r"printf '\033]0;title\007\033[2J\377\000'")
    assert outcome.stdout == b"\x1b]0;title\x07\x1b[2J\xff\x00"


def test_missing_and_unusable_programs_end_as_in_a_shell(shared):
    assert shared.run(Program(("/no/such/program",))).status == 127
    assert shared.run(Program(("/etc/passwd",))).status == 126


@pytest.mark.parametrize(("signal", "number"), [("KILL", 9), ("SEGV", 11), ("ABRT", 6), ("TERM", 15)])
def test_death_by_a_signal_has_no_status(sh, signal, number):
    outcome = sh(f"kill -{signal} $$")
    assert (outcome.status, outcome.signal) == (None, number)


def test_a_program_is_not_process_one(sh):
    # There, signals without a handler would be ignored, and orphans would be its business.
    assert sh("echo $$").stdout.strip() != b"1"


def test_cores(shared):
    count = python_of(shared)("import os; print(len(os.sched_getaffinity(0)))", cores=1)
    assert count.stdout == b"1\n"


def test_no_descriptor_is_left_open(shared):
    outcome = python_of(shared)("import os; print(sorted(int(f) for f in os.listdir('/proc/self/fd'))[:5])")
    assert outcome.stdout == b"[0, 1, 2, 3]\n"  # 3 is the listing's own


def test_own_session_without_a_terminal(shared):
    script = "import os; print(os.getsid(0) == os.getpgid(0)); open('/dev/tty')"
    outcome = python_of(shared)(script)
    assert outcome.stdout == b"True\n"
    assert outcome.status == 1


def test_loopback_works(shared):
    script = """
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: server.accept()[0].sendall(b"hello")).start()
print(socket.create_connection(server.getsockname()).recv(5))
"""
    assert python_of(shared)(script).stdout == b"b'hello'\n"


def test_devices_of_a_usual_system(sh):
    script = (
        "echo x >/dev/null; head -c2 /dev/zero | od -An -tx1; head -c4 /dev/urandom | wc -c; "
        "echo hi >/dev/stdout; echo x >/dev/shm/f && cat /dev/shm/f; ls /dev/pts >/dev/null && echo pts; "
        "echo x >/dev/full"
    )
    outcome = sh(script)
    assert outcome.stdout.split() == [b"00", b"00", b"4", b"hi", b"x", b"pts"]
    assert outcome.status == 1, "a full disk is told"


def test_a_pseudo_terminal_can_be_made(shared):
    outcome = python_of(shared)("import pty, os; a, b = pty.openpty(); print(os.ttyname(b))")
    assert outcome.stdout.startswith(b"/dev/pts/"), outcome.stderr


# --- limits of time and output --------------------------------------------------------------------


def test_timeout_ends_what_hides_from_its_parent(slot):
    script = """
        setsid sh -c 'trap "" TERM HUP INT; while :; do date +%s%N >/tmp/alive; sleep 0.02; done' &
        nohup sh -c 'sleep 60' >/dev/null 2>&1 &
        sleep 60
    """
    before = time.monotonic()
    outcome = shell_of(slot)(script, timeout_s=1.0)
    assert outcome.is_timed_out
    assert outcome.status is None
    assert time.monotonic() - before < 20
    first = slot.get(["/tmp/alive"])
    time.sleep(0.3)
    assert slot.get(["/tmp/alive"]) == first
    assert shell_of(slot)("echo still here").stdout == b"still here\n"


def test_nothing_outlives_a_program(slot):
    outcome = shell_of(slot)(
        "setsid nohup sh -c 'while :; do date +%s%N >/tmp/alive; sleep 0.02; done' >/dev/null 2>&1 & "
        "sleep 0.3"
    )
    assert outcome.status == 0
    first = slot.get(["/tmp/alive"])
    time.sleep(0.3)
    assert slot.get(["/tmp/alive"]) == first
    assert "alive" in str(read_tar(first))


def test_a_daemon_that_holds_the_streams_does_not_hold_the_run(slot):
    before = time.monotonic()
    outcome = shell_of(slot)("sleep 30 & echo done", timeout_s=40.0)
    if outcome.is_timed_out:
        pytest.fail("a child in the background held the run until its limit")
    assert outcome.stdout == b"done\n"
    assert time.monotonic() - before < 20


def test_output_above_the_limit_is_dropped(sh):
    outcome = sh("head -c 3000000 /dev/zero; head -c 10 /dev/zero >&2; echo end >&2", output_limit_bytes=1000)
    assert outcome.status == 0
    assert outcome.is_truncated
    assert len(outcome.stdout) == 1000
    assert outcome.stderr.endswith(b"end\n")


def test_a_gigabyte_of_output_neither_blocks_nor_stays(sandbox, image):
    size = 1 << 30
    if sandbox.name == "docker":
        size = 64 << 20  # the engine hands on some 20 MB/s
    with sandbox.open(image, SandboxLimits(memory_bytes=256 << 20, disk_bytes=64 << 20, cpu=2.0)) as slot:
        outcome = shell_of(slot)(f"head -c {size} /dev/zero; echo end >&2", timeout_s=120.0)
    assert outcome.status == 0, outcome
    assert outcome.is_truncated
    assert len(outcome.stdout) == 1024 * 1024
    assert outcome.stderr == b"end\n"


# --- files ----------------------------------------------------------------------------------------


def test_put_and_get(slot):
    slot.put(
        make_tar({"deep/in/a.txt": "one", "b.txt": "two"}, uid=0, gid=0, mode=0o640, mtime=1_500_000_000)
    )
    assert shell_of(slot)("cat /deep/in/a.txt; stat -c '%a %Y' /b.txt").stdout == b"one640 1500000000\n"
    shell_of(slot)("printf changed >/deep/in/a.txt; ln -s /etc/passwd /deep/link; mkdir /deep/empty")
    found = read_tar(slot.get(["/deep", "b.txt", "/not/there"]))
    assert found == {
        "b.txt": b"two",
        "deep": None,
        "deep/empty": None,
        "deep/in": None,
        "deep/in/a.txt": b"changed",
        "deep/link": "->/etc/passwd",
    }


def test_get_is_sorted_and_plain(slot):
    shell_of(slot)("mkdir /d; cd /d; touch z a m; mkfifo pipe; ln a hard; chmod 4755 z")
    with tarfile.open(fileobj=io.BytesIO(slot.get(["/d", "/d/a"]))) as tar:
        entries = list(tar)
    assert [entry.name for entry in entries] == ["d", "d/a", "d/hard", "d/m", "d/z"]
    assert all(entry.isreg() for entry in entries[1:])
    assert entries[4].mode == 0o4755
    assert all(not entry.uname and entry.mtime == int(entry.mtime) for entry in entries)


def test_owners_are_kept_where_there_are_several(slot, sandbox):
    slot.put(make_tar({"f": "x"}, uid=1000, gid=50))
    with tarfile.open(fileobj=io.BytesIO(slot.get(["/f"]))) as tar:
        entry = tar.getmember("f")
    if sandbox.abilities().tier == "full":
        assert (entry.uid, entry.gid) == (1000, 50)
    else:
        assert (entry.uid, entry.gid) == (0, 0)


def test_get_of_nothing_is_an_empty_tar(slot):
    assert read_tar(slot.get(["/nothing", "/etc/passwd/below"])) == {}


def test_get_above_the_limit(slot):
    shell_of(slot)("head -c 300000 /dev/zero >/big")
    with pytest.raises(SandboxError):
        slot.get(["/big"], limit_bytes=100_000)
    assert len(slot.get(["/big"], limit_bytes=400_000)) > 300_000


def test_put_cleans_first(slot):
    run = shell_of(slot)
    run("mkdir -p /out/old/deep && echo x >/out/old/deep/f && chmod 000 /out/old; ln -s /etc /out/link")
    slot.put(make_tar({"out/new": "n"}), clean=["/out"])
    assert run("find /out; test -e /etc/passwd && echo kept").stdout.split() == [
        b"/out",
        b"/out/new",
        b"kept",
    ]
    slot.put(b"", clean=["/out", "/never/there"])
    assert run("test -e /out").status == 1


@pytest.mark.parametrize("name", ["../outside", "a/../../outside", "/../outside", "a/.."])
def test_put_refuses_names_that_climb(slot, name):
    with pytest.raises(SandboxError):
        slot.put(make_tar({"fine": "f", name: "x"}))
    assert shell_of(slot)("test -e /fine").status == 1, "nothing is put when one entry is refused"


def test_put_refuses_devices(slot):
    device = tarfile.TarInfo()
    device.type, device.devmajor, device.devminor = tarfile.CHRTYPE, 1, 3
    with pytest.raises(SandboxError):
        slot.put(make_tar({"null": device}))


def test_clean_refuses_paths_that_climb(slot):
    for path in ("../etc", "/", "/a/../.."):
        with pytest.raises(SandboxError):
            slot.put(b"", clean=[path])


def test_put_of_no_tar(slot):
    with pytest.raises(SandboxError):
        slot.put(b"this is no tar at all" * 100)


def test_links_lead_nowhere_but_the_slot(slot, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret of the host")
    run = shell_of(slot)
    run(
        'ln -s "$1" /out; ln -s "$1/secret" /leak; '
        "ln -s ../../../../../../.. /up; ln -s /proc/1/root /proc-root",
        str(outside),
    )
    assert read_tar(slot.get(["/out", "/leak"])) == {"out": f"->{outside}", "leak": f"->{outside}/secret"}
    assert b"secret of the host" not in slot.get(
        ["/out/secret", "/leak", f"/up{outside}/secret", "/proc-root/etc"]
    )
    for name in ("out/planted", f"up{outside}/planted"):
        try:
            slot.put(make_tar({name: "x"}))
        except SandboxError:
            continue
    assert sorted(path.name for path in outside.iterdir()) == ["secret"]


def test_put_replaces_what_stands_in_the_way(slot):
    run = shell_of(slot)
    run("mkdir /x && touch /x/f && ln -s /etc/passwd /link && echo old >/file")
    slot.put(make_tar({"link": "new", "file": "new"}))
    assert (
        run("cat /link /file; test -L /link || echo plain; grep -c root /etc/passwd").stdout
        == b"newnewplain\n1\n"
    )


# --- state ----------------------------------------------------------------------------------------


def test_state_lives_from_run_to_run(slot):
    run = shell_of(slot)
    run("echo kept >/app/f; echo kept >/tmp/f; rm /etc/shells; rm -r /home/agent; mkdir /home/agent")
    assert (
        run("cat /app/f /tmp/f; test -e /etc/shells || echo gone; ls /home/agent").stdout
        == b"kept\nkept\ngone\n"
    )


def test_state_ends_with_its_slot(sandbox, image):
    with sandbox.open(image, LIMITS) as slot:
        shell_of(slot)("echo x >/left; echo x >/tmp/left; echo x >/dev/shm/left; rm /etc/passwd")
    with sandbox.open(image, LIMITS) as slot:
        outcome = shell_of(slot)("ls /left /tmp/left /dev/shm/left; cat /etc/passwd")
    assert b"root:" in outcome.stdout
    assert b"/left\n" not in outcome.stdout


def test_slots_side_by_side_share_nothing(sandbox, image):
    with sandbox.open(image, LIMITS) as first, sandbox.open(image, LIMITS) as second:
        shell_of(first)("echo first >/f")
        assert shell_of(second)("cat /f").status == 1
        shell_of(second)("echo second >/f")
        assert shell_of(first)("cat /f").stdout == b"first\n"


def test_a_folder_of_a_layer_can_be_replaced(slot):
    # What an overlay needs its marks on files for.
    outcome = shell_of(slot)(
        "rm -rf /home/agent && mkdir /home/agent && ls -A /home/agent && mv /home /elsewhere && ls /elsewhere"
    )
    assert outcome.status == 0, outcome.stderr
    assert outcome.stdout == b"agent\n"
