"""Base images for the fork sandbox: imported, from an engine, by mmdebstrap, or the host's own /usr."""

from __future__ import annotations

import contextlib
import functools
import gzip
import hashlib
import lzma
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from aespec.bundle.recipe import Recipe
from aespec.sandbox.api import SandboxError
from aespec.sandbox.fork import host
from aespec.sandbox.fork.build import Base, Workshop
from aespec.sandbox.fork.identity import Identity
from aespec.sandbox.fork.worker import OrderFailed, Worker, find_program
from aespec.sandbox.layers import FullDiskError, chain_digest, full_disk, layer_id
from aespec.sandbox.stages import DEFAULT_PATH
from aespec.sandbox.tars import Entry, pack

ORDER = ("store", "engine", "mmdebstrap", "host")

_DEBIAN_NAME = re.compile(r"(?:docker\.io/)?(?:library/)?debian:([a-z]+)(?:-slim|-\d{8}(?:-slim)?)?$")
_DEBIAN_FAMILY = re.compile(r"(?:docker\.io/)?(?:library/)?debian(?:[:@].*)?")
_EPOCH = "1704067200"
_PROBE_TIME_S = 20.0
_CHUNK_BYTES = 1 << 20
# What a sandbox mounts over, or binds over, must be there and be real; an engine makes the same empty files.
_FOLDERS = {"/proc": 0o555, "/sys": 0o555, "/dev": 0o755, "/tmp": 0o1777, "/run": 0o755, "/etc": 0o755}
_RESOLVER = "/etc/resolv.conf"
_HOST_FILES = {
    "/etc/hosts": "127.0.0.1\tlocalhost sandbox\n::1\tlocalhost ip6-localhost ip6-loopback\n",
    "/etc/hostname": "sandbox\n",
}
"""An engine shows its own in a container; in an export of it they are empty."""


def find_base(
    recipe: Recipe,
    workshop: Workshop,
    ways: Sequence[str],
    image_map: Mapping[str, str],
    say: Callable[[str], None],
    *,
    pulls: bool = False,
) -> Base:
    """The recipe's base by the first way that has it. Raises SandboxError that lists the ways out.

    Where it `pulls`, an engine asks its registry for what it hasn't got.
    """
    name = image_map.get(recipe.base, recipe.base)
    tried: list[str] = []
    for way in ways:
        if way not in _WAYS:
            raise SandboxError(f"there is no way {way!r} to a base image; there are {', '.join(ORDER)}")
        try:
            if way == "engine" and pulls:
                _pull(name, say)
            found = _WAYS[way](name, recipe, workshop, say, tried)
        except FullDiskError:
            raise
        except SandboxError as error:
            # One way that fails here (no network for mmdebstrap, say) leaves the others to be tried.
            tried.append(f"{way}: {error}")
            continue
        if found is not None:
            return found
    raise SandboxError(
        f"there is no base image {name} here: {'; '.join(tried)}",
        remedy=f"`docker pull {name}`; or --image-map {recipe.base}=NAME for one that is here; "
        "or install mmdebstrap for a debian base; or import a root file system from a tar",
        boundary="image",
    )


def _from_store(
    name: str, recipe: Recipe, workshop: Workshop, say: Callable[[str], None], tried: list[str]
) -> Base | None:
    record = workshop.store.named(name)
    if record is None or workshop.store.find(record["digest"]) is None:
        tried.append("nothing was imported under this name")
        return None
    return _as_base(record)


def _as_base(record: Mapping[str, Any]) -> Base:
    env = {"PATH": DEFAULT_PATH, **record.get("env", {})}
    return Base(record["digest"], layer_id(record["digest"]), env, config=record.get("config", {}))


def _pull(name: str, say: Callable[[str], None]) -> None:
    """Have an engine fetch an image. That it can't, or that there is none, is told by the way itself."""
    from aespec.sandbox.docker import engine

    with contextlib.suppress(SandboxError), contextlib.closing(engine.connect()) as client:
        if engine.find_image(client, name) is None:
            say(f"asking the engine's registry for {name}")
            engine.pull_image(client, name, name)


