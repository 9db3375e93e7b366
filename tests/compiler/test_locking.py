"""Making a lock: what is asked of the sandbox, what is pinned, and what is refused."""

import contextlib
import json
from datetime import date

import pytest

from aespec.bundle.lock import lock_from_json, lock_to_json
from aespec.evaluate.locking import make_lock
from aespec.model.lock import LockedImage
from aespec.model.task import AssetStep, CommitStep, RepoStep, Setup
from aespec.sandbox import open_sandbox
from aespec.sandbox.api import Abilities, Image, Outcome, SandboxError
from tests import components
from tests.bundle.making import SPAN, text, tiny

TODAY = date(2026, 11, 30)
DPKG = b"git=1:2.39.5-0+deb12u2\npython3=3.11.2-1+b1\nlibc6:amd64=2.36-9\npython3-pip=23.0\n"
PIP = json.dumps(
    [{"name": "PyTest_Mock", "version": "3.14.0"}, {"name": "six", "version": "1.16.0"}]
).encode()


class ToldSandbox:
    """Answers as images with fixed packages would."""

    name = "told"

    def __init__(self, status=0):
        self.status = status
        self.recipes = []

    def abilities(self):
        return Abilities("told", "full", {})

    def prepare(self, recipe, context, *, progress=None):
        self.recipes.append(recipe)
        return Image("sha256:" + f"{len(recipe.steps)}" * 64, recipe, {}, "/", "root")

    @contextlib.contextmanager
    def open(self, image, limits):
        yield self

    def run(self, program):
        words = " ".join(program.argv)
        said = DPKG if "dpkg-query" in words else PIP if "pip list" in words else b"3.11.2\n"
        return Outcome(self.status, said, b"no such thing\n")


def test_everything_that_the_images_take_is_pinned():
    asset = AssetStep(text("/app/a"), "data.csv", b"x", span=SPAN)
    inner = AssetStep(text("b"), "inner.csv", b"y", span=SPAN)
    repo = RepoStep(text("/app/r"), (CommitStep(text("one"), (inner,), span=SPAN),), span=SPAN)
    setup = Setup("debian:bookworm-slim", apt=("git",), pip=("pytest-mock", "six==1.16.0"))
    lock = make_lock(tiny(setup=setup, steps=[asset, repo]), ToldSandbox(), today=TODAY)
    assert lock.apt == {"git": "1:2.39.5-0+deb12u2", "python3": "3.11.2-1+b1", "python3-pip": "23.0"}
    assert lock.pip == {"pytest-mock": "3.14.0", "six": "1.16.0"}
    assert lock.images == {"debian:bookworm-slim": LockedImage("sha256:" + "0" * 64, "store")}
    assert set(lock.assets) == {"data.csv", "inner.csv"}
    assert lock.evaluator["python"] == "3.11.2"
    assert (lock.spec, lock.made_on) == ("tiny.aes", "2026-11-30")
    assert lock_from_json(json.loads(json.dumps(lock_to_json(lock)))) == lock


def test_a_registry_s_digest_is_taken_where_there_is_one():
    sandbox = ToldSandbox()
    sandbox.registry_digest = lambda name: "sha256:" + "d" * 64
    lock = make_lock(tiny(), sandbox, today=TODAY)
    assert lock.images["debian:bookworm-slim"] == LockedImage("sha256:" + "d" * 64, "registry")


def test_what_is_not_installed_can_t_be_pinned():
    setup = Setup("debian:bookworm-slim", apt=("editor",))
    with pytest.raises(SandboxError, match="editor") as refused:
        make_lock(tiny(setup=setup), ToldSandbox(), today=TODAY)
    assert refused.value.remedy


def test_an_image_that_can_t_be_asked_is_told():
    with pytest.raises(SandboxError, match="no such thing"):
        make_lock(tiny(), ToldSandbox(status=1), today=TODAY)


def test_a_package_that_is_none_is_refused_before_anything_is_built():
    sandbox = ToldSandbox()
    with pytest.raises(SandboxError, match="package"):
        make_lock(tiny(setup=Setup("debian", apt=("a && b",))), sandbox, today=TODAY)
    assert sandbox.recipes == []


@pytest.mark.needs("docker", "base-image")
def test_a_real_engine_is_asked():
    lock = make_lock(tiny(setup=Setup(components.BASE_IMAGE)), open_sandbox("docker"), today=TODAY)
    assert lock.apt["python3"][0].isdecimal()
    assert lock.images[components.BASE_IMAGE].digest.startswith("sha256:")
    assert lock.evaluator["python"].startswith("3.")
