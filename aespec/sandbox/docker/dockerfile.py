"""A foreign Dockerfile as an engine here can build it: mapped bases, no foreign frontend, heredocs as files.

What stays is the author's own text; a heredoc, which older engines don't read, becomes a file of an image of
its own, so that the context stays as it is. Volumes are left out: what a volume holds is in no layer, so that
no state could be frozen, and BuildKit writes into the image below one anyway.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from aespec.sandbox.dockerfiles import (
    Dockerfile,
    Instruction,
    Stage,
    parse_dockerfile,
    parse_trigger,
    read_heredoc,
)
from aespec.sandbox.stages import Settings, StageState, base_of, global_arguments, needed_stages

DOCUMENTS = "AESPEC-DOCUMENTS"
"""Stands for the name of the image that holds the documents, which depends on them."""

_SCRIPT_FOLDER = "/aespec-setup"
_HARMLESS = ("cache", "tmpfs", "secret", "ssh")


@dataclass(frozen=True, slots=True)
class Lowered:
    """The text to build, the documents that it copies by path, and what of it only BuildKit can do."""

    text: str
    documents: Mapping[str, str] = field(default_factory=dict)
    wants_buildkit: tuple[str, ...] = ()


class Lowering:
    """One Dockerfile on its way to the engine."""

    def __init__(
        self,
        text: str,
        arguments: Mapping[str, str],
        image_map: Mapping[str, str],
        read_settings: Callable[[str], Settings],
        *,
        has_buildkit: bool,
    ) -> None:
        """`read_settings` tells a base image's settings by its mapped name. Raises DockerfileError."""
        self._dockerfile: Dockerfile = parse_dockerfile(text)
        self._arguments = arguments
        self._image_map = image_map
        self._read_settings = read_settings
        self._has_buildkit = has_buildkit
        self._known = global_arguments(self._dockerfile, arguments)
        self._names: set[str] = set()
        self._states: dict[str, StageState] = {}
        self._documents: dict[str, str] = {}
        self._wants: list[str] = []

    def lowered(self) -> Lowered:
        """The result. Raises DockerfileError, and what `read_settings` raises."""
        lines = [f"# escape={self._dockerfile.escape}"]
        lines += [instruction.original for instruction in self._dockerfile.arguments]
        needed = needed_stages(self._dockerfile, self._known)
        for at, stage in enumerate(self._dockerfile.stages):
            if at in needed:
                lines += self._stage(stage, at)
            else:  # older builders build all: what nobody needs stays empty, and keeps its number
                lines.append(f"FROM scratch AS {stage.name}" if stage.name else "FROM scratch")
        return Lowered("\n".join(lines) + "\n", dict(self._documents), tuple(dict.fromkeys(self._wants)))

    def _stage(self, stage: Stage, at: int) -> list[str]:
        name = base_of(self._dockerfile, stage, self._known)
        if name.lower() in self._names:
            above, settings = self._states[name.lower()], self._states[name.lower()].settings
            from_name = name.lower()
        else:
            above = None
            from_name = self._image_map.get(name, name)
            settings = Settings() if name == "scratch" else self._read_settings(from_name)
        platform = f"--platform={stage.platform} " if stage.platform else ""
        lines = [f"FROM {platform}{from_name}" + (f" AS {stage.name}" if stage.name else "")]
        state = StageState(settings, self._dockerfile.escape, self._known, self._arguments)
        if above is not None:
            state.follow(above)
        for trigger in settings.triggers:  # the engine runs them itself
            state.apply(parse_trigger(trigger, self._dockerfile.escape))
        for instruction in stage.instructions:
            lines += self._instruction(instruction, state)
            state.apply(instruction)
        for known in filter(None, (stage.name, str(at))):
            self._names.add(known)
            self._states[known] = state
        return lines

    def _instruction(self, instruction: Instruction, state: StageState) -> list[str]:
        name = instruction.name
        if name in ("VOLUME", "MAINTAINER"):
            return []
        if name == "RUN":
            return self._run(instruction, state)
        if name in ("COPY", "ADD"):
            return self._copy(instruction, state)
        return [instruction.original]

    def _flags(self, instruction: Instruction) -> str:
        """The flags, but for the names of images, and what is harmless without BuildKit."""
        kept: list[tuple[str, str]] = []
        for key, value in instruction.flags:
            if key == "from" and value.lower() not in self._names:
                value = self._image_map.get(value, value)
            elif key == "mount":
                if not self._has_buildkit and _kind(value) in _HARMLESS:
                    continue
                self._wants.append("RUN --mount")
                value = ",".join(self._mapped(part) for part in value.split(","))
            elif key not in ("chown", "from", "network"):
                if key == "link" and not self._has_buildkit:
                    continue
                self._wants.append(f"{instruction.name} --{key}")
            kept.append((key, value))
        return _flag_text(kept)

    def _mapped(self, part: str) -> str:
        key, sign, value = part.partition("=")
        if key.strip().lower() == "from" and value.lower() not in self._names:
            value = self._image_map.get(value, value)
        return f"{key}{sign}{value}"

    def _run(self, instruction: Instruction, state: StageState) -> list[str]:
        flags = self._flags(instruction)
        documents = instruction.heredocs
        if instruction.is_json or not documents:
            return [_line(instruction, flags)]
        if read_heredoc(instruction.args[0]) is None:
            parts = [instruction.args[0], *(f"\n{found.content}{found.name}" for found in documents)]
            return [f"RUN {flags}{json.dumps(state.shelled([''.join(parts)]))}"]
        text = documents[0].text
        if not text.startswith("#!"):
            return [f"RUN {flags}{json.dumps(state.shelled([text]))}"]
        place = self._keep(documents[0].name, text)
        script = f"{_SCRIPT_FOLDER}/{documents[0].name}"
        run_script = json.dumps(["/bin/sh", "-c", f"chmod 755 {_SCRIPT_FOLDER}/*"])
        clean = json.dumps(["/bin/sh", "-c", f"rm -rf {_SCRIPT_FOLDER}"])
        return [
            f"COPY --from={DOCUMENTS} {json.dumps([place, script])}",
            *self._as_root(f"RUN {run_script}", state),
            f"RUN {flags}{json.dumps([script])}",
            *self._as_root(f"RUN {clean}", state),
        ]

    @staticmethod
    def _as_root(line: str, state: StageState) -> list[str]:
        if state.user in ("root", "0"):
            return [line]
        return ["USER root", line, f"USER {state.user}"]

    def _copy(self, instruction: Instruction, state: StageState) -> list[str]:
        flags = self._flags(instruction)
        args = instruction.args
        if not instruction.heredocs:
            return [_line(instruction, flags)]
        plain = [word for word in args[:-1] if read_heredoc(word) is None]
        target = state.expand(args[-1], instruction.line)
        lines = [f"{instruction.name} {flags}{' '.join([*plain, args[-1]])}"] if plain else []
        for found in instruction.heredocs:
            text = state.expand_content(found.text, instruction.line) if found.expands else found.text
            place = self._keep(found.name, text)
            lines.append(f"COPY --from={DOCUMENTS} {flags}{json.dumps([place, self._literal(target)])}")
        return lines

    def _literal(self, word: str) -> str:
        """A word in which the builder finds nothing to put in any more."""
        escape = self._dockerfile.escape
        return word.replace(escape, escape * 2).replace("$", f"{escape}$")

    def _keep(self, name: str, text: str) -> str:
        place = f"/{len(self._documents)}/{name}"
        self._documents[place] = text
        return place


def _flag_text(flags: Sequence[tuple[str, str]]) -> str:
    return "".join(f"--{key}={value} " for key, value in flags)


def _line(instruction: Instruction, flags: str) -> str:
    """The author's own line, unless its flags are others."""
    if flags == _flag_text(instruction.flags):
        return instruction.original
    words = json.dumps(instruction.args) if instruction.is_json else " ".join(instruction.args)
    return f"{instruction.name} {flags}{words}"


def _kind(mount: str) -> str:
    fields = dict(part.partition("=")[::2] for part in mount.split(","))
    is_required = fields.get("required", "false") != "false"
    return "required" if is_required else fields.get("type", "bind")


def with_documents(lowered: Lowered, name: str) -> Lowered:
    """The text with the name of the image that holds the documents."""
    return replace(lowered, text=lowered.text.replace(f"--from={DOCUMENTS} ", f"--from={name} "))
