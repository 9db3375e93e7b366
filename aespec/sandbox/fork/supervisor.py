"""The process behind a slot: it owns the namespace, the mounts and the writable layer, and clones programs.

Started as `python -I -S -B`, standard library only, one thread. It serves one order at a time from a socket
and ends, with everything below it, when the socket's other side or its parent is gone. Its memory is copied
into every program's first process, so it stays small; it imports nothing late, because after `unshare` the
disk that the modules lie on may be out of reach.
"""

from __future__ import annotations

import contextlib
import encodings.ascii
import encodings.latin_1
import json
import os
import select
import stat
import tarfile
import time
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

from aespec.sandbox.fork import archive, cell, changes, kernel, watch, wire

Answer: TypeAlias = tuple[dict[str, Any], list[bytes]]

BASE = "/tmp"
"""Where the supervisor's own small tmpfs lies in its mount namespace: a folder that every host has."""

_ROOT = f"{BASE}/root"
_SLOT = f"{BASE}/slot"
_VIEW = f"{BASE}/view"
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}
_SAFE = kernel.MS_NOSUID | kernel.MS_NODEV
_PAGE_BYTES = 4096
_LOADED = (encodings.ascii, encodings.latin_1, tarfile)  # early on purpose, see above


class Supervisor:
    """Serves orders. Each is answered by one message; `error` and `kind` in its head say what went wrong."""

    def __init__(self, control: int, parent: int) -> None:
        """`control` is the socket, `parent` a process descriptor of who started this."""
        self._control = control
        self._parent = parent
        self._trees: dict[str, int] = {}
        self._places: dict[str, str] = {}
        self._layers: tuple[list[str], str] = ([], "")
        self._life_read, self._life_write = os.pipe()

    def serve(self) -> None:
        """Until the other side hangs up."""
        while True:
            order, blobs = self._receive()
            try:
                head, answer = self._orders()[order["do"]](order, blobs)
            except archive.ArchiveError as error:
                head, answer = {"error": str(error), "kind": "archive"}, []
            except cell.CellError as error:
                head, answer = {"error": str(error), "kind": error.kind}, []
            except OSError as error:
                place = f" ({error.filename})" if error.filename else ""
                head, answer = {"error": f"{error.strerror}{place}", "kind": "os", "errno": error.errno}, []
            wire.send(self._control, head, answer)

    def _orders(self) -> dict[str, Callable[[dict[str, Any], list[bytes]], Answer]]:
        return {
            "mount": self._mount,
            "unmount": self._unmount,
            "run": self._run,
            "put": self._put,
            "get": self._get,
            "difference": self._difference,
            "look": self._look,
            "unpack": self._unpack,
            "remove": self._remove,
        }

    def _receive(self) -> tuple[dict[str, Any], list[bytes]]:
        watcher = select.poll()
        watcher.register(self._control, select.POLLIN)
        watcher.register(self._parent, select.POLLIN)
        if any(descriptor == self._parent for descriptor, _ in watcher.poll()):
            raise wire.Hangup
        return wire.receive(self._control)

    # --- into the namespace ------------------------------------------------------------------------------

    def enter(self) -> None:
        """Leave the host's user and mount namespaces; the other side writes the maps in between.

        Root copies the host's folders before, since it can't reach them after; others only can after.
        """
        order, _ = self._receive()
        is_root = os.geteuid() == 0
        if is_root:
            self._open_trees(order["trees"])
        kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS)
        wire.send(self._control, {"pid": os.getpid()})
        self._receive()
        if order["sets_groups"]:
            os.setgroups([])
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
        if not is_root:
            self._open_trees(order["trees"])
        kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
        with open("/proc/sys/user/max_user_namespaces", "w", encoding="ascii") as file:
            file.write("0")  # none below this one
        kernel.mount("aespec", BASE, "tmpfs", _SAFE, "size=1m,mode=755")
        os.mkdir(_ROOT)
        os.mkdir(_SLOT)
        self._keep_trees(order["trees"])
        wire.send(self._control, {})

    def _open_trees(self, paths: dict[str, str]) -> None:
        for target, source in paths.items():
            self._trees[target] = kernel.open_tree(source)

    def _keep_trees(self, paths: dict[str, str]) -> None:
        """Give each its own place, from where any root can show it."""
        for number, target in enumerate(paths):
            place = f"{BASE}/host{number}"
            if stat.S_ISDIR(os.fstat(self._trees[target]).st_mode):
                os.mkdir(place)
            else:
                os.close(os.open(place, os.O_WRONLY | os.O_CREAT, 0o444))
            kernel.attach_tree(self._trees[target], place)
            os.close(self._trees.pop(target))
            self._places[target] = place

    # --- the root ----------------------------------------------------------------------------------------

    def _mount(self, order: dict[str, Any], _: list[bytes]) -> Answer:
        """Put the root together: `lowers`, nearest first, from the working folder, and what is writable.

        `upper` names a folder on disk that holds `fs` and `work`; without it a tmpfs of `disk_bytes` serves.
        """
        if order["upper"]:
            place = order["upper"]
        else:
            place = _SLOT
            size = f"size={order['disk_bytes']},nr_inodes={order['inodes']},mode=755"
            kernel.mount("slot", place, "tmpfs", _SAFE, size)
        for name in ("fs", "work"):
            os.makedirs(f"{place}/{name}", exist_ok=True)
        os.chmod(f"{place}/fs", 0o755)
        options = f"lowerdir={':'.join(order['lowers'])},upperdir={place}/fs,workdir={place}/work,userxattr"
        if len(options) >= _PAGE_BYTES:
            raise archive.ArchiveError("the image has more layers than one overlay can hold")
        kernel.mount("overlay", _ROOT, "overlay", _SAFE, options)
        self._layers = (order["lowers"], f"{place}/fs")
        for target, place in self._places.items():
            if target.startswith("/"):
                self._show(place, target)
        self._make_devices()
        return {}, []

    def _show(self, source: str, target: str) -> None:
        place = _ROOT
        for part in target.strip("/").split("/"):
            if not os.path.lexists(f"{place}/{part}"):
                os.mkdir(f"{place}/{part}", 0o755)
            cell.demand_real(place, part)
            place = f"{place}/{part}"
        kernel.mount(source, place, "", kernel.MS_BIND | kernel.MS_REC)

    def _make_devices(self) -> None:
        cell.demand_real(_ROOT, "dev")
        dev = f"{_ROOT}/dev"
        kernel.mount("dev", dev, "tmpfs", kernel.MS_NOSUID | kernel.MS_NOEXEC, "size=1m,mode=755")
        for name in _DEVICES:
            os.close(os.open(f"{dev}/{name}", os.O_WRONLY | os.O_CREAT, 0o666))
            kernel.mount(f"/dev/{name}", f"{dev}/{name}", "", kernel.MS_BIND)
        for name in ("pts", "shm"):
            os.mkdir(f"{dev}/{name}")
        for name, target in _DEVICE_LINKS.items():
            os.symlink(target, f"{dev}/{name}")
        if "certificates" in self._places:
            os.close(os.open(f"{dev}/certificates.pem", os.O_WRONLY | os.O_CREAT, 0o444))
            kernel.mount(self._places["certificates"], f"{dev}/certificates.pem", "", kernel.MS_BIND)
        flags = kernel.MS_NOSUID | kernel.MS_NOEXEC
        kernel.mount("", dev, "", kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | flags)

    def _unmount(self, order: dict[str, Any], _: list[bytes]) -> Answer:
        """Take the root apart, as far as it was put together; a writable layer in memory is gone."""
        for place in (_ROOT, _SLOT):
            with contextlib.suppress(OSError):
                while True:  # until nothing is mounted there
                    kernel.unmount(place)
        return {}, []

    # --- programs ----------------------------------------------------------------------------------------

    def _run(self, order: dict[str, Any], blobs: list[bytes]) -> Answer:
        """Run one program to its end or its limit."""
        started = time.monotonic()
        flags = cell.NAMESPACES | (0 if order["has_network"] else kernel.CLONE_NEWNET)
        with contextlib.ExitStack() as stack:
            stdin = _memory_file(stack, blobs[0])
            (out, out_end), (err, err_end), (report, report_end) = (_pipe(stack) for _ in range(3))
            pid = kernel.clone_process(flags)
            if pid == 0:
                os.close(self._life_write)
                cell.run_cell(order, (stdin, out_end, err_end), report_end, _ROOT, self._life_read)
            for descriptor in (out_end, err_end, report_end):
                os.close(descriptor)
            following = watch.Watch(pid, {out: "stdout", err: "stderr", report: "report"}, order, started)
            is_hung_up = following.follow((self._control, self._parent))
        if is_hung_up:
            raise wire.Hangup
        return following.outcome(), [bytes(following.kept["stdout"]), bytes(following.kept["stderr"])]

    # --- files -------------------------------------------------------------------------------------------

    def _put(self, order: dict[str, Any], blobs: list[bytes]) -> Answer:
        """Unpack a tar in the root."""
        with contextlib.ExitStack() as stack:
            descriptor = _memory_file(stack, blobs[0])

            def unpack() -> None:
                with open(descriptor, "rb", closefd=False) as source:
                    archive.unpack(source, sets_owners=order["sets_owners"], clean=order["clean"])

            _act_in_root(unpack, _ROOT)
        return {}, []

    def _get(self, order: dict[str, Any], _: list[bytes]) -> Answer:
        """A tar of paths of the root."""
        with contextlib.ExitStack() as stack:
            descriptor = _memory_file(stack, b"")

            def pack() -> None:
                with open(descriptor, "wb", closefd=False) as target:
                    archive.pack(order["paths"], target, limit_bytes=order["limit_bytes"])

            _act_in_root(pack, _ROOT)
            return {}, [_content(descriptor)]

    def _look(self, order: dict[str, Any], _: list[bytes]) -> Answer:
        """What lies at paths of the root."""
        with contextlib.ExitStack() as stack:
            told = _memory_file(stack, b"")

            def look() -> None:
                found = [archive.look(path, lists=order["lists"]) for path in order["paths"]]
                wire.write_all(told, json.dumps(found).encode())

            _act_in_root(look, _ROOT)
            return {}, [_content(told)]

    def _difference(self, order: dict[str, Any], _: list[bytes]) -> Answer:
        """What was written since the root was put together: a tar, and as JSON the paths that are gone."""
        shown = {target[:at] for target in self._places for at in _ends_of_parts(target)}
        with contextlib.ExitStack() as stack:
            tar, gone = _memory_file(stack, b""), _memory_file(stack, b"")

            def pack() -> None:
                with open(tar, "wb", closefd=False) as target:
                    deleted = changes.pack_difference(target, limit_bytes=order["limit_bytes"], shown=shown)
                wire.write_all(gone, json.dumps(deleted).encode())

            stack.callback(changes.hide_layers, _VIEW)
            changes.show_layers(_VIEW, *self._layers)
            _act_in_root(pack, _VIEW)
            return {}, [_content(tar), _content(gone)]

    # --- layers ------------------------------------------------------------------------------------------

    def _unpack(self, order: dict[str, Any], _: list[bytes]) -> Answer:
        """Unpack a plain tar from an inherited descriptor into a new folder below the working folder.

        `folders` (name to mode) and `files` (to content) are what a sandbox mounts over: they are made as
        told. `defaults` are files that are filled where they are empty or missing.
        """
        os.mkdir(order["target"], 0o755)
        os.chmod(order["target"], 0o755)

        def unpack() -> None:
            with open(order["descriptor"], "rb", buffering=1 << 20, closefd=False) as source:
                if not archive.unpack(source, sets_owners=order["sets_owners"], skips_devices=True):
                    raise archive.ArchiveError("the archive is empty")
            for name, mode in order["folders"].items():
                if os.path.islink(name):
                    os.unlink(name)
                archive.make_folders(name)
                os.chmod(name, mode)
            empty = {name for name in order["defaults"] if _is_empty(name)}
            for name, text in {**order["files"], **order["defaults"]}.items():
                if name in order["files"] or name in empty:
                    archive.make_folders(os.path.dirname(name))
                    archive.remove(name)
                    with open(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
                        file.write(text.encode("ascii"))
                    os.chmod(name, 0o644)

        _act_in_root(unpack, order["target"])
        return {}, []

    def _remove(self, order: dict[str, Any], _: list[bytes]) -> Answer:
        """Remove folders below the working folder, whoever in the namespace owns what is in them."""
        for path in order["paths"]:
            archive.remove(path)
        return {}, []


def _is_empty(path: str) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return True
    return stat.S_ISREG(status.st_mode) and not status.st_size


def _pipe(stack: contextlib.ExitStack) -> tuple[int, int]:
    read_end, write_end = os.pipe()
    stack.callback(_close_quietly, read_end)
    return read_end, write_end


def _close_quietly(descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.close(descriptor)


def _memory_file(stack: contextlib.ExitStack, content: bytes) -> int:
    descriptor = os.memfd_create("aespec")
    stack.callback(os.close, descriptor)
    wire.write_all(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _content(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return wire.read_exactly(descriptor, os.fstat(descriptor).st_size)


def _ends_of_parts(path: str) -> list[int]:
    return [at for at, letter in enumerate(path) if letter == "/" and at] + [len(path)]


def _act_in_root(act: Callable[[], None], root: str) -> None:
    """Do `act` in a child whose root is `root`: no link leads out, and its crash isn't the supervisor's."""
    report, report_end = os.pipe()
    pid = kernel.clone_process(0)
    if pid == 0:
        _report_act(act, root, report_end)
    os.close(report_end)
    with open(report, "rb") as file:
        text = file.read().decode("utf-8", "surrogateescape")
    _, status = os.waitpid(pid, 0)
    kind, _, message = text.partition(":")
    if kind == "archive":
        raise archive.ArchiveError(message)
    if kind:
        raise OSError(int(kind), message)
    if status:
        raise OSError(5, f"the helper for files ended with status {status}")


def _report_act(act: Callable[[], None], root: str, report: int) -> NoReturn:
    status, text = 0, ""
    try:
        kernel.die_with_parent()
        os.chroot(root)
        os.chdir("/")
        os.umask(0o022)
        act()
    except (archive.ArchiveError, tarfile.TarError) as error:
        text = f"archive:{error}"
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        text = f"{error.errno or 5}:{error.strerror}{place}"
    except BaseException as error:  # noqa: BLE001  a cloned child has no caller to raise to
        status, text = 1, f"5:{type(error).__name__}: {error}"
    with contextlib.suppress(OSError):
        os.write(report, text.encode("utf-8", "surrogateescape"))
    os._exit(status)


def main(control: int, parent_pid: int) -> None:
    """Serve on the socket `control` until it closes or the process `parent_pid` ends."""
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A keyboard's interrupt reaches the whole group; the other side decides and hangs up.
        signal.signal(number, signal.SIG_IGN)
    try:
        parent = os.pidfd_open(parent_pid)
    except ProcessLookupError:
        return
    if os.getppid() != parent_pid:
        return
    supervisor = Supervisor(control, parent)
    try:
        supervisor.enter()
        supervisor.serve()
    except wire.Hangup:
        return
    except OSError as error:
        with contextlib.suppress(wire.Hangup):
            wire.send(control, {"error": str(error), "kind": "start", "errno": error.errno})
