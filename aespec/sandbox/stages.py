"""A stage of a Dockerfile on its way: what its instructions make of environment, user and working folder.

After BuildKit's `dockerfile2llb`. No file is touched here: that is the backend's part.
"""

from __future__ import annotations

import platform
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aespec.sandbox.dockerfiles import Dockerfile, DockerfileError, Instruction, Stage
from aespec.sandbox.dockerwords import Lexer, WordError

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DEFAULT_SHELL = ("/bin/sh", "-c")
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy")


@dataclass(frozen=True, slots=True)
class Settings:
    """An image's configuration as far as it matters here; `workdir` and `user` are "" where it sets none.

    `triggers` are its ONBUILD instructions.
    """

    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str = ""
    user: str = ""
    shell: tuple[str, ...] = ()
    entrypoint: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()

    @classmethod
    def read(cls, config: Mapping[str, Any]) -> Settings:
        """From an engine's `Config`."""
        pairs = (str(entry).partition("=") for entry in config.get("Env") or ())
        return cls(
            {name: value for name, _, value in pairs},
            str(config.get("WorkingDir") or ""),
            str(config.get("User") or ""),
            tuple(config.get("Shell") or ()),
            tuple(config.get("Entrypoint") or ()),
            tuple(config.get("OnBuild") or ()),
        )


def platform_arguments() -> dict[str, str]:
    """The variables that a builder knows of itself, for FROM, and for a stage that names them in ARG."""
    machine = _MACHINES.get(platform.machine(), platform.machine())
    values = {"PLATFORM": f"linux/{machine}", "OS": "linux", "ARCH": machine, "VARIANT": ""}
    found = {f"{side}{name}": value for side in ("BUILD", "TARGET") for name, value in values.items()}
    return {**found, "TARGETSTAGE": "default"}


def global_arguments(dockerfile: Dockerfile, arguments: Mapping[str, str]) -> dict[str, str]:
    """What ARG before the first stage, and the build's own arguments, give. Raises DockerfileError."""
    found = platform_arguments()
    lexer = Lexer(dockerfile.escape)
    for instruction in dockerfile.arguments:
        for word in instruction.args:
            name, sign, default = word.partition("=")
            if name in arguments:
                found[name] = arguments[name]
            elif sign:
                found[name] = _expanded(lexer, default, found, instruction.line)
    return found


def base_of(dockerfile: Dockerfile, stage: Stage, known: Mapping[str, str]) -> str:
    """The name of a stage's base, with the global arguments put in."""
    name = _expanded(Lexer(dockerfile.escape), stage.base, known, stage.line)
    if not name:
        raise DockerfileError(f"the name of the base, {stage.base}, is empty", stage.line)
    return name


def earlier_stage(dockerfile: Dockerfile, name: str, at: int) -> int | None:
    """The stage that a name or a number stands for in the stage `at`; None where it is an image's name."""
    if name.isdigit():
        return int(name) if int(name) < at else None
    stages = dockerfile.stages[:at]
    return next((place for place in reversed(range(at)) if stages[place].name == name.lower()), None)


def needed_stages(dockerfile: Dockerfile, known: Mapping[str, str]) -> set[int]:
    """The last stage, and what it is made from."""
    found: set[int] = set()
    waiting = [len(dockerfile.stages) - 1]
    while waiting:
        at = waiting.pop()
        found.add(at)
        stage = dockerfile.stages[at]
        base = base_of(dockerfile, stage, known)
        names = [] if base.isdigit() else [base]
        for instruction in stage.instructions:
            names += instruction.all_flags("from")
            names += [
                value
                for mount in instruction.all_flags("mount")
                for key, _, value in (part.partition("=") for part in mount.split(","))
                if key.strip().lower() == "from"
            ]
        places = {earlier_stage(dockerfile, name, at) for name in names}
        waiting += [place for place in places if place is not None and place not in found]
    return found


