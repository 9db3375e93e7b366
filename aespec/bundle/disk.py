"""Bundles on disk: written whole or not at all, and read back only if every file is as it was written."""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from aespec.bundle.manifest import (
    SCHEMA,
    build_manifest,
    manifest_digest,
    recipe_from_json,
)
from aespec.bundle.places import MANIFEST_PATH, RECIPES_PATH
from aespec.bundle.plan import Bundle, BundlePlan, PlannedFile
from aespec.model.expressions import Json
from aespec.model.json_text import write_json
from aespec.scratch import REMEDY, held, is_scratch, reap

_MANIFEST_LIMIT_BYTES = 64 * 1024 * 1024
_REPORTED_AT_MOST = 10
_FILE_MODES = (0o644, 0o755)


class BundleError(Exception):
    """A bundle can't be written or isn't whole; `remedy` tells the way out."""

    def __init__(self, message: str, remedy: str = "") -> None:
        """The message says what is wrong, with the path."""
        super().__init__(message)
        self.remedy = remedy


def write(plan: BundlePlan, folder: Path) -> Bundle:
    """Write a bundle to `folder`, which is new, empty, or a bundle that is replaced.

    The files are written beside it and moved into place at once: whatever happens meanwhile, the folder is
    the old one or the new one. Anything else at that path is left alone. Raises `BundleError`.
    """
    folder = folder.absolute()
    _require_replaceable(folder)
    manifest = build_manifest(plan)
    files = {**plan.files, MANIFEST_PATH: PlannedFile(write_json(dict(manifest)))}
    _check_paths(files)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = _make_temporary(folder)
        try:
            with held(temporary):
                _write_files(temporary, files)
                _move_into_place(temporary, folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise _explain(error, folder) from error
    return Bundle(
        path=folder,
        name=plan.name,
        target=plan.target,
        digest=str(manifest["digest"]),
        manifest=manifest,
        environment=plan.environment,
        verifier=plan.verifier,
    )


def open_bundle(path: Path) -> Bundle:
    """The bundle in a folder, if its files are those of its manifest and no others. Raises `BundleError`."""
    path = path.absolute()
    try:
        manifest = _read_manifest(path)
        faults = list(_compare(path, manifest))
        if faults:
            more = len(faults) - _REPORTED_AT_MOST
            shown = [*faults[:_REPORTED_AT_MOST], *([f"and {more} more"] if more > 0 else [])]
            raise BundleError(
                f"{path} is not as it was written: {'; '.join(shown)}",
                "Compile the spec again to write the bundle anew.",
            )
        recipes = json.loads(_read(path / RECIPES_PATH))
        if recipes.get("schema") != SCHEMA:
            raise _too_new(path / RECIPES_PATH, recipes.get("schema"))
        environment, verifier = (
            recipe_from_json(recipes["environment"]),
            recipe_from_json(recipes["verifier"]),
        )
        name, target = manifest["name"], manifest["target"]
    except OSError as error:
        raise BundleError(f"{path} can't be read: {error.strerror}") from error
    except (ValueError, KeyError, AttributeError, RecursionError) as error:
        raise BundleError(f"{path} is no whole bundle: {error}", "Compile the spec again.") from error
    return Bundle(path, str(name), str(target), str(manifest["digest"]), manifest, environment, verifier)


def is_bundle(folder: Path) -> bool:
    """Whether a folder has the manifest of a bundle that aespec wrote; its files aren't looked at."""
    try:
        _read_manifest(folder)
    except (BundleError, OSError, ValueError, RecursionError):
        return False
    return True


def _require_replaceable(folder: Path) -> None:
    try:
        kind = folder.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise _explain(error, folder) from error
    if stat.S_ISLNK(kind) or not stat.S_ISDIR(kind):
        raise BundleError(f"{folder} is no folder", "Choose another folder with -o, or move it away.")
    if any(folder.iterdir()) and not is_bundle(folder):
        raise BundleError(
            f"{folder} holds something that aespec did not write",
            "Choose another folder with -o, or empty it first.",
        )


def _check_paths(files: Mapping[str, PlannedFile]) -> None:
    """A plan's paths are ours; a bad one is a bug, and must not write outside the folder."""
    for path, file in files.items():
        if not {"", ".", ".."}.isdisjoint(path.split("/")) or "\0" in path:
            raise ValueError(f"{path!r} is no path inside a bundle")
        if file.mode not in _FILE_MODES:
            raise ValueError(f"{path} has the mode {file.mode:o}; a bundle has {_FILE_MODES}")


def _make_temporary(folder: Path) -> Path:
    """A fresh folder beside the target, on the same file system, whatever the umask says.

    What killed processes left there is removed.
    """
    _reap_parts(folder.parent)
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}.part")
    temporary.mkdir()
    temporary.chmod(0o755)
    return temporary


@functools.cache
def _reap_parts(parent: Path) -> None:
    """Once for each folder and process: a folder may hold thousands of bundles."""
    reap(parent.glob(f".*.{'[0-9a-f]' * 12}.part"))


