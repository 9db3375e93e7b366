"""What a test may need of the machine beyond Python: each component is probed once, when first asked for.

A test names its components with `@pytest.mark.needs("docker", "base-image")` or calls `require(name)` in a
fixture. Where one is missing the test is skipped with what is missing and how to get it; with
AESPEC_REQUIRE_ALL=1, as in CI, it fails, so that nothing goes untested unseen.
"""

import functools
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

BASE_IMAGE = "debian:bookworm-slim"
HARBOR_SERIES = "0.26."
COMPOSE_AT_LEAST = (2, 40)
OF_THE_ENGINE = frozenset({"docker", "base-image", "compose", "harbor"})
MACHINE = "`.ci/machine` as root makes it on Debian, then source the env.sh that it names"


class Missing(Exception):
    """The component is not there; the text says what was looked for and how to get it."""


def require(name: str) -> None:
    """Goes on if the component is there; else skips the test, or fails it where all are required."""
    reason = missing(name)
    if reason is None:
        return
    if os.environ.get("AESPEC_REQUIRE_ALL") == "1":
        pytest.fail(f"{name} is required here: {reason}", pytrace=False)
    pytest.skip(f"needs {name}: {reason}")


@functools.cache
def missing(name: str) -> str | None:
    """Why the component cannot be used, or None if it can."""
    try:
        PROBES[name]()
    except Missing as reason:
        return str(reason)
    return None


def needed_by(item: pytest.Item) -> frozenset[str]:
    """The components that a collected test names in its `needs` marks."""
    names = {name for mark in item.iter_markers("needs") for name in mark.args}
    unknown = names - PROBES.keys()
    if unknown:
        raise pytest.UsageError(f"{item.nodeid} needs unknown components {sorted(unknown)}")
    return frozenset(names)


@functools.cache
def find_python(version: str) -> Path | None:
    """An interpreter of that minor version (`3.9`) that really starts; a shim alone does not."""
    managed = os.environ.get("PYENV_ROOT") or str(Path.home() / ".pyenv")
    # A folder that may not be read holds nothing for us: glob says so by an empty list, pathlib by an error.
    found = glob.glob(f"{glob.escape(managed)}/versions/{version}.*/bin/python")  # noqa: PTH207
    candidates = [f"python{version}", *sorted(found, reverse=True)]
    program = "import sys; print('%d.%d' % sys.version_info[:2]); print(sys.executable)"
    for candidate in candidates:
        out = _output([candidate, "-c", program])
        if out and out.split()[0] == version:
            return Path(out.split("\n")[1])
    return None


def harbor() -> Path:
    """The Harbor executable to run; raises Missing where there is none of the right series."""
    named = os.environ.get("AESPEC_HARBOR") or shutil.which("harbor")
    if not named or not os.access(named, os.X_OK):
        raise Missing(f"no Harbor at AESPEC_HARBOR nor on PATH; {MACHINE}")
    # Asking the package's metadata takes 50 ms, starting Harbor to ask takes seconds.
    beside = Path(named).parent / "python"
    ask = "from importlib.metadata import version; print(version('harbor'))"
    version = _output([str(beside), "-c", ask]) or _output([named, "--version"])
    if not version or not version.startswith(HARBOR_SERIES):
        raise Missing(f"{named} is version {version or 'unknown'}, wanted {HARBOR_SERIES}x; {MACHINE}")
    return Path(named)


