"""The same suite by a user with nothing; identities and the filter."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

from aespec.sandbox.api import SandboxError
from aespec.sandbox.fork import filter as seccomp
from aespec.sandbox.fork.identity import find_identity

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.needs("userns")


def test_root_never_maps_itself():
    if os.geteuid() != 0:
        pytest.skip("only root could")
    for tier in ("full", "single-uid"):
        identity = find_identity(tier)
        assert identity.first_uid != 0
        assert identity.first_gid != 0


def test_unknown_tier():
    with pytest.raises(SandboxError, match="single-uid"):
        find_identity("half")


def test_the_filter_is_well_formed():
    for pretends in (False, True):
        program = seccomp.filter_program(pretends_ownership=pretends)
        assert len(program) % 8 == 0
        assert len(program) // 8 < 4096
        count = len(program) // 8
        for index in range(count):
            code, if_true, if_false = (
                program[index * 8] | program[index * 8 + 1] << 8,
                program[index * 8 + 2],
                program[index * 8 + 3],
            )
            if code & 7 == 5:
                assert index + 1 + max(if_true, if_false) < count, "a jump leads out of the program"


@pytest.fixture
def ordinary():
    """Runs Python as a user with nothing: no range of ids, no control group, only a copy of the project."""
    packages = sysconfig.get_path("purelib")
    with tempfile.TemporaryDirectory(prefix="aespec-user-") as name:
        folder = Path(name)
        for part in ("aespec", "tests", "templates", "grammar", "domains"):
            ignored = shutil.ignore_patterns("__pycache__", "golden", "examples")
            shutil.copytree(ROOT / part, folder / part, ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", folder)
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, UID, UID)
        python = find_python(packages)
        if python is None:
            pytest.skip("no interpreter of this version that an ordinary user may start with these packages")
        environment = {
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": f"{folder}:{packages}",
            "AESPEC_CACHE": str(folder / "cache"),
            "AESPEC_REQUIRE_ALL": "1",
            "HOME": str(folder),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

        def run(*arguments):
            command = [*AS_USER, python, *arguments]
            return subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, check=False
            )

        yield run


@pytest.mark.needs("root")
def test_a_user_with_nothing_gets_the_single_tier(ordinary):
    done = ordinary("-c", TELL_ABILITIES)
    assert done.returncode == 0, done.stderr
    tier, missing, facts, said = json.loads(done.stdout)
    assert tier == "single-uid"
    assert "uidmap" in missing["a range of user ids"]
    assert "pretended" in facts["ownership"]
    assert said == "0 kept\n"


@pytest.mark.needs("root")
def test_mmdebstrap_is_not_promised_where_it_cannot_work(ordinary):
    if shutil.which("mmdebstrap") is None:
        pytest.skip("mmdebstrap is not installed")
    done = ordinary("-c", "from aespec.sandbox.doctor import diagnose; print(diagnose().text())")
    assert "no  mmdebstrap: " in done.stdout, done.stdout + done.stderr
    assert "chroot mode" in done.stdout


@pytest.mark.full
@pytest.mark.needs("root")
def test_the_suite_passes_for_an_ordinary_user(ordinary):
    done = ordinary(
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0", "-x", "--basetemp", "tmp"),
        *("tests/sandbox/test_conformance.py", "tests/sandbox/test_isolation.py", "-k", "fork-single-uid"),
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


UID = 61234
# By a shell: setpriv itself still has root's rights when it looks for the program.
AS_USER = [
    "setpriv",
    f"--reuid={UID}",
    f"--regid={UID}",
    "--clear-groups",
    "/bin/sh",
    "-c",
    'exec "$@"',
    "sh",
]
TELL_ABILITIES = """
import json, pathlib
from aespec.bundle.recipe import Recipe
from aespec.sandbox import open_sandbox
from aespec.sandbox.api import Program, SandboxLimits
fork = open_sandbox("fork", roots=("host",))
found = fork.abilities()
image = fork.prepare(Recipe("debian:bookworm-slim", (), "c"), pathlib.Path("."))
with fork.open(image, SandboxLimits()) as slot:
    slot.run(Program(("/bin/sh", "-c", "echo kept >/tmp/f")))
    said = slot.run(Program(("/bin/sh", "-c", "id -u | tr '\\n' ' '; cat /tmp/f"))).stdout.decode()
print(json.dumps([found.tier, dict(found.missing), dict(found.facts), said]))
"""


def find_python(packages):
    version = sys.version_info[:2]
    for candidate in (sys.executable, f"/usr/bin/python{version[0]}.{version[1]}", "/usr/bin/python3"):
        script = f"import sys, pytest, hypothesis; assert sys.version_info[:2] == {version}"
        done = subprocess.run(
            [*AS_USER, candidate, "-c", script],
            env={"PYTHONPATH": packages},
            capture_output=True,
            check=False,
        )
        if done.returncode == 0:
            return candidate
    return None
