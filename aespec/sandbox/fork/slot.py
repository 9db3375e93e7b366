"""A writable instance of an image in the fork sandbox."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aespec.sandbox.api import Difference, Outcome, Program, SandboxError, SandboxLimits, UncarriableError
from aespec.sandbox.endings import read_exit, read_signal
from aespec.sandbox.fork import cell
from aespec.sandbox.fork import filter as seccomp
from aespec.sandbox.fork.worker import OrderFailed, Worker

CERTIFICATES = "/dev/certificates.pem"
_CERTIFICATE_VARIABLES = (
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
)
_HANDED_ON = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_PACKAGE_INDEX = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_DEFAULT_TIMEOUT")
_MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Rights:
    """What programs of a slot may: `capabilities` are root's, `upper` and `reserve_bytes` guard a disk."""

    capabilities: frozenset[int] = cell.ROOT_CAPABILITIES
    upper: str = ""
    reserve_bytes: int = 0
    bounds_address_space: bool = False
    pretends_ownership: bool = False
    has_certificates: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What lies at a path: `kind` is folder, file, other or "" for nothing, `real` where its links lead.

    `names` are a folder's, where they were asked for, each with whether it is a folder.
    """

    kind: str
    real: str
    names: tuple[tuple[str, bool], ...] = ()


class ForkSlot:
    """See `aespec.sandbox.api.Slot`."""

    def __init__(
        self,
        worker: Worker,
        env: Mapping[str, str],
        limits: SandboxLimits,
        rights: Rights,
        *,
        switches_user: bool,
    ) -> None:
        """Used by the backend: `worker` has the image mounted."""
        self._worker = worker
        self._env = env
        self._limits = limits
        self._rights = rights
        self._switches_user = switches_user
        self.was_stopped_by_disk = False

    def put(self, archive: bytes, *, clean: Sequence[str] = ()) -> None:
        """See the contract. Owners are kept where the tier has more than one."""
        order = {"do": "put", "clean": list(clean), "sets_owners": self._switches_user}
        self._ask(order, [archive])

    def get(self, paths: Sequence[str], *, limit_bytes: int = 1024**3) -> bytes:
        """See the contract."""
        return self._ask({"do": "get", "paths": list(paths), "limit_bytes": limit_bytes})[1][0]

    def difference(self, *, limit_bytes: int = 1024**3) -> Difference:
        """See the contract: by the writable layer. A second name of a file is a link in the tar."""
        order = {"do": "difference", "limit_bytes": limit_bytes}
        archive, gone = self._ask(order)[1]
        return Difference(archive, tuple(json.loads(gone)))

    def look(self, paths: Sequence[str], *, lists: bool = False) -> list[Found]:
        """What lies at paths, links followed within the slot."""
        answer = self._ask({"do": "look", "paths": list(paths), "lists": lists})[1][0]
        return [Found(kind, real, tuple(map(tuple, names))) for kind, real, names in json.loads(answer)]

    def run(self, program: Program) -> Outcome:
        """See the contract. A program is process 2 of a namespace of its own."""
        if not program.argv or not program.argv[0].startswith("/"):
            raise SandboxError(
                f"a program is named by its absolute path, not {program.argv[:1]}", boundary="spec"
            )
        head, (stdout, stderr) = self._ask(self._order(program), [program.stdin])
        status: int | None = None
        number: int | None = None
        if "signal" in head:
            status, number = read_signal(head["signal"])
        else:
            status, number = read_exit(head["exit"])
        self.was_stopped_by_disk |= head["reason"] == "disk"
        is_killed = bool(head["reason"])
        return Outcome(
            None if is_killed else status,
            stdout,
            stderr,
            is_timed_out=head["reason"] == "timeout",
            is_truncated=head["is_truncated"],
            seconds=head["seconds"],
            signal=9 if is_killed else number,
        )

    def _order(self, program: Program) -> dict[str, Any]:
        rights = self._rights
        env = {**self._env, **(self._network_environment() if program.has_network else {}), **program.env}
        return {
            "do": "run",
            "argv": list(program.argv),
            "env": env,
            "cwd": program.cwd,
            "user": program.user,
            "timeout_s": program.timeout_s,
            "output_limit_bytes": program.output_limit_bytes,
            "has_network": program.has_network,
            "umask": program.umask,
            "cores": program.cores,
            "capabilities": sorted(rights.capabilities),
            "switches_user": self._switches_user,
            "filter": seccomp.filter_program(pretends_ownership=rights.pretends_ownership).hex(),
            "upper": rights.upper,
            "reserve_bytes": rights.reserve_bytes,
            "limits": {
                "disk_bytes": self._limits.disk_bytes,
                "processes": self._limits.processes,
                "address_bytes": self._limits.memory_bytes if rights.bounds_address_space else 0,
            },
        }

    def _network_environment(self) -> dict[str, str]:
        """What reaching the host's network takes: its proxies, its package index, its certificates."""
        env = {name: os.environ[name] for name in (*_HANDED_ON, *_PACKAGE_INDEX) if name in os.environ}
        if self._rights.has_certificates:
            env.update(dict.fromkeys(_CERTIFICATE_VARIABLES, CERTIFICATES))
        return env

    def _ask(self, order: dict[str, Any], blobs: Sequence[bytes] = ()) -> tuple[dict[str, Any], list[bytes]]:
        try:
            return self._worker.ask(order, blobs)
        except OrderFailed as error:
            raise self._explain(error, order) from None

    def _explain(self, error: OrderFailed, order: Mapping[str, Any]) -> SandboxError:
        is_odd = error.kind == "archive" or error.errno in (errno.ENAMETOOLONG, errno.ELOOP)
        if order["do"] in ("get", "difference") and is_odd:
            return UncarriableError(str(error), boundary="spec")
        if error.kind in ("archive", "user", "cwd"):
            return SandboxError(str(error), boundary="spec")
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return SandboxError(
                f"the sandbox's disk of {self._limits.disk_bytes // _MEGABYTE} MiB is full",
                remedy="raise the task's limit of disk space",
            )
        return SandboxError(f"the sandbox could not {order['do']}: {error}")
