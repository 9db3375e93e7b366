"""Who runs the programs of a foreign task, where, and with what: after Harbor 0.26's `exec`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from aespec.bundle.foreign import ForeignTask
from aespec.sandbox.api import Image, Program
from aespec.trial.stages import LOG_LIMIT_BYTES, PATH

TESTS = "/tests"
SOLUTION = "/solution"
AGENT_LOG = "/logs/agent/oracle.txt"
VERIFIER_LOG = "/logs/verifier/test-stdout.txt"

_PLAIN_SCRIPT_BYTES = 96 * 1024
_SCRIPT_FILE = "/tmp/.aespec-script"


@dataclass(frozen=True, slots=True)
class Seat:
    """Whose programs run as `user`, start in `workdir`, find `env`, and reach the network or don't."""

    user: str
    workdir: str
    env: Mapping[str, str]
    has_network: bool


def agent_seat(task: ForeignTask, image: Image) -> Seat:
    """The agent's: also the solution runs there."""
    container = task.environment
    return Seat(
        task.agent_user or container.user or image.user or "root",
        container.workdir or image.workdir or "/",
        {"PATH": PATH, **image.env, **container.env},
        task.network.get("agent", True),
    )


def container_seat(task: ForeignTask, image: Image) -> Seat:
    """That of what the agent's container runs by itself."""
    return replace(agent_seat(task, image), user=task.environment.user or image.user or "root")


def verifier_seat(task: ForeignTask, image: Image) -> Seat:
    """The verifier's; `image` is the agent's or, in separate mode, the verifier's own."""
    own = task.verifier if task.mode == "separate" else None
    container = own or task.environment
    return Seat(
        task.verifier_user or container.user or image.user or "root",
        container.workdir or image.workdir or "/",
        {"PATH": PATH, **image.env, **container.env, **task.verifier_env},
        task.network.get("verifier", True),
    )


def in_bash(command: str) -> tuple[str, ...]:
    """How Harbor runs a command line: by the `bash` that the container's PATH leads to."""
    return ("/usr/bin/env", "bash", "-c", command)


def redirected(script: str, log: str) -> str:
    """A script's command line as Harbor writes it, both streams into a file."""
    return f"({shlex.quote(script)}) > {shlex.quote(log)} 2>&1"


def solution_command(task: ForeignTask) -> str:
    """The command line of the oracle."""
    return redirected(f"{SOLUTION}/{task.solution_script}", AGENT_LOG)


def solution_env(task: ForeignTask) -> dict[str, str]:
    """What the oracle finds beside the agent's own environment."""
    return {"DEBIAN_FRONTEND": "noninteractive", **task.solution_env}


def verifier_command(task: ForeignTask) -> str:
    """The command line of the verifier."""
    return redirected(f"{TESTS}/{task.test_script}", VERIFIER_LOG)


def program(
    seat: Seat, argv: tuple[str, ...], *, timeout_s: float, env: Mapping[str, str] | None = None
) -> Program:
    """A program of that seat."""
    return Program(
        argv=argv,
        env={**seat.env, **(env or {})},
        cwd=seat.workdir,
        user=seat.user,
        timeout_s=timeout_s,
        output_limit_bytes=LOG_LIMIT_BYTES,
        has_network=seat.has_network,
    )


def script_argv(script: str) -> tuple[tuple[str, ...], bytes]:
    """How `/bin/sh` gets a script: as an argument; one that is too long for that from standard input."""
    data = script.encode("utf-8", "surrogateescape")
    if len(data) <= _PLAIN_SCRIPT_BYTES:
        return ("/bin/sh", "-c", script), b""
    load = f"cat > {_SCRIPT_FILE} && . {_SCRIPT_FILE}"
    return ("/bin/sh", "-c", load), data