def _output(command: list[str], timeout_s: float = 60) -> str | None:
    """The program's standard output without the outer blanks, or None if it fails in any way."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _docker() -> None:
    import docker

    try:
        client = docker.from_env(timeout=20)
    except docker.errors.DockerException as error:
        raise Missing(f"no engine answers ({_first_line(error)}); {MACHINE}") from None
    try:
        client.ping()
    except docker.errors.DockerException as error:
        raise Missing(f"the engine does not answer ({_first_line(error)}); {MACHINE}") from None
    finally:
        client.close()


def _base_image() -> None:
    import docker

    _docker()
    client = docker.from_env(timeout=20)
    try:
        client.images.get(BASE_IMAGE)
    except docker.errors.DockerException:
        raise Missing(f"the engine has no image {BASE_IMAGE}; `docker pull` it, or {MACHINE}") from None
    finally:
        client.close()


def _compose() -> None:
    _docker()
    version = _output(["docker", "compose", "version", "--short"])
    if version is None:
        raise Missing(f"docker has no Compose plugin; {MACHINE}")
    if tuple(int(part) for part in version.lstrip("v").split(".")[:2]) < COMPOSE_AT_LEAST:
        raise Missing(f"Compose is {version}, wanted {COMPOSE_AT_LEAST[0]}.{COMPOSE_AT_LEAST[1]}; {MACHINE}")


def _harbor() -> None:
    harbor()


def _userns() -> None:
    script = textwrap.dedent("""
        set -e
        mount -t tmpfs none "$1"
        mkdir "$1/lower" "$1/upper" "$1/work" "$1/merged"
        echo below > "$1/lower/file"
        mount -t overlay overlay -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" "$1/merged"
        echo above > "$1/merged/file"
        cat "$1/upper/file" "$1/lower/file"
    """)
    flags = ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--ipc", "--uts", "--net"]
    command = ["unshare", *flags, "sh", "-c", script, "sh", "/mnt"]
    if (_output(command) or "").split() != ["above", "below"]:
        raise Missing("no user namespace with an overlay mount; the kernel or its settings forbid it")


def _uid_range() -> None:
    # The child waits in its new namespace until it is mapped, then takes on a uid that only a range has.
    out = _output([sys.executable, "-c", _UID_RANGE])
    if out is None or json.loads(out) != [0, 1000]:
        raise Missing("no range of uids: be root, or have newuidmap and a line in /etc/subuid")


_UID_RANGE = """
import ctypes, json, os, pwd, subprocess
ready, mapped, said = os.pipe(), os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000):
        os._exit(1)
    os.write(ready[1], b"x")
    os.read(mapped[0], 1)
    first = os.getuid()
    os.setuid(1000)
    os.write(said[1], json.dumps([first, os.getuid()]).encode())
    os._exit(0)
os.close(ready[1])
if os.read(ready[0], 1) != b"x":
    raise SystemExit(1)
uid = os.getuid()
if uid == 0:
    open(f"/proc/{child}/uid_map", "w").write("0 0 65536")
else:
    name = pwd.getpwuid(uid).pw_name
    ranges = [line.split(":") for line in open("/etc/subuid").read().split()]
    first, count = next((a, n) for who, a, n in ranges if who in (name, str(uid)))
    subprocess.run(["newuidmap", str(child), "0", str(uid), "1", "1", first, count], check=True)
os.write(mapped[1], b"x")
os.close(said[1])
print(os.read(said[0], 100).decode())
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def _python39() -> None:
    if find_python("3.9") is None:
        raise Missing("no python3.9 on PATH nor under PYENV_ROOT; what ships into bundles is run on it")


def _package_index() -> None:
    with tempfile.TemporaryDirectory() as folder:
        fetch = ["download", "-q", "--no-deps", "--disable-pip-version-check", "-d", folder, "lark"]
        if _output([sys.executable, "-m", "pip", *fetch], timeout_s=120) is None:
            raise Missing("pip cannot fetch a package; connect it to a package index or a mirror")


def _root() -> None:
    if os.geteuid() != 0:
        raise Missing("the test acts as several users; run it as root")


def _program(name: str, package: str) -> Callable[[], None]:
    def probe() -> None:
        if shutil.which(name) is None:
            raise Missing(f"no {name} on PATH; it comes with the package {package}")

    return probe


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:120]


PROBES: dict[str, Callable[[], None]] = {
    "base-image": _base_image,
    "compose": _compose,
    "docker": _docker,
    "git": _program("git", "git"),
    "harbor": _harbor,
    "mmdebstrap": _program("mmdebstrap", "mmdebstrap"),
    "package-index": _package_index,
    "python3.9": _python39,
    "root": _root,
    "uid-range": _uid_range,
    "userns": _userns,
}
