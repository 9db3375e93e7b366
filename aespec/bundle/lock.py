"""Locks on disk: `NAME.aes.lock` beside the spec, read, written and identified."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.model.expressions import Json
from aespec.model.json_text import json_digest, write_json
from aespec.model.lock import Lock, LockedImage

SCHEMA = 1
"""The schema that is written; a reader refuses a newer one."""

SOURCES = ("registry", "engine", "store")
"""Where an image's digest may be from. Only a registry's digest can be asked for by name."""

_LIMIT_BYTES = 4 * 1024 * 1024
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
# As much as goes into a file name of a package index; both end up as words of a build step.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*(\[[A-Za-z0-9._,-]*\])?(:[a-z0-9]+)?")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+:~!-]*")


def lock_path(spec: Path) -> Path:
    """Where the lock of a spec lies: beside it, with `.lock` added to the whole name."""
    return spec.with_name(spec.name + ".lock")


def lock_to_json(lock: Lock) -> dict[str, Json]:
    """The form of `lock.schema.json`."""
    return {
        "schema": SCHEMA,
        "spec": lock.spec,
        "images": {
            name: {"digest": image.digest, "source": image.source} for name, image in lock.images.items()
        },
        "apt": dict(lock.apt),
        "pip": dict(lock.pip),
        "assets": dict(lock.assets),
        "evaluator": dict(lock.evaluator),
        "made_on": lock.made_on,
    }


def write_lock(lock: Lock) -> bytes:
    """The bytes of the lock's file."""
    return write_json(lock_to_json(lock))


def lock_digest(lock: Lock) -> str:
    """The hex SHA-256 of what is pinned, whatever the date: the same pins are the same lock."""
    pinned = {key: value for key, value in lock_to_json(lock).items() if key != "made_on"}
    return json_digest(pinned)


def read_lock(path: Path) -> tuple[Lock | None, tuple[Diagnostic, ...]]:
    """The lock in a file; no lock and no diagnostic where there is no file."""
    try:
        with path.open("rb") as file:
            data = file.read(_LIMIT_BYTES + 1)
    except FileNotFoundError:
        return None, ()
    except OSError as error:
        return None, (_unreadable(path, error.strerror or "it cannot be read"),)
    if len(data) > _LIMIT_BYTES:
        return None, (_unreadable(path, "it is larger than 4 MiB"),)
    try:
        return lock_from_json(json.loads(data)), ()
    except (ValueError, RecursionError) as error:
        return None, (_unreadable(path, str(error).partition("\n")[0] or "it is nested too deep"),)


def lock_from_json(value: Json) -> Lock:
    """The lock of a JSON object. Raises ValueError with what is wrong."""
    if not isinstance(value, dict):
        raise ValueError("a lock is an object")
    schema = value.get("schema")
    if schema != SCHEMA:
        raise ValueError(f"its schema is {schema}, and this aespec reads {SCHEMA}")
    spec, made_on = value.get("spec"), value.get("made_on", "")
    if not isinstance(spec, str) or not isinstance(made_on, str):
        raise ValueError("`spec` and `made_on` are texts")
    return Lock(
        spec=spec,
        images=_images(value.get("images", {})),
        apt=_pins(value.get("apt", {}), "apt"),
        pip=_pins(value.get("pip", {}), "pip"),
        assets=_texts(value.get("assets", {}), "assets"),
        evaluator=_texts(value.get("evaluator", {}), "evaluator"),
        made_on=made_on,
    )


def _images(value: Json) -> Mapping[str, LockedImage]:
    if not isinstance(value, dict):
        raise ValueError("`images` is an object")
    images = {}
    for name, image in value.items():
        fields = _texts(image, f"images.{name}")
        digest, source = fields.get("digest", ""), fields.get("source", "")
        if not _DIGEST.fullmatch(digest) or source not in SOURCES:
            raise ValueError(f"`images.{name}` needs a sha256 digest and a source ({', '.join(SOURCES)})")
        images[name] = LockedImage(digest=digest, source=source)
    return images


def _pins(value: Json, where: str) -> Mapping[str, str]:
    pins = _texts(value, where)
    for name, version in pins.items():
        if not _NAME.fullmatch(name) or not _VERSION.fullmatch(version):
            raise ValueError(
                f"`{where}` pins {name!r} to {version!r}, which is not a package's name and version"
            )
    return pins


def _texts(value: Json, where: str) -> Mapping[str, str]:
    if not isinstance(value, dict):
        raise ValueError(f"`{where}` is an object from text to text")
    texts = {key: item for key, item in value.items() if isinstance(item, str)}
    if len(texts) != len(value):
        raise ValueError(f"`{where}` is an object from text to text")
    return texts


def _unreadable(path: Path, reason: str) -> Diagnostic:
    return Diagnostic(
        slug="lock-unreadable",
        severity=Severity.ERROR,
        headline=f"the lock {path.name} can't be used: {reason}",
        span=None,
        why="A lock that is passed over would let the environment change without a word.",
        help=f"Write it again with `aespec lock`, or delete {path.name}.",
    )
