"""The backend's end of a supervisor: it starts one, writes its user map, and asks it."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aespec.sandbox.api import SandboxError
from aespec.sandbox.fork import wire
from aespec.sandbox.fork.identity import Identity

_STOP_S = 15.0
_PACKAGE_ROOT = str(Path(__file__).resolve().parents[3])
_START = (
    # By the environment: arguments are seen inside, in process 1's command line.
    "import os, sys; sys.path.append(os.environ['AESPEC_PACKAGE']); "
    "from aespec.sandbox.fork.supervisor import main; main(int(sys.argv[1]), int(sys.argv[2]))"
)


class Worker:
    """A running supervisor. One order at a time; safe to use from several threads."""

    def __init__(
        self,
        identity: Identity,
        folder: Path,
        *,
        trees: Mapping[str, str] | None = None,
        descriptors: Sequence[int] = (),
    ) -> None:
        """Start one whose relative paths begin at `folder`. `trees` are the host's files to show, by target.

        Raises SandboxError where namespaces aren't to be had.
        """
        self._lock = threading.Lock()
        self._is_in_step = False
        mine, its = socket.socketpair()
        self._socket = mine
        command = [sys.executable, "-I", "-S", "-B", "-c", _START, str(its.fileno()), str(os.getpid())]
        try:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env={"LC_ALL": "C.UTF-8", "AESPEC_PACKAGE": _PACKAGE_ROOT},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(its.fileno(), *descriptors),
                start_new_session=True,
            )
        finally:
            its.close()
        try:
            self._enter(identity, dict(trees or {}))
        except BaseException:
            self.close()
            raise

    @property
    def is_ready(self) -> bool:
        """Whether the next order will be understood: it runs, and no interrupt left an answer waiting."""
        return self._is_in_step and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The supervisor's process."""
        return self._process.pid

    def _enter(self, identity: Identity, trees: dict[str, str]) -> None:
        self.ask({"do": "enter", "trees": trees, "sets_groups": identity.sets_groups})
        identity.write_maps(self.pid)
        self.ask({"do": "mapped"})

    def ask(self, order: dict[str, Any], blobs: Sequence[bytes] = ()) -> tuple[dict[str, Any], list[bytes]]:
        """One order and its answer. Raises OrderFailed, and SandboxError for a supervisor that died."""
        with self._lock:
            self._is_in_step = False
            try:
                wire.send(self._socket.fileno(), order, blobs)
                head, answer = wire.receive(self._socket.fileno())
                self._is_in_step = True
            except (wire.Hangup, OSError):
                raise SandboxError(
                    f"the sandbox's supervisor ended unexpectedly{self._last_words()}",
                    remedy="run `aespec doctor`; where memory ran out, use fewer slots or smaller limits",
                ) from None
        if "error" in head:
            raise OrderFailed(head)
        return head, answer

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        if self._process.poll() is None or self._process.stderr is None:
            return ""
        text = self._process.stderr.read().decode(errors="replace").strip()
        return f" (status {self._process.returncode}){': ' + text.splitlines()[-1] if text else ''}"

    def hang_up(self) -> None:
        """Let the supervisor end, from any thread; one that waits for its answer is told that it is gone."""
        with contextlib.suppress(OSError):  # closed already
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Hang up and wait until the supervisor, and with it everything below it, is gone."""
        self._socket.close()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()


class OrderFailed(SandboxError):
    """The supervisor could not do it; `kind` is `archive`, `user`, `cwd`, `setup`, `os` or `start`."""

    def __init__(self, head: Mapping[str, Any]) -> None:
        super().__init__(str(head["error"]))
        self.kind = str(head.get("kind", ""))
        self.errno = int(head.get("errno") or 0)


def find_program(name: str) -> str | None:
    """Where a helper of the host lies, also in the folders that an ordinary user's PATH leaves out."""
    return shutil.which(name, path=os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin:/usr/bin:/bin")
