"""What only the embedded backend has: recipes as layers, base images, identities."""

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from aespec.bundle.recipe import AddUser, Copy, MakeFolder, Packages, Raw, Recipe, Shell
from aespec.sandbox import open_sandbox
from aespec.sandbox.api import Program, SandboxError, SandboxLimits
from aespec.sandbox.fork import build, roots
from tests.sandbox.scene import BASE, LIMITS, RECIPE, python_of, read_tar, run_in, shell_of

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.needs("userns")


# --- recipes -----------------------------------------------------------------------------------


def test_steps_are_done_in_order(fork, context):
    (context / "data").write_text("data")
    (context / "step.sh").write_text("cat /app/data; echo $HOME >/app/home; pwd >/app/pwd")
    (context / "last.sh").write_text("id -un >/app/who; rm /app/data")
    steps = (
        AddUser("agent", 1000, "/home/agent"),
        MakeFolder("/app", 0o775, "agent"),
        Copy("data", "/app/data", 0o600, "agent"),
        Copy("data", "/new/folder/file", 0o755),
        Shell("step.sh", workdir="/made/here"),
        Shell("last.sh", user="agent", workdir="/app"),
    )
    image = fork.prepare(Recipe(BASE, steps, "c", workdir="/final"), context)
    outcome = run_in(
        fork,
        image,
        "cat /app/pwd /app/who; stat -c '%a %U %n' /app /new /new/folder/file /home/agent; "
        "ls /app/data /aespec-setup; stat -c %a /final /made/here",
        user="agent",
    )
    lines = outcome.stdout.decode().splitlines()
    assert lines[0] == "/made/here"
    if fork.abilities().tier == "full":
        assert lines[1] == "agent"
        assert lines[2:6] == [
            "775 agent /app",
            "755 root /new",
            "755 root /new/folder/file",
            "755 agent /home/agent",
        ]
    assert lines[6:] == ["755", "755"]
    assert outcome.stderr.count(b"No such file") == 2


def test_a_step_has_no_network_unless_it_asks(fork, context):
    (context / "look.sh").write_text(
        "grep -v -e lo: -e '|' -e tun -e sit -e ip6 -e gre /proc/net/dev >/seen || true"
    )
    image = fork.prepare(Recipe(BASE, (Shell("look.sh"),), "c"), context)
    assert run_in(fork, image, "cat /seen /etc/resolv.conf; echo end").stdout == b"end\n"


def test_a_failing_step_tells_its_output(fork, context):
    (context / "bad.sh").write_text("echo before; false; echo after")
    with pytest.raises(SandboxError) as caught:
        fork.prepare(Recipe(BASE, (Shell("bad.sh"),), "c"), context)
    assert caught.value.boundary == "image"
    assert "before" in str(caught.value)
    assert "after" not in str(caught.value)


def test_a_failed_build_leaves_nothing(fork, context):
    before = set(fork._workshop().store.folder.iterdir())
    (context / "bad.sh").write_text("echo x >/x; exit 9")
    with pytest.raises(SandboxError):
        fork.prepare(Recipe(BASE, (Shell("bad.sh"),), "c"), context)
    assert set(fork._workshop().store.folder.iterdir()) == before


def test_sources_stay_in_the_context(fork, context):
    (context.parent / "outside").write_text("x")
    (context / "link").symlink_to("../outside")
    for source in ("../outside", "/etc/passwd", "link", "", "missing"):
        with pytest.raises(SandboxError):
            fork.prepare(Recipe(BASE, (Copy(source, "/x"),), "c"), context)


def test_dockerfile_lines_need_an_engine(fork, context):
    with pytest.raises(SandboxError, match="engine") as caught:
        fork.prepare(Recipe(BASE, (Raw("RUN true"),), "c"), context)
    assert caught.value.remedy


def test_layers_are_shared_and_depend_on_content(fork, context):
    (context / "a").write_text("one")
    shared = (MakeFolder("/shared"), Shell("s.sh"))
    (context / "s.sh").write_text("echo built >>/shared/log")
    first = fork.prepare(Recipe(BASE, (*shared, Copy("a", "/a")), "c"), context)
    (context / "a").write_text("two")
    second = fork.prepare(Recipe(BASE, (*shared, Copy("a", "/a")), "c"), context)
    assert first.digest != second.digest
    common = set(first.reference.lowers) & set(second.reference.lowers)
    assert len(common) == 3, "base, folder and script; not the copy, nor what comes after it"
    assert run_in(fork, first, "cat /a").stdout == b"one"
    assert run_in(fork, second, "cat /a /shared/log").stdout == b"twobuilt\n"


