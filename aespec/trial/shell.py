"""Looking around in a state of a bundle: command lines run one by one, each in a shell of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aespec.bundle.plan import Bundle
from aespec.sandbox.api import Image, Outcome, Program, Sandbox, Slot
from aespec.sandbox.tars import pack
from aespec.trial.acting import act, prepare_environment
from aespec.trial.agents import AgentError, find_agent
from aespec.trial.archives import read_files
from aespec.trial.settings import read_settings
from aespec.trial.stages import PATH

_CWD_FILE = "/tmp/.aespec-shell-cwd"
_LINE = f"""\
trap 'pwd -P > {_CWD_FILE}' EXIT
cd -- "$1" || exit 1
eval "$2"
"""


@dataclass(slots=True)
class Shell:
    """A state that is open. There is no terminal in a sandbox: each line is a fresh `sh`, without input.

    The folder is kept from line to line; variables, jobs and shell options are not.
    """

    slot: Slot = field(repr=False)
    image: Image = field(repr=False)
    cwd: str
    user: str

    def run(self, line: str, *, timeout_s: float = 600.0) -> Outcome:
        """Run one command line as the agent's account; no process of it lives on. Raises `SandboxError`."""
        outcome = self.slot.run(
            Program(
                argv=("/bin/sh", "-c", _LINE, "sh", self.cwd, line),
                env={"PATH": PATH, **self.image.env},
                user=self.user,
                timeout_s=timeout_s,
                output_limit_bytes=16 * 1024**2,
            )
        )
        told = read_files(self.slot.get([_CWD_FILE], limit_bytes=64 * 1024)).get(_CWD_FILE, b"")
        folder = told.decode("utf-8", "surrogateescape").rstrip("\n")
        if folder.startswith("/"):
            self.cwd = folder
        self.slot.put(pack(()), clean=[_CWD_FILE])
        return outcome


@contextmanager
def open_state(bundle: Bundle, state: str, sandbox: Sandbox, *, user: str | None = None) -> Iterator[Shell]:
    """A start state (`start`), or what an agent makes of it (`oracle`, `accept:NAME`, a script's path).

    `user` is the agent's account unless given. Raises `AgentError`, `BundleError`, `EditError` and
    `SandboxError`.
    """
    if state.startswith("mutant:"):
        raise AgentError("mutants are not kept yet; open `start`, `oracle`, `accept:NAME` or `reject:NAME`")
    settings = read_settings(bundle)
    agent = find_agent(bundle, "nop" if state == "start" else state)
    image = prepare_environment(bundle, sandbox)
    with sandbox.open(image, settings.agent_limits) as slot:
        act(bundle, agent, slot, image, settings)
        yield Shell(slot, image, image.workdir or "/", user or image.user or "root")
