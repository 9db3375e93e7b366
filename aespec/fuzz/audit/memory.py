"""Verdicts of probes, remembered and written down at once: an audit that was ended goes on where it stood."""

from __future__ import annotations

import contextlib
import json
import threading
from pathlib import Path

from aespec.model.json_text import json_digest
from aespec.trial.judging import Perturbation
from aespec.trial.probe import Judgement, Probe, judgement_from_json, judgement_to_json, probe_to_json


def probe_key(probe: Probe, number: int, shift: Perturbation | None, *, is_cold: bool) -> str:
    """What a verdict depends on, as a hex SHA-256; the probe's name doesn't count."""
    told = {name: value for name, value in probe_to_json(probe).items() if name != "name"}
    return json_digest([told, number, shift.name if shift else "", is_cold])


class Memory:
    """Judgements by key; with a folder they are kept in `judged.jsonl`, torn lines passed over.

    Trouble with the disk only costs the work that it would have saved.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Read what an earlier run left in `folder`."""
        self._folder = folder
        self._lock = threading.Lock()
        self._kept: dict[str, Judgement] = {}
        self._is_torn = False
        if folder is not None:
            with contextlib.suppress(OSError):
                text = (folder / "judged.jsonl").read_text(encoding="utf-8", errors="replace")
                self._is_torn = bool(text) and not text.endswith("\n")
                for line in text.splitlines():
                    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
                        told = json.loads(line)
                        self._kept[str(told["key"])] = judgement_from_json(told["judgement"])
        self.resumed = len(self._kept)

    def find(self, key: str) -> Judgement | None:
        """The judgement of that key, or None."""
        return self._kept.get(key)

    def keep(self, key: str, judgement: Judgement) -> None:
        """Write a judgement down."""
        with self._lock:
            self._kept[key] = judgement
            if self._folder is None:
                return
            with contextlib.suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True)
                with (self._folder / "judged.jsonl").open("a", encoding="utf-8") as stream:
                    line = json.dumps({"key": key, "judgement": judgement_to_json(judgement)}) + "\n"
                    stream.write(f"\n{line}" if self._is_torn else line)
                self._is_torn = False

    def forget(self) -> None:
        """Remove what is written down: the audit is made, and the next one is to be measured afresh."""
        if self._folder is not None:
            with contextlib.suppress(OSError):
                (self._folder / "judged.jsonl").unlink()
