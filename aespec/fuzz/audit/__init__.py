"""Audits of tasks that somebody else wrote: can the verifier be fooled, is it too strict."""

from aespec.fuzz.audit.audit import Audit, AuditOptions, audit, audit_to_json

__all__ = ["Audit", "AuditOptions", "audit", "audit_to_json"]
