"""The backend `docker`: images built by the engine from a bundle's own Dockerfile, a container per slot."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aespec.bundle.recipe import Recipe
from aespec.sandbox.api import Abilities, Build, Difference, Image, SandboxError, SandboxLimits
from aespec.sandbox.docker import engine
from aespec.sandbox.docker.images import IMAGE_LABEL, PROXIES, SHOWN_LINES, build_image, context_digest
from aespec.sandbox.docker.slot import DockerSlot
from aespec.sandbox.docker.states import Index, index_image
from aespec.sandbox.layers import chain_digest, difference_digest, layer_id, recipe_digest
from aespec.sandbox.stages import Settings
from aespec.scratch import scratch_folder

if TYPE_CHECKING:
    import docker
    from docker.models.containers import Container

_INDEXES_AT_MOST = 8
_OPEN_FILES = 4096
_SHARED_MEMORY_BYTES = 64 << 20
_OWN_PROCESSES = 8  # the engine's init, its child, and the shell that starts a program
_FROM = re.compile(r"^(\s*FROM\s+(?:--platform=\S+\s+)?)(\S+)(.*)$", re.IGNORECASE | re.MULTILINE)
# What switching users and judging their files takes, out of the engine's fourteen.
_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID")
# The engine's init hands signals that a program sends to process 1 on to its child, which must not mind.
_IDLE = ["/bin/sh", "-c", "trap '' HUP INT QUIT TERM USR1 USR2; while :; do sleep 2147483; done"]


class DockerSandbox:
    """See `aespec.sandbox.api.Sandbox`."""

    name = "docker"

    def __init__(self, *, image_map: Mapping[str, str] | None = None) -> None:
        """`image_map` takes public names in `FROM` to names that the engine has."""
        self._image_map = dict(image_map or {})
        self._connected: docker.DockerClient | None = None
        self._found: Abilities | None = None
        self._indexes: dict[str, Index] = {}
        self._slots: set[DockerSlot] = set()

    def _client(self) -> docker.DockerClient:
        if self._connected is None:
            self._connected = engine.connect()
            weakref.finalize(self, self._connected.close)
        return self._connected

    # --- what is possible --------------------------------------------------------------------------------

    def abilities(self) -> Abilities:
        """See the contract: by asking the engine what it enforces."""
        if self._found is None:
            try:
                info: Mapping[str, Any] = self._client().info()
            except SandboxError as error:
                return Abilities(
                    self.name, "none", {"a Docker engine": error.remedy}, {"failure": str(error)}
                )
            missing = {
                what: "a kernel with this control group; see `docker info`"
                for what, key in (("memory limit", "MemoryLimit"), ("process limit", "PidsLimit"))
                if not info.get(key)
            }
            facts = {
                "engine": str(info.get("ServerVersion")),
                "storage": str(info.get("Driver")),
                "control groups": f"version {info.get('CgroupVersion', '1')}",
                "disk limit": "watched each second, and per file",
                "ownership": "kept",
                "users": "switched",
            }
            self._found = Abilities(self.name, "full", missing, facts)
        return self._found

    # --- images ------------------------------------------------------------------------------------------

    def prepare(
        self, recipe: Recipe, context: Path, *, progress: Callable[[str], None] | None = None
    ) -> Image:
        """See the contract. The Dockerfile of `context` is built as it is, but for mapped bases."""
        client = self._client()
        text = self._dockerfile(recipe, context)
        base = self._base_digest(client, self._image_map.get(recipe.base, recipe.base))
        digest = recipe_digest(base, recipe, context)
        content = {
            "dockerfile": hashlib.sha256(text.encode()).hexdigest(),
            "context": context_digest(context),
        }
        tag = f"aespec:{layer_id(chain_digest(digest, content))}"
        if engine.find_image(client, tag) is None:
            self._build(client, text, context, tag, progress or (lambda _: None))
        found = client.images.get(tag)
        return Image(digest, tag, engine.environment(found.attrs), recipe.workdir, recipe.user)

    def _dockerfile(self, recipe: Recipe, context: Path) -> str:
        path = context / "Dockerfile"
        if path.is_file():
            text = path.read_text(encoding="utf-8")
        else:  # an image that no bundle carries, such as the evaluator's
            from aespec.bundle.dockerfile import render_dockerfile

            text = render_dockerfile(recipe)
        return _FROM.sub(lambda line: f"{line[1]}{self._image_map.get(line[2], line[2])}{line[3]}", text)

    def _base_digest(self, client: docker.DockerClient, name: str) -> str:
        found = engine.pull_image(client, name, name)
        return chain_digest("engine", {"image": found.digest})

    def registry_digest(self, name: str) -> str | None:
        """The `sha256:…` under which a registry has an image of the engine's; None for one made here."""
        image = engine.find_image(self._client(), self._image_map.get(name, name))
        return image.registry_digest if image else None

    def _build(
        self, client: docker.DockerClient, text: str, context: Path, tag: str, say: Callable[[str], None]
    ) -> None:
        import docker

        with scratch_folder("dockerfile") as aside:
            # Outside of the context: the SDK sends it along under a name that no COPY can mean.
            dockerfile = aside / "Dockerfile"
            dockerfile.write_text(text, encoding="utf-8")
            folder = context if context.is_dir() else aside
            try:
                lines = client.api.build(
                    path=str(folder),
                    dockerfile=str(dockerfile),
                    tag=tag,
                    rm=True,
                    forcerm=True,
                    decode=True,
                    labels={IMAGE_LABEL: "1"},
                    buildargs={name: os.environ[name] for name in PROXIES if name in os.environ},
                )
                _follow_build(lines, say)
            except (docker.errors.DockerException, OSError) as error:
                raise engine.explain(error, "the image could not be built", "image") from None

    def build(self, build: Build, *, progress: Callable[[str], None] | None = None) -> Image:
        """See the contract: by the engine, with BuildKit where Docker's command is at hand."""
        client = self._client()
        tag = build_image(client, build, self._image_map, progress or (lambda _: None))
        found = client.images.get(tag)
        settings = Settings.read(found.attrs.get("Config") or {})
        return Image(
            chain_digest("engine", {"image": str(found.id)}),
            tag,
            settings.env,
            settings.workdir or "/",
            settings.user or "root",
            entrypoint=settings.entrypoint,
        )

    def freeze(self, image: Image, difference: Difference) -> Image:
        """See the contract: a commit of a container that got the difference."""
        client = self._client()
        digest = difference_digest(image, difference)
        tag = f"aespec:{layer_id(digest)}"
        if engine.find_image(client, tag) is None:
            # What a commit takes over from the container, but for the files, is set back.
            changes = [f'LABEL {engine.LABEL}=""', f'LABEL {IMAGE_LABEL}="1"', "ENTRYPOINT []", "CMD []"]
            with self._opened(image, SandboxLimits()) as (slot, container):
                slot.put(difference.archive, clean=difference.deleted)
                with engine.told("the state could not be frozen"):
                    name, _, version = tag.partition(":")
                    container.commit(name, version, changes=[*changes, f"USER {image.user}"], pause=False)
        return replace(image, digest=digest, reference=tag)

    def _index(self, reference: str) -> Index:
        """The files of an image, found out once."""
        if reference not in self._indexes:
            while len(self._indexes) >= _INDEXES_AT_MOST:
                self._indexes.pop(next(iter(self._indexes)))
            self._indexes[reference] = index_image(self._client(), reference)
        return self._indexes[reference]

    # --- slots -------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def open(self, image: Image, limits: SandboxLimits) -> Iterator[DockerSlot]:
        """See the contract. The container goes at the end, or when the next process finds it left over."""
        with self._opened(image, limits) as (slot, _):
            yield slot

    @contextlib.contextmanager
    def _opened(self, image: Image, limits: SandboxLimits) -> Iterator[tuple[DockerSlot, Container]]:
        import docker

        client = self._client()
        try:
            container = client.containers.create(**_container_options(image, limits))
        except (docker.errors.DockerException, OSError) as error:
            raise engine.explain(error, "the container could not be made") from None
        try:
            with engine.told("the container could not be started"):
                container.start()
            reference = str(image.reference)
            slot = DockerSlot(client, container, image.env, limits, lambda: self._index(reference))
            self._slots.add(slot)
            try:
                yield slot, container
            finally:
                self._slots.discard(slot)
        finally:
            engine.remove_container(container)

    def stop(self) -> None:
        """See `Stoppable`."""
        for slot in tuple(self._slots):
            slot.stop()


