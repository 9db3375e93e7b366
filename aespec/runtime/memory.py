"""An end state in memory: for predicates that need only bytes, at tens of thousands of states a second."""

from __future__ import annotations

import hashlib
import posixpath
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from aespec.runtime.state import Finished, Missing, Stat, Trouble

LINKS_LIMIT = 40
"""How many links a path may lead through; Linux has the same limit."""


class Node(NamedTuple):
    """What stands at a path: `kind` is file, folder, link or other; `target` is a link's."""

    kind: str = "file"
    data: bytes = b""
    mode: int = 0o644
    target: str = ""
    uid: int = 0
    gid: int = 0


class MemoryState:
    """A `State` made of a map from normal absolute paths to nodes; parent folders need no node of their own.

    States are never changed: `with_nodes` makes another one that shares the rest. Links are followed as on
    disk. Programs can't run.
    """

    def __init__(
        self,
        nodes: Mapping[str, Node],
        hidden: Optional[Mapping[str, bytes]] = None,
        baseline: Optional[Mapping[str, Mapping[str, Any]]] = None,
    ) -> None:
        """`baseline` maps absolute paths to `{"kind", "sha256", "mode", "link"}`, as in checks.json."""
        self.nodes = nodes
        self._hidden = hidden or {}
        self._baseline = baseline or {}
        self._has_links = any(node.kind == "link" for node in nodes.values())
        self._folders: Optional[Dict[str, List[str]]] = None

    @classmethod
    def of(cls, files: Mapping[str, bytes], **rest: Any) -> MemoryState:
        """A state of regular files with mode 0644; a path that ends in `/` is a folder."""
        nodes = {
            path.rstrip("/") or "/": Node("folder", mode=0o755) if path.endswith("/") else Node(data=data)
            for path, data in files.items()
        }
        return cls(nodes, **rest)

    def with_nodes(self, changes: Mapping[str, Optional[Node]]) -> MemoryState:
        """Another state; None removes what stands at the path and everything below it.

        A node that is no folder takes the place of everything below its path too.
        """
        nodes = dict(self.nodes)
        for path, node in changes.items():
            nodes.pop(path, None)
            if node is None or node.kind != "folder":
                prefix = path.rstrip("/") + "/"
                for below in [name for name in nodes if name.startswith(prefix)]:
                    del nodes[below]
            if node is not None:
                nodes[path] = node
        return MemoryState(nodes, self._hidden, self._baseline)

    def stat(self, path: str) -> Optional[Stat]:
        """As in `State`."""
        node = self._find(path, is_final_followed=False)
        return None if node is None else Stat(node.kind, len(node.data), node.mode, node.uid, node.gid)

    def read(self, path: str, limit_bytes: int = 64 * 1024 * 1024) -> bytes:
        """As in `State`."""
        node = self.nodes.get(path)
        if node is None or node.kind != "file" or self._has_links:
            node = self._find(path)
            if node is None:
                raise Missing(f"there is nothing at {path}")
            if node.kind != "file":
                raise Missing(f"{path} is not a regular file")
        if len(node.data) > limit_bytes:
            raise Missing(f"{path} is larger than {limit_bytes} bytes")
        return node.data

    def digest(self, path: str) -> str:
        """As in `State`."""
        return hashlib.sha256(self.read(path, 1 << 62)).hexdigest()

    def names(self, path: str) -> List[str]:
        """As in `State`."""
        resolved = self._resolve(path)
        names = self._children().get(resolved) if resolved is not None else None
        if names is None:
            raise Missing(f"there is no folder at {path}")
        return list(names)

    def link(self, path: str) -> str:
        """As in `State`."""
        node = self._find(path, is_final_followed=False)
        if node is None or node.kind != "link":
            raise Missing(f"there is no link at {path}")
        return node.target

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        stdin: bytes,
        timeout_s: float,
        env: Dict[str, str],
        output_limit_bytes: int,
        writes: Sequence[str] = (),
        collect: Sequence[str] = (),
        relocate: Optional[Tuple[str, str]] = None,
        umask: int = 0o022,
        mtime_s: Optional[int] = None,
        is_guarded: bool = False,
    ) -> Finished:
        """Raises `Trouble`: no program runs in memory."""
        raise Trouble("programs can't run on a state in memory")

    def hidden(self, name: str) -> bytes:
        """As in `State`."""
        try:
            return self._hidden[name]
        except KeyError:
            raise Trouble(f"the hidden file {name!r} is missing") from None

    def baseline(self, path: str) -> Dict[str, Any]:
        """As in `State`."""
        return baseline_below(self._baseline, path)

    def _find(self, path: str, *, is_final_followed: bool = True) -> Optional[Node]:
        is_plain = not self._has_links and "/." not in path
        resolved = path if is_plain else self._resolve(path, is_final_followed=is_final_followed)
        if resolved is None:
            return None
        node = self.nodes.get(resolved)
        if node is None and resolved in self._children():
            return Node("folder", mode=0o755)
        return node

    def _resolve(self, path: str, *, is_final_followed: bool = True) -> Optional[str]:
        """The path without links, or None where that leads nowhere."""
        todo = [part for part in reversed(path.split("/")) if part]
        done: List[str] = []
        links = 0
        while todo:
            part = todo.pop()
            if part in (".", ".."):
                if "/" + "/".join(done) not in self._children():
                    return None
                if part == "..":
                    del done[-1:]
                continue
            here = "/" + "/".join([*done, part])
            node = self.nodes.get(here)
            if node is not None and node.kind == "link" and (todo or is_final_followed):
                links += 1
                if links > LINKS_LIMIT:
                    return None
                if node.target.startswith("/"):
                    done = []
                todo.extend(piece for piece in reversed(node.target.split("/")) if piece)
                continue
            done.append(part)
        return "/" + "/".join(done)

    def _children(self) -> Dict[str, List[str]]:
        if self._folders is None:
            folders: Dict[str, set[str]] = {"/": set()}
            for path, node in self.nodes.items():
                if node.kind == "folder":
                    folders.setdefault(path, set())
                while path != "/":
                    parent, name = posixpath.split(path)
                    folders.setdefault(parent, set()).add(name)
                    path = parent
            self._folders = {path: sorted(names) for path, names in folders.items()}
        return self._folders


def baseline_below(baseline: Mapping[str, Mapping[str, Any]], path: str) -> Dict[str, Any]:
    """The entries at and below a path, by their path relative to it ("" for itself).

    Raises `Trouble` where there is none: what was never recorded can't be judged unchanged.
    """
    prefix = path.rstrip("/") + "/"
    found: Dict[str, Any] = {
        entry[len(prefix) :]: dict(facts) for entry, facts in baseline.items() if entry.startswith(prefix)
    }
    if path in baseline:
        found[""] = dict(baseline[path])
    if not found:
        raise Trouble(f"the start state of {path} was not recorded")
    return found
