"""Programs of a spec, handed to the driver in the evaluator's sandbox, and what came back."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from aespec.bundle.recipe import Packages, Recipe
from aespec.evaluate.cache import ContentCache
from aespec.evaluate.driver import CLEAN_ENVIRONMENT
from aespec.model.expressions import Json
from aespec.model.json_text import json_digest
from aespec.model.lock import Lock
from aespec.model.paths import is_below
from aespec.resources import cache_folder
from aespec.sandbox.api import Image, Outcome, Program, Sandbox, SandboxError, SandboxLimits
from aespec.sandbox.tars import Entry, pack
from aespec.scratch import scratch_folder

EVALUATOR_BASE = "debian:bookworm-slim"
"""The public image that the evaluator's root is made from where no lock names another."""

NOW = "2025-01-15T09:00:00"
"""What the clock says to every program: a working day, UTC."""

LIMITS: Mapping[str, int] = {
    "timeout_s": 60,
    "memory_bytes": 1024**3,
    "output_bytes": 32 * 1024**2,
    "files": 10_000,
}
"""For each program: seconds, address space, its result or files together, and the number of files."""

_ANSWER_LIMIT_BYTES = 256 * 1024**2


@dataclass(frozen=True, slots=True)
class Job:
    """One program to run.

    `makes` is `value`, `file` or `folder` (then `path` says where); `binds` maps a slot (`hidden.world`) to
    its value; `later` are slots whose value an earlier job of the same batch makes: (slot, its id, path of
    keys). `reads` are the start-state paths that it may see, `rng` seeds its draws.
    """

    id: str
    makes: str
    text: str = field(repr=False)
    rng: str
    path: str = ""
    binds: Mapping[str, Json] = field(default_factory=dict, repr=False)
    later: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a program made nothing: `kind` is the driver's word, `line` is counted from 1 in the program."""

    kind: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """What a program made: a value, or files by absolute path."""

    value: Json = None
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)


class ProgramRunner:
    """Runs jobs in one evaluator root, prepared when first needed; keeps what they make by content.

    `lock` names the root to use; `progress` is told about a build. Raises `SandboxError` where the sandbox
    can't run at all.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        lock: Lock | None = None,
        cache: ContentCache | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """Without `cache` the results lie in `evaluate/` of the cache folder."""
        self._sandbox = sandbox
        self._progress = progress
        self._cache = cache or ContentCache(cache_folder() / "evaluate")
        self._base = (lock.evaluator.get("base") if lock else None) or EVALUATOR_BASE
        self._image: Image | None = None
        self.executions = 0

    @property
    def image(self) -> Image:
        """The evaluator's root."""
        if self._image is None:
            recipe = Recipe(base=self._base, steps=(Packages("apt", ("python3",)),), context="environment")
            with scratch_folder("evaluator") as empty:
                self._image = self._sandbox.prepare(recipe, empty, progress=self._progress)
        return self._image

    def recall(self, job: Job, files: Mapping[str, bytes]) -> Made | None:
        """What an equal job made before, or None; `later` must be empty."""
        kept = self._cache.load(self._key(job, files))
        return _made(kept) if isinstance(kept, dict) else None

    def keep(self, job: Job, files: Mapping[str, bytes], made: Made) -> None:
        """Remember what a job made; `later` must be empty."""
        told: Json = {
            "value": made.value,
            "files": {path: _encode(data) for path, data in made.files.items()},
        }
        self._cache.store(self._key(job, files), told)

    def run(self, jobs: Sequence[Job], files: Mapping[str, bytes]) -> list[Made | Failure]:
        """Run jobs in order in one slot; the list ends with the first failure."""
        self.executions += 1
        limits = SandboxLimits(memory_bytes=LIMITS["memory_bytes"] + 512 * 1024**2, processes=256)
        with self._sandbox.open(self.image, limits) as slot:
            slot.put(_archive(jobs, files))
            outcome = slot.run(
                Program(
                    argv=("/usr/bin/python3", "-s", "-S", "-B", *_DRIVER_ARGS),
                    env=CLEAN_ENVIRONMENT,
                    cwd="/aespec",
                    timeout_s=LIMITS["timeout_s"] * len(jobs) + 30.0,
                    output_limit_bytes=_ANSWER_LIMIT_BYTES,
                    umask=0o022,
                )
            )
        return _read_results(outcome, jobs)

    def _key(self, job: Job, files: Mapping[str, bytes]) -> str:
        content = {
            "driver": hashlib.sha256(_driver()).hexdigest(),
            "evaluator": self.image.digest,
            "limits": dict(LIMITS),
            "now": NOW,
            "job": _job_json(job),
            "files": {
                path: hashlib.sha256(data).hexdigest()
                for path, data in files.items()
                if any(is_below(path, read) for read in job.reads)
            },
        }
        return json_digest(content)


_DRIVER_ARGS = ("/aespec/driver.py", "/aespec/job.json", "/aespec/work")


@cache
def _driver() -> bytes:
    return Path(__file__).with_name("driver.py").read_bytes()


def _job_json(job: Job) -> dict[str, object]:
    return {
        "id": job.id,
        "makes": job.makes,
        "text": job.text,
        "rng": job.rng,
        "path": job.path,
        "binds": dict(job.binds),
        "later": [[slot, source, list(path)] for slot, source, path in job.later],
        "reads": list(job.reads),
    }


def _archive(jobs: Sequence[Job], files: Mapping[str, bytes]) -> bytes:
    told = {
        "now": NOW,
        "limits": dict(LIMITS),
        "files": {path: _encode(data) for path, data in files.items()},
        "programs": [_job_json(job) for job in jobs],
    }
    return pack(
        [
            Entry("/aespec", None, 0o755),
            Entry("/aespec/work", None, 0o755),
            Entry("/aespec/driver.py", _driver()),
            Entry("/aespec/job.json", json.dumps(told).encode()),
        ]
    )


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _read_results(outcome: Outcome, jobs: Sequence[Job]) -> list[Made | Failure]:
    """What the driver said. A program could have disturbed it, so nothing is trusted to be well formed, and
    what a driver that didn't come to its own end left on its output isn't taken for its answer.
    """
    if outcome.status is None and not outcome.is_timed_out:
        text = "the evaluator was ended: a program killed it, or took all memory there is"
        return [Failure("ended", text)]
    try:
        if outcome.status != 0:
            raise ValueError("status")
        told = json.loads(outcome.stdout, parse_constant=_refuse_constant)
        results = told["results"]
        found: list[Made | Failure] = []
        for result in results[: len(jobs)]:
            if "error" in result:
                fault = result["error"]
                line = fault["line"] if isinstance(fault["line"], int) else None
                found.append(Failure(str(fault["kind"]), str(fault["message"])[:500], line))
                return found
            found.append(_made(result))
        if len(found) == len(jobs):
            return found
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    if outcome.is_timed_out:
        return [Failure("slow", "the programs took longer than they may")]
    detail = outcome.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:300]
    raise SandboxError(
        f"the evaluator gave no answer (status {outcome.status}): {detail or 'it said nothing'}",
        "`aespec doctor` tells what the sandbox can do here",
    )


def _refuse_constant(name: str) -> Json:
    raise ValueError(name)


def _made(told: Mapping[str, object]) -> Made:
    files = told.get("files") or {}
    if not isinstance(files, dict):
        raise TypeError("files")
    try:
        data = {str(path): base64.b64decode(text, validate=True) for path, text in files.items()}
    except binascii.Error as error:
        raise ValueError(str(error)) from None
    value: Json = told.get("value")  # type: ignore[assignment]
    return Made(value, data)
