"""Certification: what can be shown about a spec's verifier by running it, with counts to be re-run."""

from aespec.fuzz.certificate import Certificate, Finding, Property, certificate_to_json
from aespec.fuzz.certify import CertifyOptions, certify, certify_bundles

__all__ = [
    "Certificate",
    "CertifyOptions",
    "Finding",
    "Property",
    "certificate_to_json",
    "certify",
    "certify_bundles",
]