def _write_files(root: Path, files: Mapping[str, PlannedFile]) -> None:
    folders = {outer for path in files for outer in _outer_folders(path)}
    for folder in sorted(folders):
        (root / folder).mkdir()
        (root / folder).chmod(0o755)
    # Paths of files as texts: this loop is half of what compiling an instance costs.
    top = str(root)
    for path, file in files.items():
        descriptor = os.open(f"{top}/{path}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, file.mode)
        with os.fdopen(descriptor, "wb", buffering=0) as stream:
            _write_whole(stream, file.data)
            os.fchmod(descriptor, file.mode)
    _sync_all(root, files)


def _outer_folders(path: str) -> Iterator[str]:
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def _write_whole(stream: IO[bytes], data: bytes) -> None:
    """An unbuffered write may take less than it is given."""
    view = memoryview(data)
    while view:
        view = view[stream.write(view) :]


def _move_into_place(temporary: Path, folder: Path) -> None:
    """Swap with what is there in one step where the kernel can, else by two renames."""
    if not folder.exists():
        temporary.rename(folder)
    elif not any(folder.iterdir()):
        # rename(2) replaces an empty folder at once.
        temporary.rename(folder)
    elif not _exchange(temporary, folder):
        aside = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}.old")
        folder.rename(aside)
        try:
            temporary.rename(folder)
        except OSError:
            aside.rename(folder)
            raise
        shutil.rmtree(aside, ignore_errors=True)
    _sync_folder(folder.parent)


def _exchange(temporary: Path, folder: Path) -> bool:
    """Exchange two folders atomically by renameat2(2); False where C library, kernel or file system can't."""
    import ctypes

    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    at_cwd, exchange = -100, 2
    if rename(at_cwd, os.fsencode(temporary), at_cwd, os.fsencode(folder), exchange) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP):
        return False
    raise OSError(code, os.strerror(code), str(folder))


def _sync_all(root: Path, files: Mapping[str, PlannedFile]) -> None:
    """Make the content last through a power cut before its name does: once for the file system, for speed."""
    import ctypes

    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(descriptor) == 0:
            return
        code = ctypes.get_errno()
        if code in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise OSError(code, os.strerror(code), str(root))
    except AttributeError:
        pass  # a C library without it
    finally:
        os.close(descriptor)
    for path in files:
        with (root / path).open("rb") as stream:
            os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    """Make names last through a power cut; some file systems refuse to sync folders, and then need not."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _explain(error: OSError, folder: Path) -> BundleError:
    if is_scratch(folder):
        return BundleError(f"{folder} can't be written: {error.strerror or error}", REMEDY)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return BundleError(
            f"no space left to write {folder}", "Free some space there, or choose another folder with -o."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return BundleError(
            f"{folder} can't be written: {error.strerror}", "Choose a folder that you may write with -o."
        )
    if error.errno == errno.ENAMETOOLONG:
        return BundleError(
            f"a path below {folder} is too long for this file system", "Choose a shorter folder with -o."
        )
    return BundleError(
        f"{folder} can't be written: {error.strerror or error}", "Choose another folder with -o."
    )


def _read_manifest(path: Path) -> dict[str, Json]:
    where = path / MANIFEST_PATH
    if not where.is_file():
        raise BundleError(
            f"{path} is no bundle: it has no {MANIFEST_PATH}", "Name a folder that `aespec compile` wrote."
        )
    manifest = json.loads(_read(where))
    if not isinstance(manifest, dict):
        raise ValueError("its manifest is no object")
    if manifest.get("schema") != SCHEMA:
        raise _too_new(where, manifest.get("schema"))
    if not isinstance(manifest.get("files"), dict) or manifest.get("digest") != manifest_digest(manifest):
        raise ValueError("its manifest has been changed")
    return manifest


def _too_new(path: Path, schema: object) -> BundleError:
    return BundleError(
        f"{path} has the schema {schema}, and this aespec reads {SCHEMA}", "Use the aespec that wrote it."
    )


def _read(path: Path) -> bytes:
    """A regular file, its last link not followed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError(f"{path} is no regular file")
        data = stream.read(_MANIFEST_LIMIT_BYTES + 1)
    if len(data) > _MANIFEST_LIMIT_BYTES:
        raise ValueError(f"{path} is too large")
    return data


def _compare(path: Path, manifest: Mapping[str, Json]) -> Iterator[str]:
    """What differs between the folder and the manifest's table, in the order of the paths."""
    table = manifest["files"]
    assert isinstance(table, dict)
    found = dict(_walk(path, ""))
    for name in sorted(found.keys() | table.keys()):
        if name == MANIFEST_PATH:
            continue
        if name not in found:
            yield f"{name} is missing"
        elif name not in table:
            yield f"{name} was added"
        else:
            difference = _difference(path / name, found[name], table[name])
            if difference:
                yield f"{name} {difference}"


def _walk(root: Path, below: str) -> Iterator[tuple[str, os.stat_result]]:
    """Everything but folders, and folders with nothing in them; links are not followed."""
    with os.scandir(root) as entries:
        for entry in sorted(entries, key=lambda item: item.name):
            name = f"{below}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(root / entry.name, f"{name}/")
            else:
                yield name, entry.stat(follow_symlinks=False)


def _difference(path: Path, found: os.stat_result, expected: Json) -> str:
    if not isinstance(expected, dict):
        raise ValueError("its manifest has been changed")
    if not stat.S_ISREG(found.st_mode):
        return "is no regular file any more"
    if found.st_size != expected.get("size") or _digest(path) != expected.get("sha256"):
        return "was changed"
    # Only the owner's bits: a checkout by another tool may add or drop those of group and others.
    if bool(found.st_mode & 0o100) != bool(int(str(expected.get("mode"))) & 0o100):
        return "has another mode"
    return ""


def _digest(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
