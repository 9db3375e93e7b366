"""What the image is made of isn't pinned.

## What
There is no lock that pins the base image, a Debian package or a Python package, and the spec doesn't
either.

## Why
The same spec would build another image next month, and a certificate would hold for neither.

## Bad
    setup { base = "debian:bookworm-slim"  pip = ["pytest"] }

## Good
    setup { base = "debian:bookworm-slim"  pip = ["pytest==8.3.4"] }
    # and `aespec lock ledger.aes`, which writes the image's digest and the packages' versions beside it
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aespec.diagnostics.diagnostic import Diagnostic, Severity
from aespec.model.packages import is_exact, package_name
from aespec.rules.api import Rule, Subject

RULE = Rule("unpinned", Severity.WARNING)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """The image, the Debian packages, the Python packages."""
    setup, lock = subject.task.setup, subject.lock
    if "@sha256:" not in setup.base and (lock is None or setup.base not in lock.images):
        yield _report(subject, f"the image `{setup.base}` isn't pinned by a digest", "base")
    apt = _loose(setup.apt, "apt", lock.apt if lock else {})
    if apt:
        yield _report(subject, f"Debian packages without a version: {', '.join(apt)}", "apt")
    pip = _loose(setup.pip, "pip", lock.pip if lock else {})
    if pip:
        yield _report(subject, f"Python packages without a version: {', '.join(pip)}", "pip")


def _loose(names: tuple[str, ...], manager: str, pins: Mapping[str, str]) -> list[str]:
    return [name for name in names if not is_exact(name, manager) and package_name(name) not in pins]


def _report(subject: Subject, headline: str, attribute: str) -> Diagnostic:
    return RULE.found(
        headline,
        subject.task.setup.span_of(attribute) or subject.task.span,
        why="What isn't pinned changes under the certificate.",
        help="Run `aespec lock` on the spec.",
    )
