"""Every format: its schema is sound, the page names its fields, and what is really written fits both."""

import json
import re
from pathlib import Path

import pytest

from aespec.bundle import open_bundle, write
from aespec.bundle.lock import lock_path, read_lock, write_lock
from aespec.fuzz.certificate import PROPERTIES, Certificate, Finding, Property, certificate_to_json
from aespec.model.edit import Edit
from aespec.model.edits import edit_from_json, edit_to_json
from aespec.model.json_text import canonical_json, write_json
from aespec.model.lock import Lock, LockedImage
from aespec.trial import TrialResult, load_trial, write_trial
from tests.compiler.golden import compiled, names
from tests.compiler.schemas import validate, validator

ROOT = Path(__file__).parents[2]
SCHEMAS = sorted(path.name.removesuffix(".schema.json") for path in (ROOT / "aespec/schemas").glob("*.json"))
PAGE = (ROOT / "docs/formats.md").read_text(encoding="utf-8")

IN_BUNDLES = {
    "aespec/manifest.json": "manifest",
    "aespec/recipes.json": "recipes",
    "aespec/values.json": "values",
    "aespec/examples.json": "examples",
    "tests/checks.json": "checks",
}


def section(name):
    """What the page says of a format, from its mention to the next format's."""
    start = PAGE.index(f"`{name}.schema.json`")
    ends = [PAGE.index(f"`{other}.schema.json`") for other in SCHEMAS]
    return PAGE[PAGE.rindex("\n", 0, start) : min((end for end in ends if end > start), default=len(PAGE))]


def fields(schema):
    """The names of all fields that a schema allows, at any depth."""
    found = set()
    queue = [schema]
    while queue:
        part = queue.pop()
        if isinstance(part, list):
            queue += part
        elif isinstance(part, dict):
            for word in ("properties", "$defs"):
                named = part.get(word, {})
                found |= set(named) if word == "properties" else set()
                queue += named.values()
            queue += [value for key, value in part.items() if key not in ("properties", "$defs")]
    return found


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_page_names_every_field(name):
    schema = validator(name).schema
    assert schema["$id"] == f"urn:aespec:schema:1:{name}"
    told = section(name)
    if name in ("reward-details", "trial", "examples"):
        told += section("checks") + section("edit")  # what they hold of others stands there
    missing = sorted(field for field in fields(schema) if not re.search(rf"\b{field}\b", told))
    assert not missing


def test_edits_within_examples_have_the_edit_s_own_schema():
    inner = validator("examples").schema["$defs"]["edit"]
    outer = {key: value for key, value in validator("edit").schema.items() if not key.startswith("$")}
    assert {**inner, "title": outer["title"]} == outer


@pytest.mark.parametrize("name", names())
def test_files_of_a_bundle_as_they_lie_on_disk(name, tmp_path):
    bundle = open_bundle(write(compiled(name), tmp_path / "b").path)
    for path, schema in IN_BUNDLES.items():
        data = (bundle.path / path).read_bytes()
        told = json.loads(data)
        validate(schema, told)
        assert told["schema"] == 1
        assert data == write_json(told), f"{path} is not in the one form"
    for example in json.loads((bundle.path / "aespec/examples.json").read_bytes())["examples"]:
        for edit in example["edits"] or []:
            validate("edit", edit)
            assert edit_to_json(edit_from_json(edit)) == edit


def test_a_lock_as_it_lies_on_disk(tmp_path):
    lock = Lock(
        "a.aes",
        {"debian:bookworm-slim": LockedImage("sha256:" + "a" * 64, "store")},
        {"git": "1:2.39.5-0+deb12u2"},
        {"pytest": "8.3.4"},
        {"data.csv": "b" * 64},
        {"base": "debian:bookworm-slim", "digest": "sha256:" + "c" * 64, "python": "3.11.2"},
        "2026-11-30",
    )
    place = lock_path(tmp_path / "a.aes")
    place.write_bytes(write_lock(lock))
    validate("lock", json.loads(place.read_bytes()))
    assert place.read_bytes() == write_json(json.loads(place.read_bytes()))
    assert read_lock(place) == (lock, ())


def test_a_trial_as_it_lies_on_disk(tmp_path):
    details = json.loads(
        '{"schema": 1, "task": "", "instance": "", "outcome": "error", "reward": null, "seconds": 0.0, '
        '"seed": null, "checks": [], "message": "é"}'
    )
    validate("reward-details", details)
    result = TrialResult(
        "t", "0" * 64, "reject:two words", "fork", "error", boundary="verifier", details=details
    )
    place = write_trial(result, tmp_path / "trial") / "trial.json"
    validate("trial", json.loads(place.read_bytes()))
    assert place.read_bytes() == write_json(json.loads(place.read_bytes()))
    assert load_trial(place) == result


def test_a_certificate_as_it_lies_on_disk(tmp_path):
    from aespec.cli.certify_command import keep

    made = Certificate(
        "t",
        tuple(Property(name, "not-measured", missing="é") for name in PROPERTIES),
        (Finding("no-sandbox", "error", "builds", "nothing works"),),
        trust={"mode": None, "level": None, "reference": None},
        digests={
            "spec": None,
            "lock": None,
            "bundles": [],
            "images": {},
            "tool": "aespec 0",
            "operators": "0" * 64,
        },
        seeds={"family": 0, "instances": []},
        environment={"sandbox": None, "tier": None, "reference": None, "is_reproducible": None},
        cost={"cpu_s": 0.0, "wall_s": 0.0, "executions": {}},
        made_on="2026-11-30",
    )
    (tmp_path / "out").mkdir()
    keep(made, tmp_path / "out")
    place = tmp_path / "out" / "t.certificate.json"
    validate("certificate", json.loads(place.read_bytes()))
    assert place.read_bytes() == write_json(certificate_to_json(made))


@pytest.mark.parametrize(
    "edit",
    [
        Edit("/a", "", "put", {"base64": "AA==", "mode": 493}),
        Edit("/a", "", "delete"),
        Edit("/a", "", "swap", {"old": "x", "new": ""}),
        Edit("/a", "", "link", "../b"),
        Edit("/a", "", "folder"),
        Edit("/a", "", "set", None),
        Edit("/a", "/b", "remove"),
        Edit("/a.csv", "0", "insert", ["1", 2]),
        Edit("/a.csv", "b", "rename", "c"),
    ],
)
def test_edits_written_and_read(edit):
    told = json.loads(write_json(edit_to_json(edit)))
    validate("edit", told)
    assert edit_from_json(told) == edit


def test_the_two_forms_of_json():
    value = {"é": [1, 2.5, None], "a": "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")}
    assert canonical_json(value) == b'{"a":"\\ud83d\\ude00","\\u00e9":[1,2.5,null]}'
    assert write_json(value).decode() == ('{\n  "a": "😀",\n  "é": [\n    1,\n    2.5,\n    null\n  ]\n}\n')
    for form in (canonical_json, write_json):
        with pytest.raises(ValueError, match="JSON compliant"):
            form(float("nan"))
