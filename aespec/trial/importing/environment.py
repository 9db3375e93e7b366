"""The agent's container of a foreign task as statements of `setup`."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from aespec.bundle.foreign import Container
from aespec.sandbox.api import SandboxError
from aespec.sandbox.contexts import Context, Item
from aespec.sandbox.dockerfiles import Instruction, parse_dockerfile
from aespec.sandbox.stages import Settings, StageState, base_of, earlier_stage, global_arguments
from aespec.trial.importing.writing import ImportRefusedError, heredoc, quoted, todo

ASSETS_LIMIT = 300
ASSET_LIMIT_BYTES = 64 * 1024**2
PREBUILT = "build the image yourself (`docker build -t NAME environment`) and import with --base NAME"
"""The way out where a Dockerfile can't be told in statements."""

# The agent's account is there before any step: a Dockerfile that makes it must not fail for that.
_SHIELDS = {
    "useradd": 'useradd() { command useradd "$@" || [ $? = 9 ]; }',
    "groupadd": 'groupadd() { command groupadd "$@" || [ $? = 9 ]; }',
    "adduser": 'adduser() { command adduser "$@" || { for name; do :; done; id "$name" >/dev/null; }; }',
}

_BUILDERS_OWN = frozenset(("PATH",))
_NAME = r"[A-Za-z0-9][A-Za-z0-9.+:~-]*"
_CLEAN = r"(?:\s*&&\s*(?:apt-get\s+clean|rm\s+-rf\s+/var/lib/apt/lists/?\*?))*"
_APT = re.compile(
    r"(?:apt-get(?:\s+-\S+)*\s+update(?:\s+-\S+)*\s*&&\s*)?(?:DEBIAN_FRONTEND=noninteractive\s+)?"
    rf"apt-get(?:\s+-\S+)*\s+install((?:\s+-\S+|\s+{_NAME})+){_CLEAN}\s*",
)
_APT_UPDATE = re.compile(r"apt-get(?:\s+-\S+)*\s+update\s*")
_PIP = re.compile(
    r"(?:python3?\s+-m\s+)?pip3?\s+install((?:\s+--(?:no-cache-dir|break-system-packages|upgrade)|\s+-U"
    r"|\s+[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[A-Za-z0-9,_-]+\])?(?:==[A-Za-z0-9.+!-]+)?)+)\s*"
)


@dataclass(slots=True)
class Environment:
    """The statements so far. `assets` are bytes by their path beside the spec, `todos` what is left out."""

    base: str = ""
    workdir: str = "/"
    user: str = ""
    env: dict[str, str] = field(default_factory=dict)
    apt: list[str] = field(default_factory=list)
    pip: list[str] = field(default_factory=list)
    steps: list[list[str]] = field(default_factory=list)
    assets: dict[str, bytes] = field(default_factory=dict)
    todos: list[str] = field(default_factory=list)
    has_builds: bool = False


def read_environment(container: Container, folder: str, base: str) -> Environment:
    """The statements that make the container; assets come to lie in `folder`, relative to the spec.

    With a `base` of the user's own nothing but environment variables and the working folder is told. Raises
    `ImportRefusedError`.
    """
    if container.dockerfile is None:
        found = Environment(base=base or container.image or "")
    else:
        try:
            found = _Reader(container, folder, is_prebuilt=bool(base)).read()
        except SandboxError as fault:
            raise ImportRefusedError(str(fault), PREBUILT) from None
        found.base = base or found.base
    found.env.update(container.env)
    found.workdir = container.workdir or found.workdir
    found.user = container.user or found.user
    return found