def platform_of(dockerfile: Dockerfile, stage: Stage, known: Mapping[str, str]) -> str:
    """The platform that a stage asks for, "" for that of the machine."""
    wanted = _expanded(Lexer(dockerfile.escape), stage.platform, known, stage.line)
    own = platform_arguments()["TARGETPLATFORM"]
    return "" if wanted.removesuffix("/v8") in ("", own) else wanted


def _expanded(lexer: Lexer, text: str, env: Mapping[str, str], line: int) -> str:
    try:
        return lexer.expand(text, env)
    except WordError as error:
        raise DockerfileError(str(error), line) from None


class StageState:
    """What holds at a place of a stage.

    `env` is what RUN sees, arguments included; `settings` are the image's.
    """

    def __init__(
        self, base: Settings, escape: str, known: Mapping[str, str], arguments: Mapping[str, str]
    ) -> None:
        """`known` are the global arguments, `arguments` the build's own."""
        env = {**base.env}
        env.setdefault("PATH", DEFAULT_PATH)
        self.settings = replace(base, env=env, triggers=())
        self.env = dict(env)
        self._escape = escape
        self._known = known
        self._arguments = arguments
        self.env.update({name: value for name, value in arguments.items() if name.lower() in _PROXIES})

    def follow(self, base: StageState) -> None:
        """Take over the arguments of the stage that this one continues."""
        self.env = {**base.env, **self.settings.env}

    @property
    def workdir(self) -> str:
        """The working folder."""
        return self.settings.workdir or "/"

    @property
    def user(self) -> str:
        """Who programs run as."""
        return self.settings.user or "root"

    def expand(self, text: str, line: int = 0) -> str:
        """A word with its variables put in and its quotes taken off."""
        return _expanded(Lexer(self._escape), text, self.env, line)

    def expand_content(self, text: str, line: int = 0) -> str:
        """A heredoc's content with its variables put in; quotes are letters there."""
        return _expanded(Lexer(reads_quotes=False), text, self.env, line)

    def place(self, path: str) -> str:
        """An absolute path, with the slash at its end that it had."""
        whole = posixpath.normpath(posixpath.join(self.workdir, path))
        whole = "/" + whole.lstrip("/")
        is_folder = path.endswith(("/", "/.")) or path in (".", "")
        return f"{whole}/" if is_folder and whole != "/" else whole

    def shelled(self, args: Sequence[str]) -> tuple[str, ...]:
        """A command in shell form."""
        return (*(self.settings.shell or DEFAULT_SHELL), *args)

    def apply(self, instruction: Instruction) -> bool:
        """Carry out an instruction that touches no file; False for one that does."""
        name, args, line = instruction.name, instruction.args, instruction.line
        if name == "ENV":
            values = [self.expand(value, line) for value in args]
            self._set(dict(zip(values[::2], values[1::2], strict=True)))
        elif name == "ARG":
            self._declare(instruction)
        elif name == "USER":
            self.settings = replace(self.settings, user=self.expand(args[0], line))
        elif name == "WORKDIR":
            folder = self.place(self.expand(args[0], line)).rstrip("/") or "/"
            self.settings = replace(self.settings, workdir=folder)
            return False
        elif name == "SHELL":
            if not instruction.is_json or not args:
                raise DockerfileError("SHELL takes a list in JSON", line)
            self.settings = replace(self.settings, shell=args)
        elif name == "ENTRYPOINT":
            words = args if instruction.is_json or not args else self.shelled(args)
            self.settings = replace(self.settings, entrypoint=words)
        elif name == "ONBUILD":
            self.settings = replace(self.settings, triggers=(*self.settings.triggers, args[0]))
        return name not in ("RUN", "COPY", "ADD")

    def _set(self, values: Mapping[str, str]) -> None:
        self.env.update(values)
        self.settings = replace(self.settings, env={**self.settings.env, **values})

    def _declare(self, instruction: Instruction) -> None:
        for word in instruction.args:
            name, sign, default = word.partition("=")
            if name in self._arguments:
                self.env[name] = self._arguments[name]
            elif sign:
                self.env[name] = self.expand(default, instruction.line)
            elif name in self._known:
                self.env[name] = self._known[name]
