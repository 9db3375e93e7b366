"""Ways to a base image that fail: the next one is tried where that helps, and nobody else is hurt."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from aespec.bundle.recipe import Recipe
from aespec.sandbox.api import SandboxError
from aespec.sandbox.fork import roots
from aespec.sandbox.layers import full_disk

RECIPE = Recipe("debian:bookworm-slim", (), "environment")
FOUND = roots.Base("digest", "layer", {})
HANGS_UP = "#!/bin/sh\necho 'E: no space' >&2\nkill -HUP 0\nsleep 5\n"
MAKE = """
import sys
from aespec.sandbox.api import SandboxError
from aespec.sandbox.fork import roots
try:
    list(roots._bootstrap(sys.argv[1], "bookworm"))
except SandboxError as error:
    print(error)
roots.bootstrap_fault(sys.argv[1])
print("lives")
"""


def find(monkeypatch, error):
    def fails(*given):
        raise error

    monkeypatch.setattr(roots, "_WAYS", {"engine": fails, "host": lambda *given: FOUND})
    return roots.find_base(RECIPE, SimpleNamespace(), ("engine", "host"), {}, lambda text: None)


def test_a_way_that_fails_leaves_the_others(monkeypatch):
    assert find(monkeypatch, SandboxError("the engine is away")) is FOUND


def test_a_full_disk_is_no_reason_to_take_another_base(monkeypatch, tmp_path):
    with pytest.raises(SandboxError, match="no space"):
        find(monkeypatch, full_disk(tmp_path))


def test_a_bootstrap_that_hangs_up_on_its_group_ends_itself_only(tmp_path):
    program = tmp_path / "mmdebstrap"
    program.write_text(HANGS_UP)
    program.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", MAKE, str(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=dict(os.environ),
        start_new_session=True,
    )
    assert done.stdout.splitlines()[-1] == "lives", (done.returncode, done.stderr)
    assert "no space" in done.stdout