def _from_engine(
    name: str, recipe: Recipe, workshop: Workshop, say: Callable[[str], None], tried: list[str]
) -> Base | None:
    from aespec.sandbox.docker import engine

    try:
        client = engine.connect()
    except SandboxError as error:
        tried.append(str(error))
        return None
    with contextlib.closing(client):
        image = engine.find_image(client, name)
        if image is None:
            tried.append("the Docker engine does not have it")
            return None
        digest = chain_digest("engine", {"image": image.digest})

        def build(folder: str) -> dict[str, Any]:
            say(f"exporting {name} from the Docker engine")
            with contextlib.closing(engine.export_image(client, image)) as chunks:
                _unpack(chunks, f"{folder}/fs", workshop)
            return {"env": dict(image.env)}

        if workshop.store.find(digest) is None:
            workshop.store.make(digest, build)
        return _as_base({"digest": digest, "env": image.env, "config": image.config})


def _from_mmdebstrap(
    name: str, recipe: Recipe, workshop: Workshop, say: Callable[[str], None], tried: list[str]
) -> Base | None:
    matched = _DEBIAN_NAME.match(name)
    program = find_program("mmdebstrap")
    if not matched:
        tried.append("mmdebstrap makes only names like debian:bookworm-slim")
        return None
    if not program:
        tried.append("mmdebstrap is not installed")
        return None
    suite = matched[1]
    digest = chain_digest("mmdebstrap", {"suite": suite})
    if workshop.store.find(digest) is None and (fault := bootstrap_fault(program)):
        tried.append(f"mmdebstrap can't work here: {fault}")
        return None

    def build(folder: str) -> dict[str, Any]:
        say(f"making {name} from Debian's packages with mmdebstrap (minutes)")
        _unpack(_bootstrap(program, suite), f"{folder}/fs", workshop)
        return {}

    if workshop.store.find(digest) is None:
        workshop.store.make(digest, build)
    return _as_base({"digest": digest})


@functools.cache
def bootstrap_fault(program: str) -> str:
    """Why mmdebstrap can't make a root for this user, in its own words; "" where it can.

    It is asked to look at a mirror that isn't there: that needs no network, and it chooses how it would
    change its root before it looks.
    """
    mirror = "deb [trusted=yes] copy:/nonexistent ./"
    command = [program, "--simulate", "--variant=custom", "bookworm", "/dev/null", mirror]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_PROBE_TIME_S,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        return ""
    except OSError as error:
        return error.strerror or str(error)
    return next((line.removeprefix("E: ") for line in done.stderr.splitlines() if "chroot mode" in line), "")


def _bootstrap(program: str, suite: str) -> Iterator[bytes]:
    command = [program, "--variant=minbase", "--quiet", suite, "-"]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, "SOURCE_DATE_EPOCH": _EPOCH},
            start_new_session=True,  # when it fails it hangs up on its whole process group
        ) as process,
    ):
        assert process.stdout is not None
        while chunk := process.stdout.read(_CHUNK_BYTES):
            yield chunk
        if process.wait():
            errors.seek(0)
            text = "\n".join(errors.read().decode(errors="replace").splitlines()[-10:])
            raise SandboxError(f"mmdebstrap could not make {suite}:\n{text}", boundary="image")


def _from_host(
    name: str, recipe: Recipe, workshop: Workshop, say: Callable[[str], None], tried: list[str]
) -> Base | None:
    if not _DEBIAN_FAMILY.fullmatch(name):
        tried.append("the host's own /usr stands in only for debian bases")
        return None
    missing = host.missing_packages(recipe)
    if missing:
        tried.append(f"the host's own /usr can't stand in, it lacks {', '.join(missing)}")
        return None
    root = host.host_root()
    digest = chain_digest(
        "host", {"skeleton": hashlib.sha256(root.skeleton).hexdigest(), "trees": root.trees}
    )

    def build(folder: str) -> dict[str, Any]:
        _unpack([root.skeleton], f"{folder}/fs", workshop)
        return {}

    if workshop.store.find(digest) is None:
        workshop.store.make(digest, build)
    return Base(digest, layer_id(digest), {"PATH": root.path}, root.trees)


