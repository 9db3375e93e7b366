"""A container as a slot."""

from __future__ import annotations

import contextlib
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aespec.sandbox.api import Difference, Outcome, Program, SandboxError, SandboxLimits
from aespec.sandbox.docker import archives, engine
from aespec.sandbox.docker.states import Index, compare
from aespec.sandbox.endings import read_exit
from aespec.sandbox.tars import Entry, pack

if TYPE_CHECKING:
    import docker
    from docker.models.containers import Container

_STDIN = "/.aespec-stdin"
_ROOT = "0"  # by number: a state may have lost the file that names it
# `exec` leaves no shell behind; the program has the shell's process, and its own session from the engine.
_START = 'umask "$1"; shift; exec "$@"'
_START_WITH_INPUT = f'umask "$1"; shift; exec "$@" <{_STDIN}'
_FRAME = struct.Struct(">BxxxL")
_STDERR = 2
_OWN_ROWS = 3  # of the process list: the engine's init, the idle shell, its sleep
_FIRST_LOOK_S = 0.25
_LOOK_AROUND_S = 1.0
_SETTLE_S = 0.05


@dataclass(slots=True)
class _Running:
    """What the watching thread and the reading one tell each other."""

    exec_id: str
    deadline: float
    is_over: threading.Event = field(default_factory=threading.Event)
    reason: str = ""


