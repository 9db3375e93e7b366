"""Certificates and trials as text for a terminal."""

from aespec.report.certificate import render_certificate
from aespec.report.trial import render_trial

__all__ = ["render_certificate", "render_trial"]
