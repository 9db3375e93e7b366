"""Cheats: attacks on a verifier's channel, each one file of data in `scripts/`, found by a scan.

Most of them are run as the agent in the start state, with nothing of the work done: one that passes has
fooled the verifier. Harmless ones are run over the oracle's state: what a solver may well leave beside a
right solution (a conftest.py of its own, a process) must not turn it into a wrong one.

Whose fault is a win? `level` says it for an agent that is root in a container that it shares with the
verifier:

- `task`: a more careful verifier in the same mode would have withstood it. A planted conftest.py or
  pytest.ini is passed over with `-c`, `--rootdir` and `--noconftest`, a module in the working folder or the
  user's own site folder with `-I`, a planted tool by absolute paths or a PATH of the script's own, a planted
  reward or report by removing it, strangers in `/tests` by copying what is known to a fresh folder, tampering
  from within by running the solver's code in a child under another user whose answer comes back as data.
- `mode`: it beats the most careful verifier that still uses the container's own programs: bash, the
  interpreter, libc or a tool in `/usr/bin` is replaced where it stands, or a process of root's rewrites the
  verdict after it was written. That is the mode's weakness and is said once, as the trust level.

The border runs through the interpreter. What only root can write there (its library, its site-packages, so
also a `.pth`, an entry point or a changed pytest in it) counts as the interpreter replaced. `-S` would close
one of these doors, but the next file in the same folder opens it again: a verifier gains nothing by closing
it. PATH is the other way round: the folders before `/usr/bin` are root's too, but there is a whole and simple
remedy in the script's first line. Only `bash` and `env` are out of it, for Harbor itself looks them up on
PATH before any line of the verifier runs.

For an agent who isn't root, and in separate mode, every win is the task's fault: there a careful image and a
careful verifier withstand all of them.
"""

from __future__ import annotations

import functools
from pathlib import Path

from aespec.fuzz.cheats.cheat import Cheat, read_cheat
from aespec.fuzz.cheats.facts import TaskFacts, rank_tools, read_facts
from aespec.fuzz.cheats.instances import LIMIT, Instance, applies, instances

__all__ = [
    "LIMIT",
    "Cheat",
    "Instance",
    "TaskFacts",
    "all_cheats",
    "applies",
    "instances",
    "rank_tools",
    "read_facts",
]


@functools.cache
def all_cheats() -> tuple[Cheat, ...]:
    """Every cheat, the most promising first. Raises ValueError for a file that isn't one: that is a bug."""
    found = [read_cheat(path) for path in (Path(__file__).parent / "scripts").glob("*.toml")]
    return tuple(sorted(found, key=lambda cheat: (cheat.rank, cheat.slug)))
