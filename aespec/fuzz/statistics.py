"""What counts say about a rate."""

from __future__ import annotations

import math

Z95 = 1.959963984540054
"""The two-sided 95 % quantile of the normal distribution."""


def wilson(bad: int, tried: int, z: float = Z95) -> tuple[float, float] | None:
    """The Wilson score interval of a rate (E. B. Wilson, 1927) to four digits; None for no trials."""
    if tried <= 0:
        return None
    rate = bad / tried
    weight = 1 + z * z / tried
    middle = (rate + z * z / (2 * tried)) / weight
    half = z * math.sqrt(rate * (1 - rate) / tried + z * z / (4 * tried * tried)) / weight
    return round(max(0.0, middle - half), 4), round(min(1.0, middle + half), 4)


def bound_without_failure(tried: int, confidence: float = 0.95) -> float:
    """The rate that zero failures in `tried` runs rule out at that confidence (one-sided, exact)."""
    return 1.0 if tried <= 0 else float(1 - (1 - confidence) ** (1 / tried))
