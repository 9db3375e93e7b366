"""What a verifier installs for itself before it judges: kept, further probes needn't wait for it again."""

from __future__ import annotations

import io
import posixpath
import re
import tarfile
from collections.abc import Callable, Collection, Mapping

from aespec.runtime.memory import Node
from aespec.sandbox.api import Difference
from aespec.sandbox.tars import Entry, add_entries
from aespec.trial.archives import iterate_members, read_nodes
from aespec.trial.foreign.changes import LEFT_OUT_FILES, Installed, recorded

PACKAGE_FOLDERS = ("/var/cache", "/var/lib/apt", "/var/lib/dpkg", "/var/lib/rpm", "/lib/apk", "/usr/lib/apk")
"""Kept whole: what package managers have on record and in their caches."""

_IMPATIENT_APT = Entry("/etc/apt/apt.conf.d/99-offline", b'Acquire::Retries "0";\n')
"""Without a network apt tries again for seconds, each time that it is asked for what is there already."""

_HOME = re.compile(r"/(?:root|home/[^/]+)/\.[^/]+")
_LINKS_OF_THE_MACHINE = LEFT_OUT_FILES - {"/etc/ld.so.cache"}


def warm_layer(difference: Difference, outputs: Collection[str]) -> Difference | None:
    """The part of what a verifier left that it only installed; None where that is nothing.

    Kept are files of packages (by the records of dpkg and pip, but not what pip built from a folder: that may
    be the agent's own code), the packages' databases, and the hidden folders below a home, where installers
    put tools and caches. `outputs` are paths of the solution: nothing at them or below is kept, as nothing is
    in the task's own folders, `/tmp`, `/tests` and `/logs`: what a verifier builds from the agent's work has
    to be built anew for each probe.
    """
    nodes = read_nodes(difference.archive)
    is_kept = _judge_of(nodes, outputs)
    stream = io.BytesIO()
    kept: set[str] = set()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for member, data in iterate_members(difference.archive):
            path = "/" + member.name.strip("/")
            if member.isdir() or not is_kept(path):
                continue
            if member.islnk() and "/" + member.linkname.strip("/") not in kept:
                # The name that holds the bytes is not kept, so this one has to.
                data = nodes[path].data if path in nodes else b""
                member.type, member.linkname, member.size = tarfile.REGTYPE, "", len(data)
            member.pax_headers = {}
            tar.addfile(member, io.BytesIO(data) if member.isreg() else None)
            kept.add(path)
        if any(path.startswith(("/var/lib/apt/", "/var/lib/dpkg/")) for path in kept):
            add_entries(tar, [_IMPATIENT_APT])
    deleted = tuple(path for path in difference.deleted if is_kept(path))
    return Difference(stream.getvalue(), deleted) if kept else None


def _judge_of(nodes: Mapping[str, Node], outputs: Collection[str]) -> Callable[[str], bool]:
    installed = Installed(nodes)
    built_here = {posixpath.dirname(path) for path in nodes if path.endswith(".dist-info/direct_url.json")}
    pip: set[str] = set()
    for path, node in nodes.items():
        if path.endswith(".dist-info/RECORD") and posixpath.dirname(path) not in built_here:
            pip |= recorded(path, node)
    theirs = sorted(outputs)

    def is_kept(path: str) -> bool:
        if path in _LINKS_OF_THE_MACHINE or any(
            path == output or path.startswith(output + "/") or output.startswith(path + "/")
            for output in theirs
        ):
            return False
        if path.startswith(tuple(folder + "/" for folder in PACKAGE_FOLDERS)) or _HOME.match(path):
            return True
        if installed.has_packages and not path.startswith("/usr/local/"):
            return path.startswith(("/usr/", "/etc/")) or path in installed.by_dpkg
        return path in pip and path.startswith(("/usr/", "/opt/"))

    return is_kept
