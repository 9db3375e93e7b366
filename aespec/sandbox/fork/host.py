"""The host's own /usr as a root file system: for common programs, where nothing else is at hand.

What is not /usr comes from a small skeleton. Such an image is not reproducible, and says so.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aespec.bundle.recipe import Packages, Recipe
from aespec.sandbox.tars import Entry, pack

_PROGRAMS = {
    "base-files": (),
    "bash": ("bash",),
    "bsdmainutils": ("hexdump",),
    "bzip2": ("bzip2",),
    "coreutils": ("cat", "sha256sum"),
    "curl": ("curl",),
    "diffutils": ("diff",),
    "file": ("file",),
    "findutils": ("find", "xargs"),
    "g++": ("g++",),
    "gawk": ("gawk",),
    "gcc": ("gcc",),
    "git": ("git",),
    "grep": ("grep",),
    "gzip": ("gzip",),
    "jq": ("jq",),
    "make": ("make",),
    "mawk": ("mawk",),
    "patch": ("patch",),
    "perl": ("perl",),
    "procps": ("ps",),
    "python3": ("python3",),
    "python3-minimal": ("python3",),
    "python3-pip": ("pip3",),
    "python3-pytest": ("pytest-3",),
    "sed": ("sed",),
    "sqlite3": ("sqlite3",),
    "tar": ("tar",),
    "unzip": ("unzip",),
    "util-linux": ("setpriv",),
    "wget": ("wget",),
    "xz-utils": ("xz",),
    "zip": ("zip",),
}
"""What a Debian package's presence is judged by; others are asked of dpkg where the host has it."""

_SEARCHED = "/usr/local/bin:/usr/bin:/usr/sbin"
_TOP_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_COPIED = ("ld.so.cache", "ld.so.conf", "mime.types", "services", "protocols", "debian_version", "os-release")
_COPIED_FOLDERS = (
    "alternatives",
    "ld.so.conf.d",
    "python3",
    "python3.11",
    "python3.12",
    "python3.13",
    "perl",
)
_PASSWD = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
_GROUP = "root:x:0:\ntty:x:5:\nstaff:x:50:\nusers:x:100:\nnogroup:x:65534:\n"
_FILES = {
    "etc/passwd": (_PASSWD, 0o644),
    "etc/group": (_GROUP, 0o644),
    "etc/shadow": ("root:*:19700:0:99999:7:::\nnobody:*:19700:0:99999:7:::\n", 0o640),
    "etc/nsswitch.conf": ("passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n", 0o644),
    "etc/hosts": ("127.0.0.1 localhost sandbox\n::1 localhost\n", 0o644),
    "etc/hostname": ("sandbox\n", 0o644),
    "etc/resolv.conf": ("", 0o644),
    "etc/profile": ("PATH=/usr/local/bin:/usr/bin:/bin\nexport PATH\n", 0o644),
}
_FOLDERS = {"root": 0o700, "tmp": 0o1777, "var/tmp": 0o1777}
_PLAIN_FOLDERS = (
    *("dev", "proc", "sys", "run", "home", "opt", "srv", "mnt", "media", "usr"),
    *("var/log", "var/lib", "var/cache", "var/spool", "etc/ssl/certs"),
)


@dataclass(frozen=True, slots=True)
class HostRoot:
    """A skeleton as a tar, the host's folders shown over it read-only (target, source), and its PATH."""

    skeleton: bytes
    trees: tuple[tuple[str, str], ...]
    path: str


def missing_packages(recipe: Recipe) -> tuple[str, ...]:
    """The packages of a recipe that the host can't stand in for."""
    missing = []
    for step in recipe.steps:
        if isinstance(step, Packages):
            known = has_debian_package if step.manager == "apt" else _has_python_package
            missing += [name for name in step.names if not known(name)]
    return tuple(missing)


def has_debian_package(pinned: str) -> bool:
    """Whether the host has what the Debian package of that name (perhaps `name=version`) brings."""
    name = pinned.partition("=")[0].partition(":")[0]
    if name in _PROGRAMS:
        return all(_has_program(program) for program in _PROGRAMS[name])
    if not (dpkg := shutil.which("dpkg-query", path=_SEARCHED)):
        return False
    done = subprocess.run(
        [dpkg, "-W", "-f=${db:Status-Status}", name], capture_output=True, text=True, check=False
    )
    return done.returncode == 0 and done.stdout == "installed"


def _has_program(name: str) -> bool:
    return shutil.which(name, path=_SEARCHED) is not None or (name == "python3" and _own_python() is not None)


def _own_python() -> str | None:
    """This interpreter's own installation, where /usr has no Python."""
    base = os.path.realpath(sys.base_prefix)
    return base if os.path.exists(f"{base}/bin/python3") else None


def _has_python_package(pinned: str) -> bool:
    python = shutil.which("python3", path=_SEARCHED)
    if not python:
        return False
    name, _, version = pinned.partition("==")
    script = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    done = subprocess.run([python, "-I", "-c", script, name], capture_output=True, text=True, check=False)
    return done.returncode == 0 and version in ("", done.stdout.strip())


def host_root() -> HostRoot:
    """The skeleton and the folders of this host."""
    trees = {"/usr": "/usr"}
    entries = [Entry(name, None, 0o755) for name in _PLAIN_FOLDERS]
    entries += [Entry(name, None, mode) for name, mode in _FOLDERS.items()]
    for name in _TOP_LINKS:
        if os.path.islink(f"/{name}"):
            entries.append(Entry(name, mode=0o777, target=os.readlink(f"/{name}")))
        elif os.path.isdir(f"/{name}"):
            trees[f"/{name}"] = f"/{name}"
    entries += [Entry(name, text.encode(), mode) for name, (text, mode) in _FILES.items()]
    entries += _settings()
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    if not os.path.exists("/usr/bin/python3") and (base := _own_python()):
        trees[base] = base
        path = f"{path}:{base}/bin"
    return HostRoot(pack(entries), tuple(sorted(trees.items())), path)


def _settings() -> Iterator[Entry]:
    """What programs of /usr look for in /etc: the loader's cache, the choice among alternatives."""
    paths = [Path("/etc") / name for name in _COPIED]
    for name in _COPIED_FOLDERS:
        paths += sorted(Path("/etc", name).rglob("*"))
    for path in paths:
        # What an ordinary user can't read, a sandbox can do without.
        with contextlib.suppress(OSError):
            if path.is_symlink():
                yield Entry(str(path), mode=0o777, target=os.readlink(path))
            elif path.is_file():
                yield Entry(str(path), path.read_bytes())
