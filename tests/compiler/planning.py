"""Plans of hand-made tasks, and their files as their readers see them."""

import tomllib

import yaml  # noqa: TID251 - a reader of its own shows that what is written is YAML

from aespec.bundle import BundlePlan
from aespec.targets import TargetOptions, find
from tests.bundle.making import (
    evaluated,
)


def planned(task, *, options=None, **more) -> BundlePlan:
    plan, found = find("harbor").plan(task, evaluated(task, **more), options or TargetOptions())
    assert not [item for item in found if item.is_error], found
    assert plan is not None
    return plan


def faults(task, *, options=None, **more):
    plan, found = find("harbor").plan(task, evaluated(task, **more), options or TargetOptions())
    assert (plan is None) == any(item.is_error for item in found)
    return [item.slug for item in found]


def read(plan, path):
    return plan.files[path].data.decode()


def toml(plan):
    return tomllib.loads(read(plan, "task.toml"))


def compose(plan, folder):
    return yaml.safe_load(read(plan, f"{folder}/docker-compose.yaml"))["services"]["main"]
