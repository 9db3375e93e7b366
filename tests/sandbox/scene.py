"""The scene of the sandbox tests: backends, an image with sh, coreutils and Python, and tars."""

import io
import tarfile
import time
from pathlib import Path

import pytest

from aespec.bundle.recipe import AddUser, MakeFolder, Packages, Recipe
from aespec.sandbox import open_sandbox
from aespec.sandbox.api import Program, SandboxLimits
from tests.components import require

BASE = "debian:bookworm-slim"
RECIPE = Recipe(
    BASE,
    (
        Packages("apt", ("python3",)),
        AddUser("agent", 1000, "/home/agent"),
        MakeFolder("/app", 0o755, "agent"),
    ),
    "environment",
    env=(("FROM_RECIPE", "yes"),),
    workdir="/app",
    user="agent",
)
LIMITS = SandboxLimits(memory_bytes=256 << 20, disk_bytes=64 << 20, processes=64, cpu=1.0)
FORK_BACKENDS = ("fork-full", "fork-single-uid")
BACKENDS = (*FORK_BACKENDS, "docker")


def make_sandbox(backend):
    if backend == "docker":
        require("docker")
        require("base-image")
        return open_sandbox("docker")
    require("userns")
    tier = backend.removeprefix("fork-")
    if tier == "full":
        require("uid-range")
    return open_sandbox("fork", tier=tier, roots=("host",))


def backend_parameters():
    return [
        pytest.param(name, marks=pytest.mark.needs("docker", "base-image") if name == "docker" else ())
        for name in BACKENDS
    ]


def shell_of(slot):
    def run(script, *arguments, **fields):
        return slot.run(Program(("/bin/sh", "-c", script, "sh", *arguments), **fields))

    return run


def python_of(slot):
    def run(script, **fields):
        return slot.run(Program(("/usr/bin/python3", "-I", "-c", script), **fields))

    return run


def make_tar(files, **attributes):
    """A tar of a map from name to text, or to a TarInfo for what is no file."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as tar:
        for name, content in files.items():
            if isinstance(content, tarfile.TarInfo):
                content.name = name
                tar.addfile(content)
                continue
            data = content if isinstance(content, bytes) else content.encode()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o644
            for key, value in attributes.items():
                setattr(entry, key, value)
            tar.addfile(entry, io.BytesIO(data))
    return target.getvalue()


def read_tar(archive):
    """A map from name to content, link target (`->x`) or `None` for a folder."""
    found = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for entry in tar:
            if entry.isreg():
                found[entry.name] = tar.extractfile(entry).read()
            elif entry.issym():
                found[entry.name] = "->" + entry.linkname
            else:
                found[entry.name] = None
    return found


def run_in(sandbox, image, script, **fields):
    with sandbox.open(image, LIMITS) as slot:
        return shell_of(slot)(script, **fields)


def wait_for(condition, timeout_s=20.0):
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def descendants(pid):
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            child = int(path.parent.name)
            found += [child, *descendants(child)]
    return found
