"""How a container of a task comes about: from Dockerfile, Compose file and settings, in Harbor's order."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from aespec.bundle.foreign.compose import COMPOSE_FILES, Service, join_below, read_service
from aespec.bundle.foreign.folder import FaultError, Folder
from aespec.bundle.foreign.settings import MAIN, Surroundings
from aespec.bundle.foreign.task import Container, Fault
from aespec.bundle.foreign.variables import fill

DOCKERFILE = "Dockerfile"

_BY_HARBOR = {
    "CONTEXT_DIR": ".",
    "TEST_DIR": "/tests",
    "ENV_VERIFIER_LOGS_PATH": "/logs/verifier",
    "ENV_AGENT_LOGS_PATH": "/logs/agent",
    "ENV_ARTIFACTS_PATH": "/logs/artifacts",
}
"""What Harbor sets for Compose files to refer to."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A container, what else its Compose file asks for, and whether that leaves it a network.

    `context` is the folder of its build, relative to the task's; None where an image is taken as it is.
    """

    container: Container
    context: str | None
    extras: tuple[str, ...] = ()
    has_network: bool = True


def plan_container(
    folder: Folder, top: str, surroundings: Surroundings, given: Mapping[str, str], *, is_built: bool = False
) -> tuple[Planned, tuple[Fault, ...]]:
    """The container that folder `top` (`environment` or `tests`) and its settings define.

    A prebuilt image wins over a Dockerfile unless `is_built`. Raises `FaultError` where nothing defines one.
    """
    env, unset = fill(surroundings.env, given, f"the environment of {top}/")
    service, faults = _service(folder, top, {**given, **env, **_BY_HARBOR}, main=MAIN)
    context, dockerfile_path = places(service, top)
    has_dockerfile = service.inline is not None or folder.kind(dockerfile_path) == "file"
    shared = Container(
        folder.root / top,
        env={**service.env, **env},
        workdir=surroundings.workdir or service.workdir,
        user=service.user,
        build_timeout_s=surroundings.build_timeout_s,
    )
    found = [*unset, *faults]
    image = surroundings.image if not (is_built and has_dockerfile) else None
    if image is None and not has_dockerfile:
        image = _image_of_compose(folder, top, service, found)
    if image is not None:
        text = _with_files(folder, top, image, surroundings.workdir)
        container = replace(shared, dockerfile=text, image=image if text is None else None)
        context = top
    else:
        text = dockerfile_text(folder, service, dockerfile_path)
        container = replace(
            shared, context=folder.root / context, dockerfile=text, arguments=service.arguments
        )
    planned = Planned(container, context if text is not None else None, service.extras, service.has_network)
    return planned, tuple(found)


def places(service: Service, top: str) -> tuple[str, str]:
    """The build's context and its Dockerfile, relative to the task; `top` is the Compose file's folder.

    Raises `FaultError` for a context elsewhere: another folder of the machine, or a repository.
    """
    context = join_below(top, service.context or ".")
    dockerfile = None if context is None else join_below(context, service.dockerfile or DOCKERFILE)
    if context is None or dockerfile is None:
        told = (service.context or service.dockerfile or "")[:80]
        raise FaultError(
            Fault(
                "context-leaves-task",
                f"the image is built from {told!r}, outside the task",
                "Keep what the build needs in environment/.",
            )
        )
    return context, dockerfile


def dockerfile_text(folder: Folder, service: Service, path: str) -> str:
    """The text to build from, up to the end of the stage that is asked for."""
    text = service.inline if service.inline is not None else folder.text(path)
    return _until(text, service.stage) if service.stage else text


def _service(
    folder: Folder, top: str, given: Mapping[str, str], *, main: str
) -> tuple[Service, tuple[Fault, ...]]:
    path = posixpath.join(top, COMPOSE_FILES[0])
    if folder.kind(path) != "file":
        return Service(), ()
    service, faults = read_service(folder.text(path), given, main)
    if service is None:
        raise FaultError(faults[0])
    return service, faults


def _image_of_compose(folder: Folder, top: str, service: Service, found: list[Fault]) -> str:
    if service.image:
        found.append(
            Fault(
                "compose-image",
                f"{top}/{COMPOSE_FILES[0]} names an image, and there is no Dockerfile; the image is taken",
                "Harbor builds all the same, and fails: set `docker_image` in [environment].",
                is_fatal=False,
            )
        )
        return service.image
    other = next((name for name in COMPOSE_FILES if folder.kind(f"{top}/{name}") == "file"), None)
    raise FaultError(
        Fault(
            "no-environment",
            f"nothing says what the container of {top}/ is made of",
            f"Rename {other} to {COMPOSE_FILES[0]}: Harbor reads no other."
            if other
            else f"Add {top}/{DOCKERFILE}, or set `docker_image` in task.toml.",
        )
    )


def _with_files(folder: Folder, top: str, image: str, workdir: str) -> str | None:
    """A Dockerfile that puts the folder's files into the working directory, where Harbor does so; else None.

    It does where a prebuilt image stands beside files and there is no Dockerfile and no Compose file.
    """
    if folder.kind(top) != "folder" or top == "tests":
        return None
    if any(folder.kind(f"{top}/{name}") is not None for name in (DOCKERFILE, COMPOSE_FILES[0])):
        return None
    if not folder.below(top):
        return None
    return f"FROM {image}\nCOPY {json.dumps(['.', (workdir.rstrip('/') or '.') + '/'])}\n"


def _until(text: str, stage: str) -> str:
    """A Dockerfile up to the end of a stage, by name or number; all of it where there is no such stage."""
    starts = [found.start() for found in re.finditer(r"(?im)^[ \t]*FROM[ \t]", text)]
    for number, start in enumerate(starts):
        line = text[start:].partition("\n")[0]
        named = re.search(r"(?i)\sAS\s+(\S+)\s*$", line)
        if stage in (str(number), named[1].lower() if named else None, named[1] if named else None):
            return text[: starts[number + 1]] if number + 1 < len(starts) else text
    return text