def test_end_of_a_program_does_not_change_its_layers(fork, context):
    image = fork.prepare(RECIPE, context)
    run_in(fork, image, "rm -rf /etc /home /app; echo x >/x")
    assert (
        run_in(fork, image, "test -e /etc/passwd && test -d /app && test ! -e /x && echo whole").stdout
        == b"whole\n"
    )


# --- base images -------------------------------------------------------------------------------


def test_the_hosts_root_is_read_only_and_not_reproducible(fork, context):
    image = fork.prepare(RECIPE, context)
    assert not image.is_reproducible
    outcome = run_in(fork, image, "touch /usr/x; rm -f /usr/bin/env; echo x >/usr/bin/env")
    assert outcome.status != 0
    assert Path("/usr/bin/env").exists()


def test_packages_that_the_host_lacks_are_told_with_the_ways_out(fork, context):
    recipe = Recipe(BASE, (Packages("apt", ("python3", "no-such-package-here")),), "c")
    with pytest.raises(SandboxError, match="no-such-package-here") as caught:
        fork.prepare(recipe, context)
    assert "--image-map" in caught.value.remedy


def test_without_the_hosts_root_nothing_is_left(cache, context):
    fork = open_sandbox("fork", roots=("store", "host"), allow_host_root=False)
    with pytest.raises(SandboxError, match="no base image no/such:base here"):
        fork.prepare(Recipe("no/such:base", (), "c"), context)


def test_a_way_that_fails_here_leaves_the_others(cache, context, tmp_path, monkeypatch):
    failing = tmp_path / "mmdebstrap"
    failing.write_text("#!/bin/sh\necho no route to the archive >&2\nexit 25\n")
    failing.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    image = open_sandbox("fork", roots=("mmdebstrap", "host")).prepare(RECIPE, context)
    assert not image.is_reproducible
    with pytest.raises(SandboxError, match="mmdebstrap could not make bookworm:\nno route") as caught:
        open_sandbox("fork", roots=("mmdebstrap",)).prepare(RECIPE, context)
    assert "--image-map" in caught.value.remedy


def test_the_hosts_root_stands_in_for_debian_only(fork, context):
    assert not fork.prepare(Recipe("debian:trixie", (), "c"), context).is_reproducible
    for name in ("nosuch/image:1", "debianish:1", "my/debian:1"):
        with pytest.raises(SandboxError, match=f"no base image {name} here.*only for debian"):
            fork.prepare(Recipe(name, (), "c"), context)


def test_mmdebstrap_that_can_change_no_root_is_not_there(tmp_path):
    program = tmp_path / "mmdebstrap"
    program.write_text("#!/bin/sh\necho 'E: unable to pick chroot mode automatically' >&2\nexit 1\n")
    program.chmod(0o755)
    assert roots.bootstrap_fault(str(program)) == "unable to pick chroot mode automatically"
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho 'E: apt-get update failed' >&2\nexit 1\n")
    other.chmod(0o755)
    assert roots.bootstrap_fault(str(other)) == "", "no mirror is a matter of the network, found out later"


def test_a_failed_installation_is_told_by_what_is_marked_as_an_error():
    printed = [f"Get:{number} http://deb.example" for number in range(40)]
    told = build._telling_lines("\n".join([*printed, "E: Unable to locate package x", "done"]))
    assert told == ["E: Unable to locate package x"]
    assert build._telling_lines("\n".join(printed)) == printed[-12:]


def busybox_like(path):
    """A root file system in a tar: this host's shell and the libraries that it needs."""
    listed = subprocess.run(["ldd", "/bin/sh"], capture_output=True, text=True, check=True).stdout
    needed = [word for word in listed.split() if word.startswith("/")]
    with tarfile.open(path, "w:gz") as tar:
        for name in ["/bin/sh", *needed]:
            tar.add(os.path.realpath(name), name.lstrip("/"))
        entry = tarfile.TarInfo("dev/console")
        entry.type, entry.devmajor, entry.devminor = tarfile.CHRTYPE, 5, 1
        tar.addfile(entry)
        link = tarfile.TarInfo("etc/resolv.conf")
        link.type, link.linkname = tarfile.SYMTYPE, "/run/elsewhere"
        tar.addfile(link)
    return path


