"""Running the solver's programs: another account, limits, no network if possible, nothing left."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import re
import selectors
import signal
import socket
import subprocess
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from aespec.runtime.state import Finished, NotStarted, Trouble

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SYSTEM_FOLDERS = ("/usr/", "/bin/", "/sbin/", "/lib/")
FILE_LIMIT_BYTES = 1024 * 1024 * 1024
OPEN_FILES_LIMIT = 1024
END_LIMIT_S = 5.0
"""How long ending a program's processes may take before it counts as trouble."""

GRACE = 1.2
"""How much more than `total_s` programs get that are slow but within their limits: with the compiler's share
of 0.75, it leaves a tenth of the verifier's time for the rest."""

TIMED_OUT = Finished(None, b"", b"", is_timed_out=True, is_truncated=False)
"""What is said of a program that got no time at all."""

CLONE_NEWNET = 0x40000000
PR_SET_NO_NEW_PRIVS = 38
PR_SET_CHILD_SUBREAPER = 36


class Account(NamedTuple):
    """Who programs run as; `is_dedicated` where all that runs under the uid is theirs and can be ended."""

    uid: int
    gid: int
    is_dedicated: bool


class Runner:
    """Starts programs one after another and ends all that they started.

    It forks and collects every child of the process, so nothing else may do so beside it.
    """

    def __init__(
        self,
        user: str,
        *,
        timeout_s: float,
        memory_bytes: int,
        processes: int,
        total_s: float = math.inf,
    ) -> None:
        """`user` is the account's name or number. Where this process can't become another account (without
        root, or in a user namespace that has only one), programs run as the invoker, and `facts` say so.

        `total_s` counts from now. Once a program has run into its limit, none runs beyond it, and none at all
        beyond `GRACE` times as long: a solver whose programs hang, or dawdle just below their limits, fails,
        where the verifier's own limit would leave it without a verdict.

        Raises `Trouble` where root lacks the account: the solver's code never runs as root.
        """
        self.timeout_s = timeout_s
        self._deadline = time.monotonic() + total_s
        self._last_deadline = time.monotonic() + GRACE * total_s
        self._has_timed_out = False
        self._memory_bytes = memory_bytes
        self._processes = processes
        self.account = _account(user)
        self._libc = _libc()
        self._libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._network = _network(self._libc)
        self.facts = {
            "runs_as": user if self.account.is_dedicated else "the invoker",
            "network": {"none": "none", "unshared": "none", "open": "the container's"}[self._network],
        }

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        stdin: bytes,
        timeout_s: float,
        env: Dict[str, str],
        output_limit_bytes: int,
        umask: int,
        executable: Optional[str] = None,
    ) -> Finished:
        """Run a program to its end or the limit, whichever of its own and the runner's is lower.

        `output_limit_bytes` holds for each stream; more is read and dropped. `executable` is started in the
        place of `argv[0]`. Raises `NotStarted` where the program can't be started by the solver's doing,
        `Trouble` where by the image's.
        """
        limit_s = min(timeout_s, self.timeout_s, self.left_s())
        if limit_s <= 0:
            return TIMED_OUT
        clean = {"PATH": PATH, "LANG": "C.UTF-8", "TZ": "UTC0", **env}
        with _input(stdin) as source:
            try:
                child = subprocess.Popen(
                    list(argv),
                    executable=executable,
                    cwd=cwd,
                    env=clean,
                    stdin=source,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                    close_fds=True,
                    preexec_fn=self._prepare(limit_s, umask),  # noqa: PLW1509 - the checker has one thread
                )
            except OSError as error:
                raise _not_started(argv, cwd, error) from None
            except subprocess.SubprocessError as error:
                raise Trouble(f"the program's limits can't be set: {error}") from None
            except ValueError as error:
                raise NotStarted(f"{argv[0]} can't be started: {error}") from None
        try:
            streams = _Streams(child, output_limit_bytes)
            is_timed_out = streams.read_until_exit(time.monotonic() + limit_s)
        finally:
            self._end(child)
        self._has_timed_out |= is_timed_out
        streams.drain()
        status = child.returncode if child.returncode is not None and child.returncode >= 0 else None
        return Finished(
            None if is_timed_out else status,
            streams.data(0),
            streams.data(1),
            is_timed_out,
            streams.is_truncated,
        )

    def left_s(self) -> float:
        """How long the next program may run, in seconds: less once one has run into its limit."""
        deadline = self._deadline if self._has_timed_out else self._last_deadline
        return max(0.0, deadline - time.monotonic())

    def _prepare(self, limit_s: float, umask: int) -> Callable[[], None]:
        """What the child does before it becomes the program. Nothing here may take a lock."""
        import resource

        account, libc, network = self.account, self._libc, self._network
        cpu_s = int(limit_s) + 2
        limits = [
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_CPU, cpu_s),
            (resource.RLIMIT_FSIZE, FILE_LIMIT_BYTES),
            (resource.RLIMIT_NOFILE, OPEN_FILES_LIMIT),
            # Private writable memory; not the address space, of which node, Go and Java reserve tens of GB.
            (resource.RLIMIT_DATA, self._memory_bytes),
        ]
        if account.is_dedicated:
            limits.append((resource.RLIMIT_NPROC, self._processes))

        def prepare() -> None:
            os.umask(umask)
            if network == "unshared" and libc.unshare(CLONE_NEWNET) == 0:
                _raise_loopback()
            with (
                contextlib.suppress(OSError),
                open("/proc/self/oom_score_adj", "w", encoding="ascii") as stream,
            ):
                stream.write("1000")
            if account.is_dedicated:
                os.setgroups([])
                os.setresgid(account.gid, account.gid, account.gid)
                os.setresuid(account.uid, account.uid, account.uid)
            libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            for which, most in limits:
                hard = resource.getrlimit(which)[1]
                value = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.setrlimit(which, (value, value))

        return prepare

    def _end(self, child: subprocess.Popen[bytes]) -> None:
        """End the program, its group, and all that it started and left to itself."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        if child.poll() is None:
            child.kill()
            child.wait()
        deadline = time.monotonic() + END_LIMIT_S
        pause_s = 0.0005
        if self.account.is_dedicated:
            _kill_account(self.account)
        while True:
            left = _of_account(self.account.uid) if self.account.is_dedicated else _kill_descendants()
            _reap()
            if not left:
                return
            if time.monotonic() > deadline:
                raise Trouble("a program's processes could not be ended")
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 0.05)


class _Streams:
    """Standard output and error of a child, read side by side up to a limit each."""

    def __init__(self, child: subprocess.Popen[bytes], limit_bytes: int) -> None:
        self._child = child
        self._limit_bytes = limit_bytes
        self._parts: Tuple[List[bytes], List[bytes]] = ([], [])
        self._sizes = [0, 0]
        self.is_truncated = False
        self._selector = selectors.DefaultSelector()
        for number, stream in enumerate((child.stdout, child.stderr)):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ, number)

    def read_until_exit(self, deadline: float) -> bool:
        """Read until the child itself ends; whether the deadline came first. Its offspring is not waited
        for.
        """
        pause_s = 0.001
        while True:
            if self._child.poll() is not None:
                return False
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return True
            if self._selector.get_map():
                if self._read_ready(min(pause_s, left_s)):
                    pause_s = 0.001
                    continue
            else:
                time.sleep(min(pause_s, left_s))
            pause_s = min(pause_s * 1.5, 0.02)

    def drain(self) -> None:
        """Take what still lies in the pipes after every writer was ended, and close them."""
        while self._selector.get_map() and self._read_ready(0):
            pass
        for key in list(self._selector.get_map().values()):
            self._close(key.fileobj)
        self._selector.close()

    def data(self, number: int) -> bytes:
        """What came on standard output (0) or error (1)."""
        return b"".join(self._parts[number])

    def _read_ready(self, wait_s: float) -> bool:
        ready = self._selector.select(wait_s)
        for key, _ in ready:
            try:
                data = os.read(key.fd, 65536)
            except BlockingIOError:
                continue
            if not data:
                self._close(key.fileobj)
                continue
            room = self._limit_bytes - self._sizes[key.data]
            if len(data) > room:
                self.is_truncated = True
            if room > 0:
                self._parts[key.data].append(data[:room])
                self._sizes[key.data] += min(len(data), room)
        return bool(ready)

    def _close(self, stream: Any) -> None:
        self._selector.unregister(stream)
        stream.close()


@contextlib.contextmanager
def _input(stdin: bytes) -> Any:
    """A source for the program's standard input that never blocks: a file without a name."""
    if not stdin:
        yield subprocess.DEVNULL
        return
    import tempfile

    with tempfile.TemporaryFile() as stream:
        stream.write(stdin)
        stream.seek(0)
        yield stream


