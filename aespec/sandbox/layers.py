"""Layers on disk: content-addressed folders, made aside and renamed, shared by all runs of a user.

They lie in `sandbox/` of the cache folder. Half-made layers and folders of slots carry a lock that dies with
its process; what is found unlocked is left over and is removed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

from aespec.bundle.recipe import Copy, Recipe, RecipeStep, Shell
from aespec.resources import cache_folder
from aespec.sandbox.api import Difference, Image, SandboxError

RESERVE_BYTES = 512 << 20
"""Free space that a build step, or a slot whose writable layer lies on disk, leaves to everybody else."""

_ID_LENGTH = 24  # of 64 hex digits: a mount has one page for the names of all its layers
_BUILD_VERSION = 2  # raise it when the same step comes to make something else


def chain_digest(parent: str, content: Mapping[str, Any]) -> str:
    """The digest of a layer: of what lies under it and what makes it."""
    text = json.dumps({"parent": parent, "build": _BUILD_VERSION, **content}, sort_keys=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def layer_id(digest: str) -> str:
    """The folder's name of a digest."""
    return digest.removeprefix("sha256:")[:_ID_LENGTH]


def describe_step(step: RecipeStep, context: Path) -> dict[str, Any]:
    """What a step's result depends on: its fields and the bytes of its file. Raises SandboxError."""
    described = {"step": type(step).__name__, **asdict(step)}
    if isinstance(step, Copy | Shell):
        described["content"] = hashlib.sha256(read_source(context, step.source)).hexdigest()
        del described["source"]
    return described


def read_source(context: Path, source: str) -> bytes:
    """A file of the build context. Raises SandboxError when it isn't there or the name leads out."""
    parts = Path(source).parts
    if not parts or ".." in parts or Path(source).is_absolute():
        raise SandboxError(f"the step's source {source!r} leads out of the build context", boundary="spec")
    try:
        path = (context / source).resolve(strict=True)
        if not path.is_relative_to(context.resolve()):
            raise SandboxError(
                f"the step's source {source!r} leads out of the build context", boundary="spec"
            )
        return path.read_bytes()
    except OSError as error:
        raise SandboxError(f"the build context lacks {source}: {error.strerror}", boundary="image") from None


def recipe_digest(base_digest: str, recipe: Recipe, context: Path) -> str:
    """The digest of an image: of its base, its steps in order, and how its programs start."""
    digest = base_digest
    for step in recipe.steps:
        digest = chain_digest(digest, describe_step(step, context))
    return chain_digest(digest, {"env": recipe.env, "workdir": recipe.workdir, "user": recipe.user})


def difference_digest(image: Image, difference: Difference) -> str:
    """The digest of an image with a difference laid over it."""
    content = hashlib.sha256(difference.archive).hexdigest()
    return chain_digest(image.digest, {"difference": content, "deleted": difference.deleted})