def _container_options(image: Image, limits: SandboxLimits) -> dict[str, Any]:
    from docker.types import Ulimit

    return {
        "image": str(image.reference),
        "entrypoint": _IDLE,
        "command": [],
        "user": "0",  # by number: a state may have lost the file that names it
        "working_dir": "/",
        "init": True,
        "hostname": "sandbox",
        "network_mode": "none",
        "cap_drop": ["ALL"],
        "cap_add": list(_CAPABILITIES),
        "security_opt": ["no-new-privileges"],
        "pids_limit": limits.processes + _OWN_PROCESSES,
        "mem_limit": limits.memory_bytes,
        "memswap_limit": limits.memory_bytes,
        "nano_cpus": int(min(limits.cpu, os.cpu_count() or 1) * 1_000_000_000),
        "shm_size": _SHARED_MEMORY_BYTES,
        "ulimits": [
            Ulimit(name="core", soft=0, hard=0),
            Ulimit(name="nofile", soft=_OPEN_FILES, hard=_OPEN_FILES),
            Ulimit(name="fsize", soft=limits.disk_bytes, hard=limits.disk_bytes),
        ],
        "healthcheck": {"test": ["NONE"]},
        "labels": {engine.LABEL: engine.owner_label()},
    }


def _follow_build(lines: Iterable[Mapping[str, Any]], say: Callable[[str], None]) -> None:
    shown: list[str] = []
    failure = ""
    for line in lines:  # to its end: the SDK gives the connection back only then
        text = str(line.get("stream") or line.get("status") or "").rstrip()
        shown += text.splitlines()
        if text.startswith("Step "):
            say(text)
        failure = failure or str(line.get("error") or "")
    if failure:
        tail = "\n".join([*shown[-SHOWN_LINES:], failure])
        raise SandboxError(f"the image could not be built\n{tail}", boundary="image")