def _not_started(argv: Sequence[str], cwd: str, error: OSError) -> Exception:
    reason = f"{argv[0]} can't be started: {error.strerror}"
    if error.errno in (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE):
        return Trouble(reason)
    is_system = "/" not in argv[0] or argv[0].startswith(SYSTEM_FOLDERS)
    if is_system and os.path.isdir(cwd) and not _is_found(argv[0]):
        # The image lacks its own tool: no solver is to blame for that.
        return Trouble(reason)
    return NotStarted(reason)


def _is_found(name: str) -> bool:
    return system_file(name) is not None


def system_file(name: str) -> Optional[str]:
    """Where the file of a program is found, by its path or in PATH; None if nowhere."""
    folders = [""] if "/" in name else PATH.split(":")
    places = (os.path.join(folder, name) for folder in folders)
    return next((place for place in places if os.path.exists(place)), None)


def _account(user: str) -> Account:
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), is_dedicated=False)
    if user.isascii() and user.isdigit():
        # A bare number needs no entry in the image's list of accounts.
        uid = gid = int(user)
    else:
        import pwd

        try:
            found = pwd.getpwnam(user)
        except KeyError:
            reason = f"the account {user!r}, which the solver's programs run as, is missing here"
            raise Trouble(reason) from None
        uid, gid = found.pw_uid, found.pw_gid
    if uid == 0:
        raise Trouble(f"the account {user!r} is root, and the solver's programs must not run as root")
    if not _is_mapped(uid):
        # A user namespace with one account: its root is the invoker, and there is no other to become.
        return Account(os.geteuid(), os.getegid(), is_dedicated=False)
    return Account(uid, gid, is_dedicated=True)