def test_a_root_from_a_tar(cache, context, tmp_path):
    fork = open_sandbox("fork", roots=("store",), image_map={"public:1": "local:1"})
    digest = fork.import_image("local:1", busybox_like(tmp_path / "root.tar.gz"))
    assert digest.startswith("sha256:")
    image = fork.prepare(Recipe("public:1", (), "c"), context)
    assert image.is_reproducible
    assert run_in(fork, image, "echo own; echo /*").stdout.startswith(b"own\n/bin /dev /etc /lib")


@pytest.mark.parametrize("content", [b"", b"no tar" * 1000])
def test_a_root_from_what_is_no_tar(cache, tmp_path, content):
    path = tmp_path / "root.tar"
    path.write_bytes(content)
    with pytest.raises(SandboxError) as caught:
        open_sandbox("fork").import_image("x", path)
    assert caught.value.boundary == "image"


@pytest.mark.needs("docker", "base-image")
def test_a_root_from_the_engine(cache, context):
    fork = open_sandbox("fork", roots=("engine",))
    image = fork.prepare(Recipe(BASE, (), "c"), context)
    assert image.is_reproducible
    assert run_in(fork, image, "cat /etc/os-release").stdout.count(b"bookworm")
    assert fork.prepare(Recipe(BASE, (), "c"), context).digest == image.digest


@pytest.mark.full
@pytest.mark.needs("docker", "base-image", "package-index")
@pytest.mark.parametrize("tier", ["full", "single-uid"])
def test_packages_are_installed(cache, context, tier):
    fork = open_sandbox("fork", roots=("engine",), tier=tier)
    steps = (Packages("apt", ("python3", "python3-pip")), Packages("pip", ("six==1.16.0",)))
    image = fork.prepare(Recipe(BASE, steps, "c"), context)
    with fork.open(image, LIMITS) as slot:
        outcome = slot.run(Program(("/usr/bin/python3", "-c", "import six; print(six.__version__)")))
        left = read_tar(slot.get(["/var/lib/apt/lists", "/usr/sbin/policy-rc.d", "/etc/resolv.conf"]))
    assert outcome.stdout == b"1.16.0\n"
    assert set(left) <= {"var/lib/apt/lists", "var/lib/apt/lists/partial", "etc/resolv.conf"}
    assert left["etc/resolv.conf"] == b""


@pytest.mark.full
@pytest.mark.needs("mmdebstrap", "package-index")
def test_a_root_by_mmdebstrap(cache, context):
    fork = open_sandbox("fork", roots=("mmdebstrap",))
    image = fork.prepare(Recipe(BASE, (), "c"), context)
    assert run_in(fork, image, "cat /etc/os-release").stdout.count(b"bookworm")


def test_names_that_mmdebstrap_can_make():
    for name in ("debian:bookworm-slim", "debian:bookworm", "docker.io/library/debian:trixie-slim"):
        assert roots._DEBIAN_NAME.match(name)
    for name in ("ubuntu:22.04", "debian:bookworm-backports", "debian@sha256:00", "my/debian:bookworm"):
        assert not roots._DEBIAN_NAME.match(name)


# --- where the writable layer lies on disk -----------------------------------------------------


@pytest.fixture(scope="module")
def on_disk(cache):
    return open_sandbox("fork", roots=("host",), upper="disk")


def test_disk_upper_keeps_state_and_goes(on_disk, context):
    image = on_disk.prepare(RECIPE, context)
    store = on_disk._workshop().store
    before = set(store.folder.iterdir())
    with on_disk.open(image, LIMITS) as slot:
        run = shell_of(slot)
        run("rm -rf /home/agent; mkdir -p /home/agent/x; echo kept >/home/agent/x/f; chmod 0 /home/agent/x")
        assert run("cat /home/agent/x/f").stdout == b"kept\n"
        assert set(store.folder.iterdir()) - before
    assert set(store.folder.iterdir()) == before


def test_disk_upper_is_watched(on_disk, context):
    image = on_disk.prepare(RECIPE, context)
    with on_disk.open(image, SandboxLimits(disk_bytes=32 << 20)) as slot:
        outcome = python_of(slot)(
            "import time\n"
            "for n in range(200):\n"
            "    open(f'/app/{n}', 'wb').write(bytes(1 << 20)); time.sleep(0.02)\n",
            timeout_s=60.0,
        )
    assert outcome.status is None
    assert not outcome.is_timed_out