class DockerSlot:
    """See `aespec.sandbox.api.Slot`."""

    def __init__(
        self,
        client: docker.DockerClient,
        container: Container,
        env: Mapping[str, str],
        limits: SandboxLimits,
        index: Callable[[], Index],
    ) -> None:
        """Used by the backend: the container runs and idles; `index` tells the files of its image."""
        self._client = client
        self._container = container
        self._env = env
        self._limits = limits
        self._index = index
        self._is_stopped = False

    def stop(self) -> None:
        """End what runs, from any thread: `run` then raises SandboxError."""
        self._is_stopped = True
        with contextlib.suppress(Exception):  # gone already, or the engine is
            self._container.kill()

    # --- files -------------------------------------------------------------------------------------------

    def put(self, archive: bytes, *, clean: Sequence[str] = ()) -> None:
        """See the contract."""
        paths = [archives.normal_path(path) for path in clean]
        if "/" in paths:
            raise SandboxError("the root itself can't be removed", boundary="spec")
        if archive:
            archives.check_archive(archive)
        with engine.told("the engine could not take the files"):
            if paths:
                self._as_root("/bin/rm", "-rf", "--", *paths)
            if archive:
                self._container.put_archive("/", archive)

    def get(self, paths: Sequence[str], *, limit_bytes: int = 1024**3) -> bytes:
        """See the contract."""
        import docker

        found: list[tuple[str, bytes]] = []
        room = limit_bytes
        wanted = sorted({archives.normal_path(path) for path in paths})
        for path in wanted:
            if any(path.startswith(f"{other.rstrip('/')}/") for other in wanted if other != path):
                continue
            with engine.told(f"the engine could not give {path}"):
                try:
                    chunks, _ = self._container.get_archive(path)
                    content = archives.join_chunks(chunks, room)
                except docker.errors.NotFound:
                    continue
                except docker.errors.APIError as error:
                    if "not a directory" in str(error):  # a path below a file
                        continue
                    raise
            room -= len(content)
            found.append((path, content))
        return archives.merge_archives(found)

    def difference(self, *, limit_bytes: int = 1024**3) -> Difference:
        """See the contract: by exports of the container and of its image."""
        return compare(self._container, self._index(), limit_bytes)

    def _as_root(self, *argv: str) -> None:
        code, output = self._container.exec_run(list(argv), user=_ROOT, workdir="/")
        if code:
            text = output.decode(errors="replace") if isinstance(output, bytes) else ""
            raise SandboxError(f"{argv[0]} failed in the container: {text[-500:]}")

    # --- programs ----------------------------------------------------------------------------------------

    def run(self, program: Program) -> Outcome:
        """See the contract. What a program leaves running is ended by a restart of the container."""
        if not program.argv or not program.argv[0].startswith("/"):
            raise SandboxError(
                f"a program is named by its absolute path, not {program.argv[:1]}", boundary="spec"
            )
        started = time.monotonic()
        with contextlib.ExitStack() as stack, engine.told("the engine could not run the program"):
            if program.stdin:
                self._container.put_archive("/", pack([Entry(_STDIN, program.stdin)]))
                stack.callback(self._as_root, "/bin/rm", "-f", _STDIN)
            if program.cores:
                self._pin(f"0-{program.cores - 1}" if program.cores > 1 else "0")
                stack.callback(self._pin, f"0-{self._cores() - 1}")
            if program.has_network:
                self._connect()
                stack.callback(self._disconnect)
            outcome = self._follow(program, started)
        if self._is_stopped:
            raise SandboxError("the program was stopped")
        return outcome

    def _follow(self, program: Program, started: float) -> Outcome:
        api = self._client.api
        script = _START_WITH_INPUT if program.stdin else _START
        made = api.exec_create(
            self._container.id,
            ["/bin/sh", "-c", script, "sh", f"{program.umask:04o}", *program.argv],
            user=_ROOT if program.user == "root" else program.user,
            workdir=program.cwd,
            environment={**self._env, **program.env},
        )
        begun = time.monotonic()
        running = _Running(made["Id"], started + program.timeout_s)
        watcher = threading.Thread(target=self._watch, args=(running,), daemon=True)
        watcher.start()
        try:
            kept, is_truncated = self._read(made["Id"], program.output_limit_bytes)
        finally:
            running.is_over.set()
            watcher.join()
        ended = time.monotonic()
        code = self._exit_code(made["Id"], bytes(kept[0])) if running.reason in ("", "leftover") else None
        self._end_leftovers(must_restart=bool(running.reason))
        status, number = read_exit(code) if code is not None else (None, 9)
        return Outcome(
            status,
            bytes(kept[0]),
            bytes(kept[1]),
            is_timed_out=running.reason == "timeout",
            is_truncated=is_truncated,
            seconds={"start": begun - started, "run": ended - begun, "stop": time.monotonic() - ended},
            signal=number,
        )

    def _read(self, exec_id: str, limit_bytes: int) -> tuple[tuple[bytearray, bytearray], bool]:
        kept = (bytearray(), bytearray())
        is_truncated = False
        with contextlib.closing(_Frames(self._client.api, exec_id)) as frames:
            for stream, part in frames:
                target = kept[stream]
                room = limit_bytes - len(target)
                target += part[:room]
                is_truncated |= len(part) > room
        return kept, is_truncated

    def _exit_code(self, exec_id: str, stdout: bytes) -> int | None:
        told = self._client.api.exec_inspect(exec_id)
        code = told["ExitCode"]
        if code in (126, 127) and not told.get("Pid"):
            # Nothing was started: no such account, no such folder. The engine says so in the program's place.
            text = stdout.decode(errors="replace").strip().removeprefix("OCI runtime exec failed: ")
            raise SandboxError(f"the engine could not start the program: {text}", boundary="spec")
        return None if code is None else int(code)

    def _watch(self, running: _Running) -> None:
        """End the program at its deadline or when it has filled its disk, and what outlives it at once."""
        wait = _FIRST_LOOK_S
        while True:
            running.is_over.wait(max(0.0, min(wait, running.deadline - time.monotonic())))
            if running.is_over.is_set():
                return
            with contextlib.suppress(Exception):  # a look that fails is tried again
                running.reason = self._reason_to_end(running)
            if running.reason:
                with contextlib.suppress(Exception):  # the reading thread sees what is wrong
                    self._container.kill()
                return
            wait = min(_LOOK_AROUND_S, wait * 1.5)

    def _reason_to_end(self, running: _Running) -> str:
        if time.monotonic() >= running.deadline:
            return "timeout"
        if self._written_bytes() > self._limits.disk_bytes:
            return "disk"
        told = self._client.api.exec_inspect(running.exec_id)
        rows = self._container.top()
        pids = {row[rows["Titles"].index("PID")] for row in rows["Processes"] or ()}
        # The program is gone, and a child of it holds its streams.
        return "leftover" if told.get("Pid") and str(told["Pid"]) not in pids else ""

    def _written_bytes(self) -> int:
        api: Any = self._client.api  # its public `inspect_container` can't ask for sizes
        url = api._url("/containers/{0}/json", self._container.id)  # noqa: SLF001
        return int(api._get(url, params={"size": 1}).json().get("SizeRw") or 0)  # noqa: SLF001

    def _end_leftovers(self, *, must_restart: bool) -> None:
        if not must_restart:
            if self._is_quiet():
                return
            time.sleep(_SETTLE_S)  # what is just ending needs no restart
            if self._is_quiet():
                return
        self._container.restart(timeout=0)

    def _is_quiet(self) -> bool:
        """Whether the container runs, and nothing in it but what is its own."""
        import docker

        try:
            return len(self._container.top()["Processes"] or ()) == _OWN_ROWS
        except docker.errors.APIError as error:
            if error.status_code in (409, 500):  # a program has ended the container itself
                return False
            raise

    def _cores(self) -> int:
        return int(self._client.info()["NCPU"])

    def _pin(self, cores: str) -> None:
        self._container.update(cpuset_cpus=cores)

    def _connect(self) -> None:
        self._client.networks.get("none").disconnect(self._container, force=True)
        self._client.networks.get("bridge").connect(self._container)

    def _disconnect(self) -> None:
        self._client.networks.get("bridge").disconnect(self._container, force=True)
        self._client.networks.get("none").connect(self._container)


class _Frames:
    """The two output streams of a program, in order: the engine's frames of eight bytes' head and a content.

    The SDK's own stream leaves its connection open, so the response is read, and closed, here.
    """

    def __init__(self, api: Any, exec_id: str) -> None:
        socket = api.exec_start(exec_id, socket=True)
        api._disable_socket_timeout(socket)  # noqa: SLF001  a program may be silent for long
        self._socket = socket
        self._response = socket._response  # noqa: SLF001  the SDK keeps it there
        self._file = self._response.raw._fp.fp  # noqa: SLF001  buffered: the head's reader may have read on

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        while len(head := self._file.read(_FRAME.size)) == _FRAME.size:
            stream, size = _FRAME.unpack(head)
            content = self._file.read(size)
            yield (1 if stream == _STDERR else 0), content
            if len(content) < size:
                return

    def close(self) -> None:
        """Give the connection up; the program, if it still runs, is not touched."""
        self._response.close()
        self._socket.close()
