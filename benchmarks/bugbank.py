"""Audit the bug bank and print what was found, what was missed, and who was accused wrongly, as Markdown.

usage: python benchmarks/bugbank.py [--shelf cases|unseen] [--budget SECONDS] [--only NAME…] [--json FILE]

A fault counts as found where a finding of at least its severity is on one of its properties (and has one
of its slugs, where it names some). A sound twin must have no error, and few warnings. Faults that the bank
calls undecidable are left out of the rate and told apart.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from aespec.fuzz.audit import Audit, AuditOptions, audit  # noqa: E402
from aespec.fuzz.statistics import wilson  # noqa: E402
from aespec.sandbox import default_sandbox  # noqa: E402
from tests.bugbank.bank import Case, load_cases  # noqa: E402  (the bank lies beside the tests)

RANKS = {"advice": 0, "warning": 1, "error": 2}


@dataclass(frozen=True)
class Row:
    """One task of the bank audited: `is_right` means found, or for a twin not accused."""

    name: str
    shelf: str
    fault_class: int
    decidable: str
    is_twin: bool
    is_right: bool
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    cpu_s: float


BLIND = ("blind-policy-passes", "destroyed-outputs-pass", "nop-passes")
"""What a blind answer gets is told on *nop-fails*, and is a wrong end state that passes as well."""


def is_found(case: Case, found: Audit) -> bool:
    """Whether a finding names the fault."""
    return any(
        (item.property in case.properties or (item.slug in BLIND and "sound" in case.properties))
        and RANKS[item.severity] >= RANKS[case.severity]
        and (not case.slugs or item.slug in case.slugs)
        for item in found.certificate.findings
    )


def measure(case: Case, folder: Path, budget_s: float | None, *, is_twin: bool) -> Row:
    """Audit a case or its twin, afresh."""
    sandbox = default_sandbox()
    path = case.write(folder, is_twin=is_twin)
    with tempfile.TemporaryDirectory() as cache:
        found = audit(path, sandbox, options=AuditOptions(budget_s=budget_s, cache=Path(cache)))
    by_severity = {
        severity: tuple(item.slug for item in found.certificate.findings if item.severity == severity)
        for severity in RANKS
    }
    return Row(
        case.name,
        case.shelf,
        case.fault_class,
        case.decidable,
        is_twin,
        not by_severity["error"] if is_twin else is_found(case, found),
        by_severity["error"],
        by_severity["warning"],
        float(str(found.certificate.cost["cpu_s"])),
    )


def read_rows(path: Path | None) -> dict[tuple[str, bool], Row]:
    """The rows that an earlier run left, by name and whether it is the twin."""
    if path is None or not path.exists():
        return {}
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    made = [
        Row(**{**row, "errors": tuple(row["errors"]), "warnings": tuple(row["warnings"])}) for row in found
    ]
    return {(row.name, row.is_twin): row for row in made}


def print_table(rows: list[Row]) -> None:
    """The faults that were missed, the twins that were accused, and the rates."""
    print("| task | class | verdict | errors | warnings | CPU s |\n|---|---|---|---|---|---|")
    for row in rows:
        word = (
            ("sound" if row.is_right else "ACCUSED") if row.is_twin else "found" if row.is_right else "MISSED"
        )
        if not row.is_twin and row.decidable == "no":
            word = "found (undecidable)" if row.is_right else "not found (undecidable)"
        name = f"{row.name} (twin)" if row.is_twin else row.name
        print(
            f"| {name} | {row.fault_class} | {word} | {', '.join(dict.fromkeys(row.errors))} "
            f"| {', '.join(dict.fromkeys(row.warnings))} | {row.cpu_s:.0f} |"
        )
    for shelf in dict.fromkeys(row.shelf for row in rows):
        faults = [row for row in rows if row.shelf == shelf and not row.is_twin and row.decidable != "no"]
        twins = [row for row in rows if row.shelf == shelf and row.is_twin]
        print(f"\n{shelf}: found {_rate(sum(row.is_right for row in faults), len(faults))}")
        for what in ("errors", "warnings"):
            accused = sum(bool(getattr(row, what)) for row in twins)
            print(f"{shelf}: sound twins with {what} {_rate(accused, len(twins))}")


def _rate(count: int, total: int) -> str:
    interval = wilson(count, total)
    between = f" ({interval[0]:.0%} … {interval[1]:.0%})" if interval else ""
    return f"{count} of {total}{between}"


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--shelf", action="append", choices=["cases", "unseen"])
    parser.add_argument(
        "--budget", type=float, help="CPU seconds of each audit; else as `aespec fuzz` has it"
    )
    parser.add_argument("--only", nargs="*", help="names of cases")
    parser.add_argument("--json", type=Path, help="file for the rows: what it has isn't measured again")
    parser.add_argument("--only-made", action="store_true", help="print what the file has, measure nothing")
    given = parser.parse_args()
    rows = []
    made = read_rows(given.json)
    for case in load_cases(*(given.shelf or ())):
        if given.only and case.name not in given.only:
            continue
        for is_twin in (False, True):
            if (case.name, is_twin) in made:
                rows.append(made[case.name, is_twin])
                continue
            if given.only_made:
                continue
            with tempfile.TemporaryDirectory() as folder:
                row = measure(case, Path(folder), given.budget, is_twin=is_twin)
            rows.append(row)
            print(f"  {row}", file=sys.stderr)
            if given.json:
                with given.json.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(asdict(row)) + "\n")
    print_table(rows)


if __name__ == "__main__":
    main()
