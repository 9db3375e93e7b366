"""From the tree to the typed model: every name bound, every unit parsed, every default applied."""

from aespec.resolve.task import resolve

__all__ = ["resolve"]
