"""What meddles with services from within a sandbox: it lists them, ends them, puts stubs in their place.

It isn't imported where a task is audited but run there, by any Python from 3.8 on: `serving.py list`, or
`serving.py ACTION PORTS [TEXT]`. The status is 0 where the action was carried out, else 3.
"""

# ruff: noqa: PTH115, PTH123, PTH208
# No pathlib: what is read here are links and files of /proc, some of which go while they are looked at.

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import threading
import time

MARK = "aespec-services:"
PATIENCE_S = 5.0
QUIET_S = 1.5
FAILED = 3


def listening() -> dict[int, set[str]]:
    """The inodes of the sockets that listen, by TCP port."""
    found: dict[int, set[str]] = {}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table, encoding="ascii") as stream:
                rows = stream.read().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            words = row.split()
            if words[3] == "0A":
                found.setdefault(int(words[1].rpartition(":")[2], 16), set()).add(words[9])
    return found


def owners(inodes: set[str]) -> list[int]:
    """The processes that hold one of the sockets, as far as this user may look, parents first."""
    links = {f"socket:[{inode}]" for inode in inodes}
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            folder = f"/proc/{name}/fd"
            if any(os.readlink(f"{folder}/{number}") in links for number in os.listdir(folder)):
                found.append(int(name))
        except OSError:
            continue
    return sorted(found)


def read(path: str) -> bytes:
    """A file of /proc; b"" where it has gone."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return b""


def parent_of(pid: int) -> int:
    """The process that started another; 0 where it has gone."""
    words = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return int(words[1]) if len(words) > 1 else 0


def end(ports: list[int], quiet_s: float = 0.0) -> bool:
    """Kill what listens on the ports; whether nothing has listened there for a while.

    What something else starts again and again is never quiet.
    """
    heard = time.monotonic()
    stop = heard + PATIENCE_S
    while time.monotonic() < stop:
        open_ports = listening()
        inodes = {inode for port in ports for inode in open_ports.get(port, ())}
        if not inodes:
            if time.monotonic() - heard >= quiet_s:
                return True
            time.sleep(0.05)
            continue
        heard = time.monotonic()
        pids = owners(inodes)
        if not pids:
            return False
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    return False


def restart(ports: list[int]) -> bool:
    """End what listens on the ports and start the same programs again, over the files of now."""
    open_ports = listening()
    pids = owners({inode for port in ports for inode in open_ports.get(port, ())})
    programs = []
    for pid in pids:
        if parent_of(pid) in pids:
            continue
        argv = [os.fsdecode(word) for word in read(f"/proc/{pid}/cmdline").split(b"\0")[:-1]]
        pairs = [item.partition(b"=") for item in read(f"/proc/{pid}/environ").split(b"\0") if item]
        env = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
        try:
            programs.append((os.readlink(f"/proc/{pid}/cwd"), os.readlink(f"/proc/{pid}/exe"), argv, env))
        except OSError:
            return False
    if not programs or not end(ports):
        return False
    for folder, path, argv, env in programs:
        in_background(lambda: start(folder, path, argv, env))  # noqa: B023 - forked before the next turn
    return await_ports(ports)


def start(folder: str, path: str, argv: list[str], env: dict[str, str]) -> None:
    """Become the program."""
    os.chdir(folder)
    os.execve(path, argv, env)  # noqa: S606 - as it was started before


def in_background(action: object) -> None:
    """Carry out the action in a process of its own, without a terminal, which outlives this one."""
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    try:
        action()  # type: ignore[operator]
    finally:
        os._exit(1)


def await_ports(ports: list[int]) -> bool:
    """Whether all ports are listened on before patience ends."""
    stop = time.monotonic() + PATIENCE_S
    while time.monotonic() < stop:
        if all(port in listening() for port in ports):
            return True
        time.sleep(0.05)
    return False


def serve(port: int, action: str, text: str) -> None:
    """Listen on a port, and treat whoever comes as the action says."""
    server = socket.socket(socket.AF_INET6 if socket.has_ipv6 else socket.AF_INET, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if server.family == socket.AF_INET6:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    server.bind(("", port))
    server.listen(64)
    while True:
        client = server.accept()[0]
        threading.Thread(target=answer, args=(client, action, text), daemon=True).start()


def answer(client: socket.socket, action: str, text: str) -> None:
    """One caller: nothing is said, the line is closed, or an HTTP answer is given to each request."""
    try:
        if action == "close":
            client.close()
            return
        while True:
            head = b""
            while b"\r\n\r\n" not in head:
                more = client.recv(65536)
                if not more:
                    return
                head += more
            if action == "answer":
                reply(client, head, text)
    except OSError:
        pass


def reply(client: socket.socket, head: bytes, text: str) -> None:
    """An answer of HTTP with status 200, or what stands before a space in the text, and the rest as body."""
    status, _, body = text.partition(" ")
    data = b"" if head.startswith(b"HEAD ") else body.encode("utf-8")
    kind = "application/json" if body[:1] in ("{", "[") else "text/plain"
    reason = "OK" if status == "200" else "Not Found"
    lines = [
        f"HTTP/1.1 {status} {reason}",
        "Content-Type: " + kind,
        f"Content-Length: {len(body.encode())}",
        "",
        "",
    ]
    client.sendall("\r\n".join(lines).encode("ascii") + data)


def main(words: list[str]) -> int:
    """Carry out what the words ask for; the exit status."""
    if words[0] == "list":
        told = {
            str(port): [os.fsdecode(read(f"/proc/{pid}/comm")).strip() for pid in owners(inodes)]
            for port, inodes in listening().items()
        }
        sys.stdout.write(f"{MARK} {json.dumps(told)}\n")
        return 0
    action, ports = words[0], [int(word) for word in words[1].split(",")]
    if action == "restart":
        return 0 if restart(ports) else FAILED
    if not end(ports, QUIET_S):
        return FAILED
    if action == "end":
        return 0
    for port in ports:
        in_background(lambda: serve(port, action, words[2] if len(words) > 2 else ""))  # noqa: B023
    return 0 if await_ports(ports) else FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