def _is_mapped(uid: int) -> bool:
    """Whether the uid exists in this user namespace at all."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as stream:
            ranges = [[int(field) for field in line.split()] for line in stream]
    except (OSError, ValueError):
        return True
    return any(first <= uid < first + count for first, _, count in ranges)


def _libc() -> Any:
    try:
        import ctypes

        return ctypes.CDLL(None, use_errno=True)
    except (ImportError, OSError):
        return _NoLibc()


class _NoLibc:
    """Stands in where Python came without ctypes: what needs the C library isn't had, and `facts` say so."""

    def prctl(self, *args: int) -> int:
        return -1

    def unshare(self, flags: int) -> int:
        return -1


def _network(libc: Any) -> str:
    """`none` where there is only the loopback, `unshared` where a namespace can be had, else `open`."""
    with contextlib.suppress(OSError):
        if all(name == "lo" for _, name in socket.if_nameindex()):
            return "none"
    if os.geteuid() != 0:
        return "open"
    child = os.fork()
    if child == 0:
        os._exit(0 if libc.unshare(CLONE_NEWNET) == 0 else 1)
    return "unshared" if os.waitpid(child, 0)[1] == 0 else "open"


def _raise_loopback() -> None:
    """Programs may talk to themselves; a fresh network namespace has its loopback down."""
    import fcntl
    import struct

    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        fcntl.ioctl(channel, 0x8914, struct.pack("16sh14x", b"lo", 0x1 | 0x40))


def _kill_account(account: Account) -> None:
    """Kill everything of the account, from a child that is that account.

    One signal to all is enough: the kernel sends it under the lock that a fork needs too, so nothing escapes
    by forking.
    """
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(account.gid, account.gid, account.gid)
            os.setresuid(account.uid, account.uid, account.uid)
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            os._exit(0)
        except BaseException:  # noqa: BLE001 - a forked child may leave by _exit only
            os._exit(2)
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        raise Trouble("the account of the solver's programs can't be taken on to end them")


def _of_account(uid: int) -> List[int]:
    """The living processes of an account."""
    found = []
    for pid in _processes():
        with contextlib.suppress(OSError), open(f"/proc/{pid}/status", "rb") as stream:
            status = stream.read()
            owner = re.search(rb"^Uid:\s+(\d+)", status, re.MULTILINE)
            if owner and int(owner.group(1)) == uid and not re.search(rb"^State:\s+Z", status, re.MULTILINE):
                found.append(pid)
    return found


def _processes() -> List[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError as error:
        raise Trouble(f"the processes can't be listed: {error.strerror}") from None


def _kill_descendants() -> List[int]:
    """Kill all processes that descend from this one; those that lost their parent come to it as subreaper."""
    parents: Dict[int, int] = {}
    for pid in _processes():
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/stat", "rb") as stream:
            fields = stream.read().rpartition(b")")[2].split()
            if fields[0] != b"Z":
                parents[pid] = int(fields[1])
    found: List[int] = []
    level = {os.getpid()}
    while level:
        level = {pid for pid, parent in parents.items() if parent in level}
        found += level
    for pid in found:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return found


def _reap() -> None:
    """Collect the ended orphans; the checker has no children of its own at this point."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def remaining_files(account: Account, folders: Sequence[str]) -> List[str]:
    """Top entries of the folders that the account owns: what its programs left there."""
    found = []
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid == account.uid:
                        found.append(entry.path)
    return found
