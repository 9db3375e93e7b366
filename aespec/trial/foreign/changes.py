"""What a solution left, out of all that it touched: its outputs, without traces that every program leaves."""

from __future__ import annotations

import csv
import hashlib
import posixpath
from collections.abc import Callable, Mapping, Sequence

from aespec.runtime.memory import Node
from aespec.sandbox.api import Difference
from aespec.trial.archives import read_nodes
from aespec.trial.probe import Changes

FILE_LIMIT_BYTES = 8 * 1024**2
"""A file above this is named in `Changes.too_large`, and not read."""

LEFT_OUT_FOLDERS = (
    "/logs",
    "/tests",
    "/solution",
    "/tmp",
    "/var/tmp",
    "/run",
    "/var/run",
    "/dev",
    "/proc",
    "/sys",
    "/var/cache",
    "/var/lib/apt",
    "/var/lib/dpkg",
    "/var/lib/rpm",
    "/lib/apk",
    "/usr/lib/apk",
    "/var/log/apt",
)
"""Places whose content is no output of a solution: of the harness, temporary, caches, package databases."""

LEFT_OUT_NAMES = frozenset(
    (
        "__pycache__",
        ".cache",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".npm",
        ".cargo",
        ".rustup",
        ".gradle",
        ".m2",
        ".nvm",
        ".venv",
        "venv",
        "node_modules",
        ".bash_history",
        ".python_history",
        ".node_repl_history",
        ".wget-hsts",
        ".lesshst",
        ".viminfo",
        ".sudo_as_admin_successful",
    )
)
"""Files and folders, wherever they lie, that tools leave for themselves: caches, histories, packages."""

LEFT_OUT_FILES = frozenset(
    (
        "/etc/ld.so.cache",
        "/etc/mtab",
        "/etc/resolv.conf",
        "/etc/hosts",
        "/etc/hostname",
        "/var/log/dpkg.log",
        "/var/log/alternatives.log",
        "/var/log/lastlog",
        "/var/log/faillog",
    )
)
LEFT_OUT_SUFFIXES = (".pyc", ".pyo", ".swp")

OF_PACKAGES = ("/usr", "/etc/alternatives", "/etc/ssl/certs", "/etc/systemd", "/etc/rc", "/etc/init.d")
"""Where Debian's packages and their scripts write; left out, but for /usr/local, where some were installed.

So are the files that `dpkg` and `pip` have on record, but for a configuration that is another than the
package's own. All of it stays in the frozen end state: it is only not taken for an output.
"""

DPKG_STATUS = "/var/lib/dpkg/status"
_DPKG_LISTS = "/var/lib/dpkg/info/"
_MERGED = ("/bin/", "/sbin/", "/lib/", "/lib64/")


def is_left_out(path: str) -> bool:
    """Whether a path is none that a solution is asked to write, by its name alone."""
    if path in LEFT_OUT_FILES or path.endswith(LEFT_OUT_SUFFIXES) or path.startswith("/.aespec"):
        return True
    if any(path == folder or path.startswith(folder + "/") for folder in LEFT_OUT_FOLDERS):
        return True
    return not LEFT_OUT_NAMES.isdisjoint(path.split("/"))


def read_changes(
    difference: Difference,
    read_start: Callable[[Sequence[str]], Mapping[str, Node]],
    limit_bytes: int = FILE_LIMIT_BYTES,
) -> Changes:
    """The outputs in a difference; `read_start` gives the nodes at and below paths of the start state.

    What was only touched (the same bytes, mode and owner) is no change.
    """
    nodes = read_nodes(difference.archive)
    installed = Installed(nodes)
    after: dict[str, Node | None] = {
        path: node
        for path, node in nodes.items()
        if node.kind in ("file", "link") and not is_left_out(path) and not installed.holds(path, node)
    }
    gone = [path for path in difference.deleted if not is_left_out(path) and not installed.holds(path, None)]
    start = {
        path: node
        for path, node in (read_start([*after, *gone]) if after or gone else {}).items()
        if node.kind in ("file", "link")
    }
    before: dict[str, Node | None] = {path: start.get(path) for path in after}
    for path, node in start.items():
        if path not in after and _lies_below(path, gone) and not is_left_out(path):
            before[path], after[path] = node, None
    too_large = [
        path
        for path in after
        if any(item is not None and len(item.data) > limit_bytes for item in (before[path], after[path]))
    ]
    kept = sorted(path for path in after if path not in set(too_large) and before[path] != after[path])
    return Changes(
        {path: before[path] for path in kept}, {path: after[path] for path in kept}, tuple(sorted(too_large))
    )


def _lies_below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


class Installed:
    """Which files of a difference package managers put there, by their own records in it."""

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        """`nodes` are all of the difference."""
        self.has_packages = DPKG_STATUS in nodes
        self.by_dpkg: set[str] = set()
        self.by_pip: set[str] = set()
        self._own_configuration: dict[str, str] = {}
        if self.has_packages:
            self._own_configuration = _configuration_digests(_text(nodes[DPKG_STATUS]))
        for path, node in nodes.items():
            if path.startswith(_DPKG_LISTS) and path.endswith(".list"):
                self.by_dpkg.update(_unmerged(line) for line in _text(node).splitlines())
            elif path.endswith(".dist-info/RECORD"):
                self.by_pip |= recorded(path, node)

    def holds(self, path: str, node: Node | None) -> bool:
        """Whether the file at the path, as it is, came with a package."""
        own = self._own_configuration.get(path)
        if own is not None:
            return node is not None and hashlib.md5(node.data, usedforsecurity=False).hexdigest() == own
        if path in self.by_dpkg or path in self.by_pip:
            return True
        is_theirs = any(path.startswith(place + "/") or path == place for place in OF_PACKAGES[:1])
        is_theirs = is_theirs or path.startswith(OF_PACKAGES[1:])
        return self.has_packages and is_theirs and not path.startswith("/usr/local/")


def recorded(record: str, node: Node) -> set[str]:
    """The files that a pip package's RECORD names, and all of its `dist-info` folder by name."""
    site = posixpath.dirname(posixpath.dirname(record))
    try:
        rows = list(csv.reader(_text(node).splitlines()))
    except csv.Error:
        return {record}
    return {posixpath.normpath(posixpath.join(site, row[0])) for row in rows if row} | {record}


def _configuration_digests(status: str) -> dict[str, str]:
    """MD5 of the packages' own configuration files, by path, from dpkg's status file."""
    found: dict[str, str] = {}
    for line in status.splitlines():
        words = line.split()
        if line.startswith(" /") and len(words) >= 2 and len(words[1]) == 32:
            found[words[0]] = words[1]
    return found


def _unmerged(path: str) -> str:
    """Where a path of dpkg's lists really lies: today `/bin` and its like are links into `/usr`."""
    return "/usr" + path if path.startswith(_MERGED) else path


def _text(node: Node) -> str:
    return node.data.decode("utf-8", "replace")
