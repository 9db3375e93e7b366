"""A trial on disk: `trial.json`, the logs, the artifacts that were judged. Written whole or not at all."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from aespec.model.expressions import Json
from aespec.model.json_text import write_json
from aespec.scratch import held, reap
from aespec.trial.explanation import STREAMS
from aespec.trial.result import TrialResult, result_from_json, result_to_json
from aespec.trial.stages import LOG_LIMIT_BYTES

_ASIDE = ".trial-"
TRIAL_LIMIT_BYTES = 64 * 1024**2


def write_trial(result: TrialResult, folder: Path) -> Path:
    """Write a trial as `folder`, or beside it with a number where that is taken; the folder that it is now.

    Written beside and renamed, so that a reader sees a whole trial or none; what killed processes left there
    is removed. Raises OSError that names the folder.
    """
    folder = folder.absolute()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        reap(folder.parent.glob(f"{_ASIDE}????????"))
        made = Path(tempfile.mkdtemp(prefix=_ASIDE, dir=folder.parent))
        try:
            with held(made):
                _write(result, made)
                return _claim(made, folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(folder)) from error


def _write(result: TrialResult, made: Path) -> None:
    (made / "trial.json").write_bytes(write_json(result_to_json(result)))
    for name, data in sorted(result.logs.items()):
        path = made / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    if result.artifacts:
        (made / "artifacts.tar").write_bytes(result.artifacts)
    made.chmod(0o755)


def _claim(made: Path, folder: Path) -> Path:
    for number in range(1, 10_000):
        target = folder if number == 1 else folder.with_name(f"{folder.name}-{number}")
        try:
            made.rename(target)
        except OSError:
            if not target.exists():
                raise
            continue
        return target
    raise FileExistsError(folder)


def load_trial(path: Path) -> TrialResult:
    """A trial from its folder or its `trial.json`. Raises OSError, and ValueError for what isn't one."""
    file = path / "trial.json" if path.is_dir() else path
    if file.stat().st_size > TRIAL_LIMIT_BYTES:
        raise ValueError(f"{file.name} is larger than a trial's result can be")
    try:
        told: Json = json.loads(file.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError(f"{file.name} is nested too deep") from None
    if not isinstance(told, dict):
        raise ValueError(f"{file.name} is not a trial's result")
    return replace(result_from_json(told), logs=_streams(file.parent / "logs"))


def _streams(folder: Path) -> dict[str, bytes]:
    """What the agent and the verifier wrote, as far as it lies there; a link is not followed."""
    found: dict[str, bytes] = {}
    for name in STREAMS:
        path = folder / name
        try:
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= LOG_LIMIT_BYTES:
                found[name] = path.read_bytes()
        except OSError:
            continue
    return found
