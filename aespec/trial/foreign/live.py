"""A live session: agent and verifier in one program, so that what the agent started lives on meanwhile.

A sandbox ends with a program all that it started. So here one root shell runs the agent's scripts under the
agent's account, then lets the tests come, then runs the verifier: the order of things in a shared container.
The tests arrive by standard input only after the agent's part, as nothing of them may be seen before.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aespec.bundle.interpreters import PYTHONS
from aespec.sandbox.api import Image, Sandbox, SandboxError, SandboxLimits
from aespec.sandbox.fork.accounts import Account, find_account
from aespec.sandbox.tars import Entry
from aespec.trial.archives import read_files
from aespec.trial.foreign import verifying
from aespec.trial.foreign.editing import Plan
from aespec.trial.foreign.rewards import FOLDER, REWARD_JSON, REWARD_TEXT
from aespec.trial.foreign.seats import Seat

ASIDE = "/.aespec"
"""Where the session's text and the files of edits wait for their turn; only root may look there."""

SESSION_FILE = f"{ASIDE}/session"
"""The text is no argument: an agent that ends processes by their command lines would end the session."""

LINGER_S = 0.3
"""How long what an agent left may go on after the verifier: Harbor takes longer to read the reward."""

ENTRYPOINT_S = 1.0
"""How long what an image starts by itself has before the agent comes; in Harbor it is longer."""

_MARK = "aespec-live:"
_PYTHONS = " ".join(PYTHONS)
_PYTHON_SWITCH = (
    "import os,sys; u,g,s=sys.argv[1:4]; os.setgroups([int(x) for x in s.split(',') if x]); "
    "os.setresgid(*[int(g)]*3); os.setresuid(*[int(u)]*3); os.execv('/bin/sh',['sh','-c',sys.argv[4]])"
)
_PYTHON_UNPACK = (
    "import sys,tarfile; tarfile.open(fileobj=sys.stdin.buffer,mode='r|').extractall('/',numeric_owner=True)"
)

# Names in capitals stand for values that are put in quoted. Descriptor 9 is this shell's own: no other
# program inherits it, and could speak in its name.
_HEAD = f"""\
rm -f /.aespec-stdin
exec 9>&2 2>/dev/null
umask 022
tell() {{ echo "{_MARK} $*" >&9; }}
as() {{ # name, uid, gid, groups, command; never returns
    if [ "$2" = 0 ]; then exec /bin/sh -c "$5" 2>&1 9>&-; fi
    if setpriv --reuid "$2" --regid "$3" --clear-groups true; then
        if [ -n "$4" ]; then set -- "$@" --groups "$4"; else set -- "$@" --clear-groups ""; fi
        exec setpriv --reuid "$2" --regid "$3" "$6" ${{7:+"$7"}} /bin/sh -c "$5" 2>&1 9>&-
    fi
    for python in {_PYTHONS}; do
        if $python -I -S -c pass; then
            exec $python -I -S -c {shlex.quote(_PYTHON_SWITCH)} "$2" "$3" "$4" "$5" 2>&1 9>&-
        fi
    done
    if runuser -u "$1" -- true; then exec runuser -u "$1" -- /bin/sh -c "$5" 2>&1 9>&-; fi
    if su -s /bin/sh -c true "$1"; then exec su -s /bin/sh -c "$5" "$1" 2>&1 9>&-; fi
    tell no-switch
    exit 125
}}
"""
_KNOWN = """\
known=" "
for place in /proc/[0-9]*; do known="$known${place#/proc/} "; done
"""
_ENTRYPOINT = f"""\
( cd WORKDIR || exit 125; as ACCOUNT COMMAND ) </dev/null >/dev/null 2>&1 &
sleep {ENTRYPOINT_S}
"""
_AGENT = """\
( cd WORKDIR || { tell no-folder; exit 125; }; as ACCOUNT COMMAND ) </dev/null
tell agent $?
"""
_LEFT = """\
left=
for place in /proc/[0-9]*; do
    number=${place#/proc/}
    case "$known" in *" $number "*) continue;; esac
    [ "$number" != $$ ] && read -r name <"$place/comm" && left=yes && tell left "$name"
done
"""
_VERIFIER = f"""\
if [ -L {FOLDER} ] || [ ! -d {FOLDER} ]; then rm -rf {FOLDER}; mkdir -p {FOLDER}; chmod 777 {FOLDER}; fi
rm -f -- {REWARD_TEXT} {REWARD_JSON} || tell no-removal
if command -v tar >/dev/null; then tar -xf - -C / || tell no-tests
else
    for python in {_PYTHONS} false; do
        $python -I -S -c pass || continue
        $python -I -S -c {shlex.quote(_PYTHON_UNPACK)} || tell no-tests
        break
    done
    [ "$python" != false ] || tell no-tar
fi
tell verify
( cd WORKDIR || {{ tell no-folder; exit 125; }}; umask MASK; as ACCOUNT COMMAND ) </dev/null >/dev/null
tell verifier $?
"""
ROOT = Account("root", 0, 0, (), "/root")

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that the agent's side does: a command line of `/bin/sh`, or a plan of edits."""

    seat: Seat
    account: Account
    command: str = ""
    env: Mapping[str, str] | None = None
    timeout_s: float = 60.0
    plan: Plan | None = None


