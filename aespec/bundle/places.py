"""Where the files lie that aespec itself reads in a bundle."""

from __future__ import annotations

MANIFEST_PATH = "aespec/manifest.json"
"""Where the manifest lies in a bundle; the only file that isn't in its own table."""

RECIPES_PATH = "aespec/recipes.json"
"""Where the two recipes lie in a bundle."""
