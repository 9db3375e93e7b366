"""What of this library goes into a bundle: the runtime as a whole and the predicates that a spec uses."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from aespec import predicates, runtime

LAUNCHER = "launch.py"


def shipped_files(used: Iterable[str]) -> dict[str, bytes]:
    """The files below `tests/lib` by relative path, sorted; the modules verbatim.

    `main.py` is the verifier's program. Raises KeyError for an unknown predicate.
    """
    below_runtime = Path(runtime.__file__).parent
    below_predicates = Path(predicates.__file__).parent
    files = {
        "main.py": (below_runtime / LAUNCHER).read_bytes(),
        "aespec/__init__.py": b"",
        "aespec/predicates/__init__.py": b"",
    }
    for path in below_runtime.glob("*.py"):
        files[f"aespec/runtime/{path.name}"] = path.read_bytes()
    for name in set(used):
        if predicates.find(name) is None:
            raise KeyError(name)
        files[f"aespec/predicates/{name}.py"] = (below_predicates / f"{name}.py").read_bytes()
    return dict(sorted(files.items()))
