"""The 35 classes of verifier faults, by number: `research/verifier-flaws.md` section 3 has how each shows."""

from __future__ import annotations

from collections.abc import Mapping

CLASSES: Mapping[int, str] = {
    1: "Reward-file plant",
    2: "Late writer or race",
    3: "Verdict not tied to result",
    4: "Output spoof",
    5: "Absent counts as pass",
    6: "Test-runner injection",
    7: "Interpreter or library tamper",
    8: "Tool shadowing",
    9: "Writable grader or helper",
    10: "Tests overwritten or merged",
    11: "In-process tamper",
    12: "Answer in image",
    13: "History leak",
    14: "Reference at grade time",
    15: "No-op passes",
    16: "Existence, structure or proxy only",
    17: "Hard-coded literal or visible cases",
    18: "Substring or keyword",
    19: "Vacuous quantifier",
    20: "Identity-free counting or threshold",
    21: "Self-reference or writable reference",
    22: "Coverage gap",
    23: "Tolerance",
    24: "Degenerate data",
    25: "Constraint unchecked",
    26: "Cache replay",
    27: "Deferred or async work",
    28: "Clock or statistics",
    29: "Mode switch",
    30: "Undisclosed requirement",
    31: "Exact representation",
    32: "Oracle wrong or golden stale",
    33: "Contradiction with text",
    34: "Drift or flake",
    35: "Harness fault scored",
}
"""What each class is called."""
