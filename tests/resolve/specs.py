"""Specs for tests: a whole one to put parts into, and what is said about a text."""

from pathlib import Path

from aespec.resolve import resolve
from aespec.source import Source
from aespec.syntax import parse

SAMPLE = """\
aes = 1
task "sample" {
  domain = terminal
  title  = "A sample"
  %(task)s
  setup {
    base = "debian:bookworm-slim"
    %(setup)s
  }
  instruction <<<md
    Write `done` to `/app/out`.
  >>>
  oracle <<<sh
    echo done > /app/out
  >>>
  verify {
    check out {
      text("/app/out", equals = "done")
      %(check)s
    }
  }
}
"""

LEDGER = """\
aes = 1
task "ledger-totals" {
  domain = professional
  title  = "Total a ledger by account"
  meta   { difficulty = easy  tags = ["csv", "accounting"]  license = "CC0-1.0" }
  limits { cpu = 1  memory = 1GiB  agent_time = 10m  network = none }

  param rows = int(80, 400)

  setup {
    base = "debian:bookworm-slim"
    apt  = ["python3"]
    generate "/app/ledger.csv" <<<python
      for i in range(p.rows):
          print(i, rng.choice(["rent", "food"]), "cost", 100 * i, sep=",")
    >>>
  }
  answer totals (from = "/app/ledger.csv") <<<python
    totals = {}
    seen = set()
    for line in open("app/ledger.csv"):
        number, account, kind, cents = line.split(",")
        if number not in seen:
            totals[account] = totals.get(account, 0) + int(cents)
    emit(totals)
  >>>
  instruction <<<md
    `/app/ledger.csv` holds a month of ledger entries: id, account, kind, cents.
  >>>
  oracle <<<python
    import json
    totals, seen = {}, set()
    for line in open("/app/ledger.csv"):
        id, account, kind, cents = line.split(",")
        if id in seen: continue
        seen.add(id)
        totals[account] = totals.get(account, 0) + (-int(cents) if kind == "refund" else int(cents))
    json.dump(totals, open("/app/totals.json", "w"))
  >>>
  verify {
    check totals {
      says = "Write `/app/totals.json`: an object from account to its total in cents."
      rule refunds    "Refunds count negative."
      rule duplicates "An id that was seen before is a duplicate and does not count."
      json("/app/totals.json", equals = answer.totals)
    }
    check ledger_kept { unchanged("/app/ledger.csv") }
  }
  accept "accounts in another order, totals as 1200.0" <<<python
    oracle()
  >>>
  reject "counts duplicates"      (breaks = duplicates) { swap(oracle, "if id in seen: continue", "") }
  reject "refunds count positive" (breaks = refunds)    { swap(oracle, "-int(cents)", "int(cents)") }
}
"""
"""The sample of the design, with its programs written out."""


def sample(task="", setup="", check=""):
    """A whole spec with parts put in."""
    return SAMPLE % {"task": task, "setup": setup, "check": check}


def resolve_text(text, folder=None):
    """The task of a text that parses, and what is said about it; files beside it lie in `folder`."""
    source = Source("task.aes", text, Path(folder) / "task.aes" if folder else None)
    tree, faults = parse(source)
    assert not [fault for fault in faults if fault.is_error], faults
    return resolve(tree)


def slugs(text, folder=None):
    """The slugs of what is said about a text, sorted."""
    return sorted(fault.slug for fault in resolve_text(text, folder)[1])
