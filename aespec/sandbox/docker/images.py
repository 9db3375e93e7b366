"""Images of foreign Dockerfiles: built by the engine, with BuildKit where its command is at hand."""

from __future__ import annotations

import collections
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aespec.sandbox.api import TOO_LONG_REMEDY, Build, SandboxError
from aespec.sandbox.docker import engine
from aespec.sandbox.docker.dockerfile import Lowered, Lowering, with_documents
from aespec.sandbox.fork.kernel import die_with_parent
from aespec.sandbox.layers import chain_digest, layer_id
from aespec.sandbox.stages import Settings
from aespec.sandbox.tars import Entry, pack
from aespec.scratch import scratch_folder

if TYPE_CHECKING:
    import docker

IMAGE_LABEL = f"{engine.LABEL}.image"
"""On every image that was built here."""

PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
SHOWN_LINES = 30
_LONGEST_LINE = 500
_LARGEST_OUTPUT_BYTES = 256 << 20
_STEP = re.compile(r"#\d+ \[[^\]]*\d+/\d+\] ")


def build_image(
    client: docker.DockerClient, build: Build, image_map: Mapping[str, str], say: Callable[[str], None]
) -> str:
    """The tag of the build's image. Raises SandboxError, with boundary `image` for what it does wrong."""
    if build.dockerfile is None:
        name = image_map.get(build.image or "", build.image or "")
        return _without_volumes(client, engine.pull_image(client, name, build.image or ""), name)
    has_buildkit = find_buildkit()
    bases: dict[str, engine.EngineImage] = {}

    def read_settings(name: str) -> Settings:
        bases[name] = engine.pull_image(client, name, name)
        return Settings.read(bases[name].config)

    lowered = Lowering(
        build.dockerfile, build.arguments, image_map, read_settings, has_buildkit=has_buildkit
    ).lowered()
    if lowered.wants_buildkit and not has_buildkit:
        raise SandboxError(
            f"the Dockerfile has {', '.join(lowered.wants_buildkit)}, which takes BuildKit",
            remedy="install Docker's plugin `buildx`",
            boundary="image",
        )
    content = {
        "dockerfile": hashlib.sha256(lowered.text.encode("utf-8", "surrogateescape")).hexdigest(),
        "documents": dict(lowered.documents),
        "context": context_digest(build.context),
        "arguments": dict(build.arguments),
        "bases": {name: image.digest for name, image in bases.items()},
        "buildkit": has_buildkit,
    }
    tag = f"aespec:{layer_id(chain_digest('foreign', content))}"
    if engine.find_image(client, tag) is None:
        run = _Run(client, build, tag, say)
        if lowered.documents:
            lowered = with_documents(lowered, _documents_image(client, lowered.documents))
        run.build(lowered, has_buildkit=has_buildkit)
    found = engine.find_image(client, tag)
    if found is None:
        raise SandboxError(f"the engine built {tag} and doesn't have it", boundary="image")
    return _without_volumes(client, found, tag)


def find_buildkit() -> bool:
    """Whether the engine's command with BuildKit is at hand."""
    if shutil.which("docker") is None:
        return False
    asked = subprocess.run(["docker", "buildx", "version"], capture_output=True, check=False)
    return asked.returncode == 0


class _Run:
    """One build by the engine, with an end in time and in what it prints."""

    def __init__(
        self, client: docker.DockerClient, build: Build, tag: str, say: Callable[[str], None]
    ) -> None:
        self._client = client
        self._build = build
        self._tag = tag
        self._say = say
        self._deadline = time.monotonic() + build.timeout_s
        self._shown: collections.deque[str] = collections.deque(maxlen=SHOWN_LINES)
        self._printed_bytes = 0
        self._failure = ""

    def build(self, lowered: Lowered, *, has_buildkit: bool) -> None:
        proxies = {name: os.environ[name] for name in PROXIES if name in os.environ}
        arguments = {**proxies, **self._build.arguments}
        with scratch_folder("dockerfile") as aside:
            # Outside of the context: it is sent along under a name that no COPY can mean.
            dockerfile = aside / "Dockerfile"
            dockerfile.write_text(lowered.text, encoding="utf-8", errors="surrogateescape")
            folder = self._build.context if self._build.context.is_dir() else aside
            if has_buildkit:
                self._by_command(folder, dockerfile, arguments)
            else:
                self._by_engine(folder, dockerfile, arguments)
        if self._failure:
            tail = "\n".join([*self._shown, self._failure])
            raise SandboxError(f"the image could not be built\n{tail}", boundary="image")

    def _by_engine(self, folder: Path, dockerfile: Path, arguments: Mapping[str, str]) -> None:
        import docker
        import urllib3

        try:
            lines: Iterable[Mapping[str, Any]] = self._client.api.build(
                path=str(folder),
                dockerfile=str(dockerfile),
                tag=self._tag,
                rm=True,
                forcerm=True,
                decode=True,
                labels={IMAGE_LABEL: "1"},
                buildargs=dict(arguments),
                timeout=max(1, int(self._build.timeout_s)),  # between two pieces of output
            )
            with contextlib.closing(lines):  # type: ignore[type-var]
                for line in lines:  # to its end: the SDK gives the connection back only then
                    self._note(str(line.get("stream") or line.get("status") or ""), "Step ")
                    self._failure = self._failure or str(line.get("error") or "")
        except (urllib3.exceptions.ReadTimeoutError, TimeoutError):
            raise self._too_long() from None
        except (docker.errors.DockerException, OSError) as error:
            raise engine.explain(error, "the image could not be built", "image") from None

    def _by_command(self, folder: Path, dockerfile: Path, arguments: Mapping[str, str]) -> None:
        command = ["docker", "--context", "default", "buildx", "build", "--builder", "default"]
        command += ["--progress", "plain", "--load", "--tag", self._tag, "--label", f"{IMAGE_LABEL}=1"]
        command += [word for name, value in arguments.items() for word in ("--build-arg", f"{name}={value}")]
        with tempfile.TemporaryFile() as nothing:
            process = subprocess.Popen(
                [*command, "--file", str(dockerfile), str(folder)],
                stdin=nothing,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, "BUILDX_NO_DEFAULT_ATTESTATIONS": "1"},
                text=True,
                errors="replace",
                start_new_session=True,
                # Else a build that hangs would outlive a killed aespec; it makes one call of the kernel.
                preexec_fn=die_with_parent,  # noqa: PLW1509
            )
        watch = threading.Timer(self._build.timeout_s, process.terminate)
        watch.daemon = True
        with process, contextlib.ExitStack() as stack:
            stack.callback(process.kill)
            stack.callback(watch.cancel)
            watch.start()
            assert process.stdout is not None
            while line := process.stdout.readline(1 << 16):
                self._note(line, "#")
            if process.wait():
                if time.monotonic() > self._deadline:
                    raise self._too_long()
                self._failure = f"the engine's command ended with status {process.returncode}"

    def _note(self, text: str, start: str) -> None:
        """Keep the end of the output, tell the steps, and see to the limits."""
        self._printed_bytes += len(text)
        for line in text.rstrip().splitlines():
            self._shown.append(line[:_LONGEST_LINE])
            if line.startswith(start) and (start != "#" or _STEP.match(line)):
                self._say(line[:_LONGEST_LINE])
        if time.monotonic() > self._deadline:
            raise self._too_long()
        if self._printed_bytes > _LARGEST_OUTPUT_BYTES:
            raise SandboxError(
                f"the build printed more than {_LARGEST_OUTPUT_BYTES >> 20} MiB", boundary="image"
            )

    def _too_long(self) -> SandboxError:
        tail = "\n".join(self._shown)
        return SandboxError(
            f"the build took longer than its {self._build.timeout_s:.0f} s\n{tail}".rstrip(),
            remedy=TOO_LONG_REMEDY,
            boundary="image",
        )