class _Reader:
    def __init__(self, container: Container, folder: str, *, is_prebuilt: bool) -> None:
        self._dockerfile = parse_dockerfile(container.dockerfile or "")
        self._context = Context(container.context)
        self._arguments = container.arguments
        self._folder = folder
        self._is_prebuilt = is_prebuilt
        self._made = Environment()
        self._written: dict[str, int] = {}
        self._folders: set[str] = set()

    def read(self) -> Environment:
        known = global_arguments(self._dockerfile, self._arguments)
        at = len(self._dockerfile.stages) - 1
        stage = self._dockerfile.stages[at]
        name = base_of(self._dockerfile, stage, known)
        if not self._is_prebuilt and (
            name.isdigit() or earlier_stage(self._dockerfile, name, at) is not None
        ):
            raise ImportRefusedError(f"the Dockerfile, line {stage.line}: it has several stages", PREBUILT)
        state = StageState(Settings(), self._dockerfile.escape, known, self._arguments)
        for instruction in stage.instructions:
            if instruction.name == "ENTRYPOINT":
                self._made.todos.append(
                    f"the image's ENTRYPOINT isn't carried over: {instruction.original[:120]}"
                )
            if state.apply(instruction) or instruction.name == "WORKDIR":
                continue
            if self._is_prebuilt:
                continue
            if instruction.name == "RUN":
                self._run(instruction, state)
            else:
                self._copy(instruction, state)
        made = self._made
        made.base, made.workdir, made.user = name, state.workdir, state.settings.user
        made.env = {key: value for key, value in state.settings.env.items() if key not in _BUILDERS_OWN}
        if len(made.assets) > ASSETS_LIMIT:
            raise ImportRefusedError(f"the Dockerfile copies more than {ASSETS_LIMIT} files", PREBUILT)
        return made

    def _run(self, instruction: Instruction, state: StageState) -> None:
        if instruction.flags or instruction.heredocs:
            raise _refused(instruction, "RUN has mounts, flags or documents of its own")
        if state.user not in ("root", "0"):
            raise _refused(instruction, f"RUN works as the account {state.user}")
        command = shlex.join(instruction.args) if instruction.is_json else instruction.args[0]
        if not self._made.has_builds and self._packages(command):
            return
        self._made.has_builds = True
        shell = state.settings.shell or ("/bin/sh", "-c")
        lines = [f"cd {shlex.quote(state.workdir)} 2>/dev/null || cd /"] if state.workdir != "/" else []
        given = {
            name: value
            for name, value in state.env.items()
            if name not in state.settings.env and name not in _BUILDERS_OWN
        }
        lines += [f"export {name}={shlex.quote(value)}" for name, value in given.items() if _is_name(name)]
        lines += [text for word, text in _SHIELDS.items() if re.search(rf"\b{word}\b", command)]
        is_plain = tuple(shell) == ("/bin/sh", "-c")
        lines += ["set +eu", command] if is_plain else [shlex.join((*shell, command))]
        self._made.steps.append(heredoc("run (network = true)", "sh", _margin(lines), "    "))

    def _packages(self, command: str) -> bool:
        """Take a command that only installs packages as such; False for another one."""
        text = " ".join(command.split())
        if _APT_UPDATE.fullmatch(text):
            return True
        for expression, into in ((_APT, self._made.apt), (_PIP, self._made.pip)):
            if (found := expression.fullmatch(text)) is None:
                continue
            names = [word for word in found[1].split() if not word.startswith("-")]
            if not names or (into is self._made.apt and any("=" in word or ":" in word for word in names)):
                return False
            into += [word for word in names if word not in into]
            return True
        return False

    def _copy(self, instruction: Instruction, state: StageState) -> None:
        line = instruction.line
        if instruction.heredocs or instruction.flag("from") or instruction.flag("exclude"):
            raise _refused(instruction, f"{instruction.name} takes from elsewhere than the folder")
        words = [state.expand(word, line) for word in instruction.args]
        if any("://" in word or word.startswith("git@") for word in words):
            raise _refused(instruction, f"{instruction.name} takes a file from the network")
        owner = state.expand(instruction.flag("chown"), line).partition(":")[0]
        if owner not in ("", "root", "0"):
            self._made.todos.append(
                f"files of line {line} of the Dockerfile belong to {owner} there, here to root"
            )
        chmod = state.expand(instruction.flag("chmod"), line)
        if chmod and not re.fullmatch(r"[0-7]{3,4}", chmod):
            raise _refused(instruction, f"--chmod={chmod} is no octal number")
        sources = [name for word in words[:-1] for name in self._context.find(word)]
        target = state.place(words[-1])
        for source in sources:
            for item in self._context.items(source):
                self._lay(instruction, item, source, target, chmod, is_many=len(sources) > 1)

    def _lay(
        self, instruction: Instruction, item: Item, source: str, target: str, chmod: str, *, is_many: bool
    ) -> None:
        if item.kind == "folder":
            place = posixpath.join(target, item.name).rstrip("/") or "/"
            self._folders.add(place)
            return
        if item.kind != "file" or item.size > ASSET_LIMIT_BYTES:
            raise _refused(instruction, f"{source}/{item.name} is a {item.kind} that can't be an asset")
        if instruction.name == "ADD" and re.search(r"\.(?:tar|tgz|tbz2?|txz)(?:\.|$)", source):
            raise _refused(instruction, "ADD unpacks an archive")
        is_into = target.endswith("/") or is_many or target in self._folders
        place = posixpath.join(target, item.name or (posixpath.basename(source) if is_into else ""))
        place = place.rstrip("/")
        kept = posixpath.normpath(posixpath.join(self._folder, "environment", source, item.name))
        if not kept.isprintable():
            raise _refused(instruction, "a name isn't text")
        if place in self._written and self._made.has_builds:
            raise _refused(instruction, f"{place} is written twice, with a build step between")
        with item.open() as file:
            self._made.assets[kept] = file.read()
        mode = chmod or f"{item.mode & 0o777:04o}"
        step = [
            f'    asset {quoted(place)} (from = {quoted(kept)}, mode = "{mode.zfill(4)}", owner = "root")'
        ]
        if place in self._written:
            self._made.steps[self._written[place]] = step
        else:
            self._written[place] = len(self._made.steps)
            self._made.steps.append(step)


def setup_lines(made: Environment, agent: str) -> list[str]:
    """The `setup` block, as lines."""
    lines = ["  setup {", f"    base = {quoted(made.base)}"]
    for name, values in (("apt", made.apt), ("pip", made.pip)):
        if values:
            lines.append(f"    {name} = [{', '.join(quoted(value) for value in values)}]")
    if made.env:
        pairs = " ".join(f"{name} = {quoted(value)} " for name, value in made.env.items())
        lines.append(f"    env = {{ {pairs}}}")
    if made.workdir != "/":
        lines.append(f"    workdir = {quoted(made.workdir)}")
    lines.append(f"    agent = {quoted(agent)}")
    for step in made.steps:
        lines += step
    return [*lines, *(todo(text, "    ") for text in made.todos), "  }"]


def variables(env: Mapping[str, str]) -> str:
    """Shell lines that set variables."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in env.items() if _is_name(name))


def _is_name(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None


def _margin(lines: list[str]) -> str:
    text = "\n".join(lines).strip("\n")
    return text.lstrip(" \t") + "\n"


def _refused(instruction: Instruction, why: str) -> ImportRefusedError:
    return ImportRefusedError(f"the Dockerfile, line {instruction.line}: {why}", PREBUILT)
