"""The bridge to the engine: a client, images, their file systems. The SDK is loaded on first use."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aespec.sandbox.api import SandboxError

if TYPE_CHECKING:
    import docker
    from docker.models.containers import Container

LABEL = "aespec"
"""On everything made here: boot, process and its start, so that a later process knows what is left over."""

_DEFAULT_HOST = "unix:///var/run/docker.sock"
_TIMEOUT_S = 120
_CHUNK_BYTES = 1 << 20
_REMEDY = (
    "start the engine (`dockerd`, Docker Desktop), or set DOCKER_HOST; for an ordinary user: "
    "as root, usermod -aG docker USER, then log in again"
)


def connect() -> docker.DockerClient:
    """A client of an engine that answers. Raises SandboxError where none does.

    The containers of processes that were killed before they could remove them are removed.
    """
    client = connect_only()
    _reap(client)
    return client


def connect_only() -> docker.DockerClient:
    """The same, and nothing is removed."""
    _check_socket()
    import docker

    client = None
    try:
        client = docker.from_env(timeout=_TIMEOUT_S)
        client.ping()
    except (docker.errors.DockerException, OSError) as error:
        if client is not None:
            client.close()
        raise SandboxError(f"no Docker engine answers: {shorten(error)}", remedy=_REMEDY) from None
    return client


def _reap(client: docker.DockerClient) -> None:
    import docker

    with contextlib.suppress(docker.errors.DockerException, OSError):
        for container in client.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True):
            if is_left_over(container.labels.get(LABEL, "")):
                remove_container(container)


def remove_container(container: Container) -> None:
    """Remove a container with its volumes; trouble is passed over, the next process tries again."""
    import docker

    with contextlib.suppress(docker.errors.DockerException, OSError):
        container.remove(force=True, v=True)


def _check_socket() -> None:
    """Find out cheaply that no engine listens: the SDK takes 0.3 s to load and leaves a socket open then."""
    host = os.environ.get("DOCKER_HOST") or _DEFAULT_HOST
    if not host.startswith("unix://"):
        return
    with socket.socket(socket.AF_UNIX) as attempt:
        attempt.settimeout(_TIMEOUT_S)
        try:
            attempt.connect(host.removeprefix("unix://"))
        except OSError as error:
            raise SandboxError(
                f"no Docker engine answers: {error.strerror or error}", remedy=_REMEDY
            ) from None


def shorten(error: Exception) -> str:
    """The engine's error in one line."""
    text = str(getattr(error, "explanation", None) or error)
    for cause in ("Permission denied", "No such file or directory", "Connection refused"):
        if cause in text:
            return cause.lower()
    return text.splitlines()[0][:200] if text else type(error).__name__


def explain(error: Exception, what: str, boundary: str = "sandbox") -> SandboxError:
    """The engine's error as ours."""
    return SandboxError(f"{what}: {shorten(error)}", remedy="", boundary=boundary)


@contextlib.contextmanager
def told(what: str) -> Iterator[None]:
    """Turn the engine's errors below, and a dead engine, into SandboxError."""
    import docker

    try:
        yield
    except docker.errors.DockerException as error:
        raise explain(error, what) from None
    except OSError as error:  # requests' errors are of this kind
        raise SandboxError(
            f"{what}: the engine no longer answers ({shorten(error)})", remedy=_REMEDY
        ) from None


@dataclass(frozen=True, slots=True)
class EngineImage:
    """An image that the engine has: `digest` is its id, `env` what its configuration sets.

    `registry_digest` is the `sha256:…` under which the registry that it came from has it; `config` is the
    engine's own `Config`.
    """

    digest: str
    env: Mapping[str, str]
    registry_digest: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict, repr=False)


def find_image(client: docker.DockerClient, name: str) -> EngineImage | None:
    """The engine's image of that name, None where it has none."""
    import docker

    with told(f"the engine was asked for {name}"):
        try:
            image = client.images.get(name)
        except docker.errors.ImageNotFound:
            return None
    pulled = [str(item) for item in image.attrs.get("RepoDigests") or ()]
    return EngineImage(
        str(image.id),
        environment(image.attrs),
        pulled[0].rpartition("@")[2] if pulled else None,
        image.attrs.get("Config") or {},
    )


def pull_image(client: docker.DockerClient, name: str, public: str) -> EngineImage:
    """The engine's image of that name, from its registry where it isn't there. Raises SandboxError.

    `public` is the name that the user knows it by.
    """
    import docker

    if (found := find_image(client, name)) is not None:
        return found
    try:
        # Not as a stream, whose connection the SDK leaves open when the engine refuses.
        client.api.pull(name)
        found = find_image(client, name)
    except (docker.errors.DockerException, OSError) as error:
        raise SandboxError(
            f"the engine has no image {name} and can't pull it: {shorten(error)}",
            remedy=f"--image-map {public}=NAME for one that `docker images` lists, or make {name} here",
            boundary="image",
        ) from None
    if found is None:
        raise SandboxError(f"the engine has no image {name} after pulling it", boundary="image")
    return found


def export_image(client: docker.DockerClient, image: EngineImage) -> Generator[bytes, None, None]:
    """An image's file system as a plain tar, by a container that is never started."""
    with told("the image could not be exported"):
        container = client.containers.create(
            image.digest, command=["/nothing"], network_mode="none", labels={LABEL: owner_label()}
        )
        try:
            chunks: Any = container.export(chunk_size=_CHUNK_BYTES)  # its types say str
            yield from chunks
        finally:
            container.remove(force=True, v=True)


def environment(attributes: Mapping[str, Any]) -> dict[str, str]:
    """What an image's configuration sets."""
    pairs = (entry.partition("=") for entry in (attributes.get("Config") or {}).get("Env") or ())
    return {name: value for name, _, value in pairs}


def _boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:  # not on Linux: the process alone must do
        return ""


def _started(pid: int) -> str:
    """When the process started, in ticks since boot; "" when it isn't there."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def owner_label() -> str:
    """Who made a thing, as the value of its label."""
    pid = os.getpid()
    return json.dumps({"boot": _boot(), "pid": pid, "started": _started(pid)}, sort_keys=True)


def is_left_over(label: str) -> bool:
    """Whether the process of a label is gone. Where that can't be known (another machine), it isn't."""
    try:
        owner = json.loads(label)
        pid = int(owner["pid"])
        boot, started = str(owner["boot"]), str(owner["started"])
    except (ValueError, KeyError, TypeError):
        return False
    if not boot or not _boot():
        return False
    if boot != _boot():
        return os.environ.get("DOCKER_HOST") in (None, "", _DEFAULT_HOST)
    return _started(pid) != started