_WAYS: dict[str, Callable[[str, Recipe, Workshop, Callable[[str], None], list[str]], Base | None]] = {
    "store": _from_store,
    "engine": _from_engine,
    "mmdebstrap": _from_mmdebstrap,
    "host": _from_host,
}


def scratch_base(workshop: Workshop) -> Base:
    """The base `scratch`: nothing but what a sandbox mounts over."""
    digest = chain_digest("scratch", {})

    def build(folder: str) -> dict[str, Any]:
        _unpack([pack([Entry("proc", None, 0o555)])], f"{folder}/fs", workshop)
        return {}

    if workshop.store.find(digest) is None:
        workshop.store.make(digest, build)
    return _as_base({"digest": digest})


def import_tar(name: str, tar: Path, workshop: Workshop) -> Base:
    """Take a root file system from a tar as the base `name`. Raises SandboxError for what is no such tar."""
    try:
        with tar.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SandboxError(f"{tar} can't be read: {error.strerror}", boundary="image") from None
    digest = chain_digest("tar", {"content": content})

    def build(folder: str) -> dict[str, Any]:
        with _opened(tar) as file:
            _unpack(iter(lambda: file.read(_CHUNK_BYTES), b""), f"{folder}/fs", workshop)
        return {}

    if workshop.store.find(digest) is None:
        workshop.store.make(digest, build)
    workshop.store.name(name, {"name": name, "digest": digest, "env": {}})
    return _as_base({"digest": digest})


def _opened(path: Path) -> BinaryIO | gzip.GzipFile | lzma.LZMAFile:
    with path.open("rb") as file:
        start = file.read(6)
    if start.startswith(b"\x1f\x8b"):
        return gzip.open(path)
    if start == b"\xfd7zXZ\0":
        return lzma.open(path)
    return path.open("rb")


def _unpack(chunks: Iterable[bytes], target: str, workshop: Workshop) -> None:
    """Stream a plain tar into a new layer folder through a supervisor, which owns the files there."""
    read_end, write_end = os.pipe()
    failure: list[BaseException] = []

    def feed() -> None:
        try:
            with open(write_end, "wb", buffering=0) as sink:
                for chunk in chunks:
                    view = memoryview(chunk)
                    while view:
                        view = view[sink.write(view) :]
        except BrokenPipeError:  # the reader has said why
            return
        except BaseException as error:  # noqa: BLE001  handed to the thread that waits
            failure.append(error)

    identity: Identity = workshop.identity
    try:
        worker = Worker(identity, workshop.store.folder, descriptors=(read_end,))
    except BaseException:
        os.close(write_end)
        raise
    finally:
        descriptor = read_end
    with contextlib.closing(worker):
        os.close(descriptor)
        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        order = {
            "do": "unpack",
            "descriptor": descriptor,
            "target": target,
            "sets_owners": identity.switches_user,
            "folders": _FOLDERS,
            "files": {_RESOLVER: ""},
            "defaults": _HOST_FILES,
        }
        refused: OrderFailed | None = None
        try:
            worker.ask(order)
        except OrderFailed as error:
            refused = error
        finally:
            worker.close()
            feeder.join()
    # What the maker of the tar says comes first: an empty or cut tar is only how it shows here.
    if failure:
        raise failure[0]
    if refused is not None:
        if refused.errno == 28:
            raise full_disk(workshop.store.folder)
        raise SandboxError(f"the root file system can't be unpacked: {refused}", boundary="image")
