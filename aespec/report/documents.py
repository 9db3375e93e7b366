"""Reports as JSON texts, written the way that all of aespec's formats are."""

from __future__ import annotations

import json
from collections.abc import Mapping

from aespec.fuzz.certificate import Certificate, certificate_to_json
from aespec.model.expressions import Json
from aespec.trial import TrialResult, result_to_json


def certificate_json(certificate: Certificate) -> str:
    """A certificate in the form of `certificate.schema.json`."""
    return _write(certificate_to_json(certificate))


def trial_json(result: TrialResult) -> str:
    """A trial's result in the form of `trial.schema.json`."""
    return _write(result_to_json(result))


def _write(told: Mapping[str, Json]) -> str:
    return json.dumps(told, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