PROBLEMS = {
    "no-switch": (
        "the image has nothing that changes the user: no setpriv, python3, runuser or su",
        "sandbox",
    ),
    "no-tar": ("the image has neither tar nor python3 to bring the tests with", "sandbox"),
    "no-edit": ("an edit can't be carried out within the session", "sandbox"),
    "no-folder": ("the working folder doesn't exist", "spec"),
    "no-removal": (verifying.NO_REMOVAL, "verifier"),
    "no-tests": (verifying.NO_TESTS, "verifier"),
}
"""What makes a session no fair run, by the word that its shell tells, and whose doing that is."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a session's own shell told: how far it came, and the status of each part.

    `statuses` are those of the agent's steps, `left` the names of processes that they left, `problem` a word
    of `PROBLEMS`.
    """

    statuses: tuple[int, ...] = ()
    left: tuple[str, ...] = ()
    has_begun_to_verify: bool = False
    verifier_status: int | None = None
    problem: str = ""


def quoted(argv: Sequence[str]) -> str:
    """A program's argument vector as a command line of a shell."""
    return "exec " + " ".join(shlex.quote(word) for word in argv)


def account_of(sandbox: Sandbox, image: Image, limits: SandboxLimits, user: str) -> Account:
    """The account of a user in an image, by its own list. Raises `SandboxError` where there is none."""
    with sandbox.open(image, limits) as slot:
        files = read_files(slot.get(["/etc/passwd", "/etc/group"]))
    texts = [
        files.get(path, b"").decode("utf-8", "surrogateescape") for path in ("/etc/passwd", "/etc/group")
    ]
    found = find_account(user, *texts)
    if found is None:
        raise SandboxError(f"the image has no account called {user!r}", boundary="spec")
    return found


def session_text(
    steps: Sequence[Step],
    verifier: Step | None,
    *,
    entrypoint: Step | None = None,
    umask: int = 0o022,
    lingers: bool = False,
) -> str:
    """The shell program of a session; without a verifier it ends after the agent's part.

    `entrypoint` is what the image itself starts, before everything else. Where it `lingers`, what the agent
    left has a moment after the verifier.
    """
    parts = [_HEAD]
    if entrypoint is not None:
        parts.append(_fill(_ENTRYPOINT, entrypoint))
    parts.append(_KNOWN)
    edits = 0
    for step in steps:
        if step.plan is not None:
            parts.append(_edit_text(step.plan, edits))
            edits += len(step.plan.entries)
        else:
            parts.append(_fill(_AGENT, step))
    parts.append(f"rm -rf {ASIDE}\n")
    parts.append(_LEFT)
    if verifier is not None:
        parts.append(_fill(_VERIFIER, verifier).replace("MASK", f"{umask:04o}", 1))
        if lingers:
            parts.append(f'[ -z "$left" ] || sleep {LINGER_S}\n')
    return "".join(parts)


def waiting_files(steps: Sequence[Step], text: str) -> list[Entry]:
    """The session's text and the files of the steps' edits, to be put before it starts."""
    entries = [entry for step in steps if step.plan is not None for entry in step.plan.entries]
    session = text.encode("utf-8", "surrogateescape")
    waiting = [Entry(ASIDE, None, 0o700), Entry(SESSION_FILE, session, 0o600)]
    for number, entry in enumerate(entries):
        waiting.append(
            Entry(
                f"{ASIDE}/{number}", entry.data, entry.mode, entry.uid, entry.gid, entry.mtime, entry.target
            )
        )
    return waiting


def _edit_text(plan: Plan, first: int) -> str:
    lines = [f"rm -rf -- {shlex.quote(path)}" for path in plan.gone]
    for number, entry in enumerate(plan.entries, first):
        folder, target = shlex.quote(entry.path.rpartition("/")[0] or "/"), shlex.quote(entry.path)
        is_folder = entry.data is None and not entry.target
        # A folder that is there keeps what is in it: where it should not, the plan has removed it.
        keep = f"[ -d {target} ] && [ ! -L {target} ] || " if is_folder else f"rm -rf -- {target}; "
        lines.append(f"mkdir -p {folder}; {keep}mv {ASIDE}/{number} {target} || tell no-edit")
    return "\n".join([*lines, ""])


def _fill(template: str, step: Step) -> str:
    account = step.account
    groups = ",".join(str(number) for number in account.groups)
    words = (account.name, str(account.uid), str(account.gid), groups)
    values = {
        "WORKDIR": shlex.quote(step.seat.workdir),
        "ACCOUNT": " ".join(shlex.quote(word) for word in words),
        "COMMAND": shlex.quote(_command_text(step)),
    }
    return re.sub("|".join(values), lambda found: values[found[0]], template)


def _command_text(step: Step) -> str:
    """The step's command with its environment, ended by `timeout` where the image has it."""
    env = {"HOME": step.account.home, **step.seat.env, **(step.env or {})}
    exports = [f"export {name}={shlex.quote(value)}" for name, value in env.items() if _NAME.match(name)]
    inner = f"exec /bin/sh -c {shlex.quote(step.command)}"
    limited = (
        f"if command -v timeout >/dev/null; then exec timeout -k 5 {step.timeout_s:g} /bin/sh -c "
        f"{shlex.quote(step.command)}; fi"
    )
    return "\n".join([*exports, *([limited] if step.timeout_s else []), inner])


def read_told(stderr: bytes) -> Told:
    """What a session's own shell told on standard error."""
    statuses: list[int] = []
    left: list[str] = []
    verifier_status: int | None = None
    has_begun = False
    problem = ""
    for line in stderr.decode("utf-8", "replace").splitlines():
        if not line.startswith(_MARK):
            continue
        word, _, rest = line.removeprefix(_MARK).strip().partition(" ")
        if word == "agent" and rest.isdigit():
            statuses.append(int(rest))
        elif word == "left":
            left.append(rest[:60])
        elif word == "verify":
            has_begun = True
        elif word == "verifier" and rest.isdigit():
            verifier_status = int(rest)
        elif word in PROBLEMS:
            problem = problem or word
    return Told(tuple(statuses), tuple(left), has_begun, verifier_status, problem)
