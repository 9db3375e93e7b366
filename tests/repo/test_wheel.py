"""The wheel, made from the sdist and installed elsewhere, does what a checkout does."""

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.repo import sources

EXAMPLE = "professional/examples/ledger-reconcile.aes"
CERTIFIED_SO_FAR = {"builds", "solvable", "stable", "nop-fails", "stated", "leak-free"}


def run(command, **options):
    """The program's result; a failure shows what it said."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=900, check=False, **options
    )
    shown = f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done, shown


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """The sdist, and the wheel that is built from the sdist and not from the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    done, shown = run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, sources.ROOT],
        env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
    )
    assert done.returncode == 0, shown
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def installed(distributions, tmp_path_factory):
    """A clean environment with nothing but the wheel and what it depends on, and a folder to stand in."""
    home = tmp_path_factory.mktemp("elsewhere")
    venv.create(home / "venv", with_pip=True)
    python = home / "venv/bin/python"
    done, shown = run([python, "-m", "pip", "install", "-q", "--no-warn-script-location", distributions[1]])
    assert done.returncode == 0, shown
    (home / "desk").mkdir()
    return Installed(home)


class Installed:
    """The installed command, run from a folder that is not the checkout."""

    def __init__(self, home: Path):
        self.desk = home / "desk"
        self.bin = home / "venv/bin"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self.env = {**kept, "XDG_CACHE_HOME": str(home / "cache")}

    def aespec(self, *arguments):
        return run([self.bin / "aespec", *arguments], cwd=self.desk, env=self.env)

    def data(self, name):
        program = f"from aespec.resources import folder; print(folder({name!r}))"
        done, shown = run([self.bin / "python", "-c", program], cwd=self.desk, env=self.env)
        assert done.returncode == 0, shown
        return Path(done.stdout.strip())


def test_the_wheel_holds_the_package_and_its_data_and_nothing_else(distributions):
    with zipfile.ZipFile(distributions[1]) as wheel:
        names = wheel.namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"aespec"}
    carried = set(names)
    for folder in ("grammar", "templates", "domains"):
        for path in sources.project_files():
            if path.is_relative_to(sources.ROOT / folder):
                assert f"aespec/_data/{sources.shown(path)}" in carried
    assert not [name for name in names if "__pycache__" in name]


def test_the_sdist_can_be_tested(distributions):
    with tarfile.open(distributions[0]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "tests/conftest.py", ".ci/test"} <= names


@pytest.mark.needs("package-index")
def test_the_installed_command_starts(installed):
    done, shown = installed.aespec("--version")
    assert done.returncode == 0, shown
    assert "0.1.0" in done.stdout


@pytest.mark.needs("package-index")
def test_the_installed_data_is_the_wheels(installed):
    for name in ("grammar", "templates", "domains"):
        assert installed.data(name).parent.name == "_data"


@pytest.mark.needs("package-index")
def test_an_example_lints_and_compiles_from_the_wheel(installed):
    example = installed.data("domains") / EXAMPLE
    done, shown = installed.aespec("lint", example)
    assert done.returncode == 0, shown
    done, shown = installed.aespec("compile", example, "-o", installed.desk / "bundles")
    assert done.returncode == 0, shown
    assert list((installed.desk / "bundles").rglob("task.toml")), shown


@pytest.mark.needs("package-index", "userns")
def test_an_example_certifies_from_the_wheel(installed):
    example = installed.data("domains") / EXAMPLE
    done, shown = installed.aespec("certify", example, "--format", "json")
    # 3: some property is not measured yet; what is measured is asked for by name below.
    assert done.returncode in (0, 3), shown
    verdicts = {found["name"]: found["verdict"] for found in json.loads(done.stdout)["properties"]}
    assert {name: verdicts.get(name) for name in CERTIFIED_SO_FAR} == dict.fromkeys(
        CERTIFIED_SO_FAR, "holds"
    ), shown
