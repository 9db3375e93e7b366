"""Names of packages as a spec writes them: Debian's, and requirements of Python's."""

from __future__ import annotations

import re

DEBIAN_PACKAGE = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9+.-]+(?::[a-z0-9]+)?)(?P<version>=[A-Za-z0-9][A-Za-z0-9.+:~-]*)?"
)
"""`git`, `libc6:amd64`, `git=1:2.39.5-0+deb12u2`."""

PYTHON_PACKAGE = re.compile(
    r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[[A-Za-z0-9._,-]+\])?"
    r"(?:(?:==|>=|<=|~=|!=|<|>)[A-Za-z0-9.*+!,<>=~-]+)?"
)
"""`pytest`, `requests[socks]>=2`, `pytest==8.3.4`; without blanks."""


def package_name(requirement: str) -> str:
    """The name in a requirement of either kind, without extras and version."""
    return re.split(r"[\[=<>!~]", requirement, maxsplit=1)[0]


def is_exact(requirement: str, manager: str) -> bool:
    """Whether a requirement for `apt` or `pip` names one version."""
    if manager == "apt":
        return "=" in requirement
    return bool(re.fullmatch(r"[^=<>!~]+==[^=*,<>!~]+", requirement))


def pinned(requirement: str, manager: str, version: str) -> str:
    """The requirement for exactly that version, its extras kept; one that names a version stays as it is."""
    if is_exact(requirement, manager):
        return requirement
    name = package_name(requirement)
    if manager == "apt":
        return f"{name}={version}"
    extras = re.search(r"\[[^\]]*\]", requirement)
    return f"{name}{extras[0] if extras else ''}=={version}"
