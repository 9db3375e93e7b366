"""Hosts of an allow list, as Harbor takes them."""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_network

_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


def is_host(text: str) -> bool:
    """Whether it is a host's name (`*.` may lead it), an IP address or a CIDR range: no URL, no port."""
    text = text.strip().lower().rstrip(".")
    if "/" in text:
        return "%" not in text and _is_made(ip_network, text)
    if ":" in text:
        return "%" not in text and _is_made(ip_address, text)
    if text.startswith("*."):
        text = text[2:]
        if _is_made(ip_address, text):
            return False
    return bool(text) and all(_LABEL.fullmatch(label) for label in text.split("."))


def _is_made(kind: object, text: str) -> bool:
    try:
        kind(text)  # type: ignore[operator]
    except ValueError:
        return False
    return True