@contextlib.contextmanager
def told_of_full_disk(folder: Path) -> Iterator[None]:
    """Turn a full disk below into a SandboxError that says where and what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise full_disk(folder) from None
        raise


class FullDiskError(SandboxError):
    """No other way to an image helps against it."""


def full_disk(folder: Path) -> FullDiskError:
    """The error of a full disk."""
    return FullDiskError(
        f"no space is left where layers are kept, {folder}",
        remedy=f"free some ({RESERVE_BYTES >> 20} MiB are always left to others); or remove {folder}, "
        "which is made again; or set AESPEC_CACHE to a larger disk",
    )


class Store:
    """The layers of one area: those of different owners on disk can't be shared, so each identity has one."""

    def __init__(
        self, area: str, remove: Callable[[Path], None], *, owner: tuple[int, int] | None = None
    ) -> None:
        """`remove` deletes a folder whoever owns what is in it; `owner` is whose new folders are."""
        self.root = cache_folder() / "sandbox"
        self.folder = self.root / area
        self._remove = remove
        self._owner = owner
        with told_of_full_disk(self.root), _told_of_refusal(self.root):
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.mkdir(parents=True, exist_ok=True)
            # Its owner inside the namespace passes through; the folder above keeps everybody else out.
            self.folder.chmod(0o711)
            (self.root / "locks").mkdir(exist_ok=True)
            (self.root / "names").mkdir(exist_ok=True)

    # --- layers ------------------------------------------------------------------------------------------

    def find(self, digest: str) -> dict[str, Any] | None:
        """What is recorded with a finished layer, or None, also where it is damaged: it is made again."""
        folder = self.folder / layer_id(digest)
        record = _read_record(folder / "layer.json")
        if record is None or record.get("digest") != digest or not (folder / "fs").is_dir():
            return None
        return record

    def make(self, digest: str, build: Callable[[str], Mapping[str, Any]]) -> dict[str, Any]:
        """The layer's record, built by `build(folder name)` when nobody has it; it fills `fs` in that folder.

        Two processes that want the same layer build it once.
        """
        with self._lock(layer_id(digest)):
            if record := self.find(digest):
                return record
            with self.workspace("layer") as name, told_of_full_disk(self.folder):
                folder = self.folder / name
                record = {**build(name), "digest": digest}
                (folder / "layer.json").write_text(json.dumps(record), encoding="utf-8")
                work = folder / "work"
                if work.exists():
                    self._remove(work)
                place = self.folder / layer_id(digest)
                if place.exists():  # damaged, or it would have been found
                    self._remove(place)
                folder.rename(place)
            return record

    @contextlib.contextmanager
    def workspace(self, kind: str) -> Iterator[str]:
        """A folder of this process, by its name below `folder`; removed at the end unless it was renamed.

        It stays locked while it is in use, so that a later process can tell it from what a killed one left.
        """
        name = f"tmp-{kind}-{secrets.token_hex(8)}"
        folder = self.folder / name
        with told_of_full_disk(self.folder):
            folder.mkdir(mode=0o755)
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self._owner:
                os.chown(folder, *self._owner)
            yield name
        finally:
            if folder.exists():
                self._remove(folder)
            os.close(lock)

    def reap(self) -> int:
        """Remove what killed processes left; how many folders."""
        count = 0
        for folder in self.folder.glob("tmp-*"):
            try:
                lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
            except OSError:
                # Made a moment ago and not locked yet, or left so; only an old one is surely left over.
                with contextlib.suppress(OSError):
                    if _age_s(folder) > 60:
                        self._remove(folder)
                        count += 1
                continue
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            else:
                if _age_s(folder) > 1:
                    self._remove(folder)
                    count += 1
            finally:
                os.close(lock)
        return count

    @contextlib.contextmanager
    def _lock(self, name: str) -> Iterator[None]:
        descriptor = os.open(
            self.root / "locks" / f"{self.folder.name}-{name}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    # --- names -------------------------------------------------------------------------------------------

    def name(self, name: str, record: Mapping[str, Any]) -> None:
        """Remember what a base image's name stands for here."""
        path = self._name_path(name)
        aside = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        with told_of_full_disk(self.root):
            aside.write_text(json.dumps(record), encoding="utf-8")
            aside.replace(path)

    def named(self, name: str) -> dict[str, Any] | None:
        """What the name stands for, or None."""
        record = _read_record(self._name_path(name))
        return record if record is not None and isinstance(record.get("digest"), str) else None

    def names(self) -> Sequence[str]:
        """All names of this area, for suggestions."""
        found = []
        for path in sorted((self.root / "names").glob(f"{self.folder.name}--*.json")):
            with contextlib.suppress(OSError, ValueError):
                found.append(str(json.loads(path.read_text(encoding="utf-8"))["name"]))
        return found

    def _name_path(self, name: str) -> Path:
        return self.root / "names" / f"{self.folder.name}--{quote(name, safe='')}.json"


def _read_record(path: Path) -> dict[str, Any] | None:
    """A record of the store, or None where it is missing or damaged: a power cut can leave it empty."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def _age_s(folder: Path) -> float:
    import time

    return time.time() - folder.stat().st_mtime


@contextlib.contextmanager
def _told_of_refusal(folder: Path) -> Iterator[None]:
    try:
        yield
    except SandboxError:
        raise
    except OSError as error:
        raise SandboxError(
            f"the cache {folder} can't be written: {error.strerror}",
            remedy="set AESPEC_CACHE to a folder of your own",
        ) from None
