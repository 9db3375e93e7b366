"""Bundles byte for byte. AESPEC_UPDATE=1 writes them anew: read the difference before you commit it.

What ships verbatim from the library (`tests/lib`) is compared with the library instead of being stored, and
the rows of the manifest that speak of it are left out.
"""

import functools
import json
import os
import shutil
import subprocess
import sys

import pytest

from aespec.bundle.manifest import build_manifest
from aespec.bundle.places import MANIFEST_PATH
from aespec.model.json_text import write_json
from aespec.predicates.shipping import shipped_files
from tests.compiler import golden
from tests.compiler.golden import FOLDER, names
from tests.compiler.schemas import validate

LIBRARY = "tests/lib/"
compiled = functools.cache(golden.compiled)


def stored(plan):
    """What is compared: the files without the library, and a manifest that doesn't change with it."""
    files = {path: file.data for path, file in plan.files.items() if not path.startswith(LIBRARY)}
    manifest = build_manifest(plan)
    validate("manifest", manifest)
    table = {path: row for path, row in manifest["files"].items() if not path.startswith(LIBRARY)}
    shown = {**manifest, "files": table, "digest": "", "tool": {"name": "aespec", "version": ""}}
    return {**files, MANIFEST_PATH: write_json(shown)}


def on_disk(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("name", names())
def test_the_bundle_is_as_it_was(name):
    plan = compiled(name)
    found = stored(plan)
    folder = FOLDER / name
    if os.environ.get("AESPEC_UPDATE") == "1":
        shutil.rmtree(folder, ignore_errors=True)
        for path, data in found.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
    expected = on_disk(folder)
    assert sorted(found) == sorted(expected), "files came or went; AESPEC_UPDATE=1 writes them anew"
    for path, data in expected.items():
        assert found[path].decode() == data.decode(), f"{path} differs; AESPEC_UPDATE=1 writes it anew"


@pytest.mark.parametrize("name", names())
def test_the_library_ships_verbatim(name):
    plan = compiled(name)
    claims = json.dumps(json.loads(plan.files["tests/checks.json"].data))
    used = {word.split('"')[0] for word in claims.split('"predicate": "')[1:]}
    library = {
        path.removeprefix(LIBRARY): file.data for path, file in plan.files.items() if path.startswith(LIBRARY)
    }
    assert library == shipped_files(used)


@pytest.mark.parametrize("name", names())
def test_what_is_written_fits_its_schema(name):
    plan = compiled(name)
    for schema, path in [
        ("checks", "tests/checks.json"),
        ("values", "aespec/values.json"),
        ("examples", "aespec/examples.json"),
        ("recipes", "aespec/recipes.json"),
    ]:
        validate(schema, json.loads(plan.files[path].data))


PROGRAM = """
import hashlib, json, sys
from pathlib import Path
from aespec.bundle import write
from tests.compiler.golden import compiled
for name in sys.argv[2:]:
    bundle = write(compiled(name), Path(sys.argv[1]) / name)
    print(name, bundle.digest)
"""

SURROUNDINGS = [
    {"LANG": "C", "TZ": "UTC", "PYTHONHASHSEED": "0"},
    {"LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8", "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "4242"},
]


def test_equal_bytes_in_other_surroundings(tmp_path):
    """Two folders, locales, time zones, hash seeds, current folders and umasks."""
    top = FOLDER.parent.parent
    told = []
    for number, surroundings in enumerate(SURROUNDINGS):
        folder = tmp_path / str(number)
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(folder), *names()],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(top),
                "HOME": str(tmp_path / "home"),
                **surroundings,
            },
            cwd=tmp_path if number else top,
            umask=0o077 if number else 0o022,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        told.append(done.stdout)
    assert told[0] == told[1]
    first, second = on_disk(tmp_path / "0"), on_disk(tmp_path / "1")
    assert first == second
    modes = [
        {path: (folder / path).stat().st_mode for path in first}
        for folder in (tmp_path / "0", tmp_path / "1")
    ]
    assert modes[0] == modes[1]
    for place in (tmp_path, top):
        assert not [path for path, data in first.items() if str(place).encode() in data]


def test_another_seed_is_another_bundle():
    assert (
        build_manifest(compiled("values", seed=4))["digest"] != build_manifest(compiled("values"))["digest"]
    )
