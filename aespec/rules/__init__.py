"""What a task gets wrong that a reader could see: one rule a file, found by a scan of this folder.

The rules are explained in `aespec.rules.explanations`, which is imported only when somebody asks.
"""

from aespec.rules.registry import all_rules, check

__all__ = ["all_rules", "check"]
