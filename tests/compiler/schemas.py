"""The schemas of what aespec writes, for tests."""

import json
from functools import cache
from importlib.resources import files

from jsonschema import Draft202012Validator


@cache
def validator(name):
    schema = json.loads((files("aespec") / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def validate(name, value):
    """Fails with every way in which the value doesn't fit."""
    faults = [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(value)]
    assert not faults, "\n".join(faults)
