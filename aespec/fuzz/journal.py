"""Finished runs written down at once, so that a certification that was killed goes on where it stood."""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
from pathlib import Path

from aespec.model.expressions import Json
from aespec.trial import EndState, TrialResult, result_from_json, result_to_json
from aespec.trial.archives import digest_of


class Journal:
    """Results and end states by key, in a folder of their own; a torn or damaged entry is made again.

    With no folder nothing is kept. Trouble with the disk only costs the work that it would have saved.
    """

    def __init__(self, folder: Path | None) -> None:
        """Read what an earlier run left in `folder`."""
        self.folder = self._folder = folder
        self._lock = threading.Lock()
        self._kept: dict[str, dict[str, Json]] = {}
        if folder is not None:
            with contextlib.suppress(OSError):
                for line in (folder / "finished.jsonl").read_text(encoding="utf-8").splitlines():
                    with contextlib.suppress(ValueError, KeyError, TypeError):
                        told = json.loads(line)
                        self._kept[str(told["key"])] = told
        self.resumed = len(self._kept)

    @property
    def kept(self) -> int:
        """How many runs are written down."""
        return len(self._kept)

    def result(self, key: str) -> TrialResult | None:
        """The result of that key, or None."""
        told = self._kept.get(key, {}).get("result")
        try:
            return result_from_json(told) if isinstance(told, dict) else None
        except ValueError:
            return None

    def state(self, key: str) -> EndState | None:
        """The end state of that key, or None."""
        told = self._kept.get(key, {}).get("state")
        if self._folder is None or not isinstance(told, dict):
            return None
        try:
            artifacts = self._artifacts(str(told["digest"])).read_bytes()
        except OSError:
            return None
        if digest_of(artifacts) != told["digest"]:
            return None
        status, boundary = told.get("status"), told.get("boundary")
        return EndState(
            agent=str(told["agent"]),
            artifacts=artifacts,
            digest=str(told["digest"]),
            status=status if isinstance(status, int) else None,
            message=str(told.get("message", "")),
            boundary=boundary if isinstance(boundary, str) else None,
            is_reproducible=told.get("is_reproducible") is not False,
        )

    def keep_result(self, key: str, result: TrialResult) -> None:
        """Write a result down. What the machine failed at is not kept: it may go better next time."""
        if result.boundary not in ("sandbox", "image"):
            self._append(key, {"key": key, "result": result_to_json(result)})

    def keep_state(self, key: str, state: EndState) -> None:
        """Write an end state down, its artifacts first."""
        if self._folder is None or state.boundary is not None or state.refusal:
            return
        with contextlib.suppress(OSError):
            path = self._artifacts(state.digest)
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                fresh = path.with_name(f".{path.name}-{threading.get_ident()}")
                fresh.write_bytes(state.artifacts)
                fresh.replace(path)
            told: dict[str, Json] = {
                "agent": state.agent,
                "digest": state.digest,
                "status": state.status,
                "message": state.message,
                "boundary": state.boundary,
                "is_reproducible": state.is_reproducible,
            }
            self._append(key, {"key": key, "state": told})

    def finish(self) -> None:
        """Forget everything: the certificate is made, and the next one is to be measured afresh."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _artifacts(self, digest: str) -> Path:
        return (self._folder or Path()) / "states" / f"{digest}.tar"

    def _append(self, key: str, told: dict[str, Json]) -> None:
        with self._lock:
            self._kept[key] = told
            if self._folder is None:
                return
            with contextlib.suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True)
                with (self._folder / "finished.jsonl").open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(told) + "\n")