def context_digest(context: Path) -> str:
    """Of all files that a build could see, by name, whether they can be run, and content."""
    digest = hashlib.sha256()
    for path in sorted(context.rglob("*")) if context.is_dir() else ():
        name = path.relative_to(context).as_posix()
        if path.is_symlink():
            digest.update(f"{name}\0link\0{os.readlink(path)}\0".encode("utf-8", "surrogateescape"))
        elif path.is_file():
            mode = f"{path.stat().st_mode & 0o7777:o}"
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(f"{name}\0{mode}\0{content}\0".encode("utf-8", "surrogateescape"))
        elif path.is_dir():
            digest.update(
                f"{name}\0folder\0{path.stat().st_mode & 0o7777:o}\0".encode("utf-8", "surrogateescape")
            )
    return digest.hexdigest()


def _documents_image(client: docker.DockerClient, documents: Mapping[str, str]) -> str:
    """An image that holds nothing but the documents."""
    entries = [Entry(path, text.encode("utf-8", "surrogateescape")) for path, text in documents.items()]
    archive = pack(entries)
    tag = f"aespec:{layer_id(chain_digest('documents', {'content': hashlib.sha256(archive).hexdigest()}))}"
    if engine.find_image(client, tag) is None:
        import_files(client, archive, tag, [f'LABEL {IMAGE_LABEL}="1"', 'CMD ["/nothing"]'])
    return tag


def import_files(client: docker.DockerClient, archive: Any, tag: str, changes: list[str]) -> None:
    """Make an image of one layer: of a tar, as bytes or as a stream of them."""
    name, _, version = tag.partition(":")
    with engine.told("the engine could not take the files"):
        if isinstance(archive, bytes):
            answer = client.api.import_image_from_data(archive, repository=name, tag=version, changes=changes)
        else:
            answer = client.api.import_image_from_stream(
                archive, repository=name, tag=version, changes=changes
            )
    for line in str(answer).splitlines():
        with contextlib.suppress(ValueError):
            if error := json.loads(line).get("error"):
                raise SandboxError(f"the engine could not take the files: {error}")


def _without_volumes(client: docker.DockerClient, image: engine.EngineImage, name: str) -> str:
    """An image that keeps no folder out of its layers: itself, or where it has volumes a copy of it."""
    if not image.config.get("Volumes"):
        return name
    tag = f"aespec:{layer_id(chain_digest('without volumes', {'image': image.digest}))}"
    if engine.find_image(client, tag) is None:
        with contextlib.closing(engine.export_image(client, image)) as chunks:
            import_files(client, chunks, tag, [*_changes(image.config), f'LABEL {IMAGE_LABEL}="1"'])
    return tag


def _changes(config: Mapping[str, Any]) -> list[str]:
    """An image's configuration as the instructions that make it."""
    settings = Settings.read(config)
    lines = [
        f"ENV {name}={json.dumps(value).replace('$', chr(92) + '$')}" for name, value in settings.env.items()
    ]
    lines += [f"WORKDIR {settings.workdir}"] if settings.workdir else []
    lines += [f"USER {settings.user}"] if settings.user else []
    lines += [f"ENTRYPOINT {json.dumps(settings.entrypoint)}"] if settings.entrypoint else []
    command = config.get("Cmd")
    return [*lines, f"CMD {json.dumps(command)}"] if command else lines
