"""Bundles: planned as data, written at once, read back only if whole."""

from aespec.bundle.plan import Bundle, BundlePlan, PlannedFile
from aespec.bundle.recipe import Recipe
from aespec.bundle.write import BundleError, is_bundle, open_bundle, write

__all__ = [
    "Bundle",
    "BundleError",
    "BundlePlan",
    "PlannedFile",
    "Recipe",
    "is_bundle",
    "open_bundle",
    "write",
]
