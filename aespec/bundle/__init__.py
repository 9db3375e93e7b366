"""Bundles: planned as data, written at once, read back only if whole."""

from typing import TYPE_CHECKING

from aespec.on_demand import on_demand

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

if TYPE_CHECKING:
    from aespec.bundle.disk import BundleError, is_bundle, open_bundle, write
    from aespec.bundle.plan import Bundle, BundlePlan, PlannedFile
    from aespec.bundle.recipe import Recipe
else:
    # `aespec lint` reads a lock and nothing else of what is here.
    __getattr__ = on_demand(
        __name__,
        {
            "Bundle": "plan",
            "BundleError": "disk",
            "BundlePlan": "plan",
            "PlannedFile": "plan",
            "Recipe": "recipe",
            "is_bundle": "disk",
            "open_bundle": "disk",
            "write": "disk",
        },
    )
