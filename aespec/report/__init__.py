"""Certificates and trials as text for a terminal and as JSON for programs."""

from aespec.report.certificate import render_certificate
from aespec.report.documents import certificate_json, trial_json
from aespec.report.trial import render_trial

__all__ = ["certificate_json", "render_certificate", "render_trial", "trial_json"]
