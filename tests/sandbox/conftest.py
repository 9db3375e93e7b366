"""One fixture gives every backend in turn, with an image whose programs are sh, coreutils and Python."""

import os

import pytest

from aespec.sandbox import open_sandbox
from tests.sandbox.scene import LIMITS, RECIPE, backend_parameters, make_sandbox, shell_of


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache of the test session's own: a user's is neither used nor filled."""
    before = os.environ.get("AESPEC_CACHE")
    folder = tmp_path_factory.getbasetemp() / "aespec-cache"
    os.environ["AESPEC_CACHE"] = str(folder)
    yield folder
    if before is None:
        del os.environ["AESPEC_CACHE"]
    else:
        os.environ["AESPEC_CACHE"] = before


@pytest.fixture(scope="module", params=backend_parameters())
def sandbox(request, cache):
    return make_sandbox(request.param)


@pytest.fixture(scope="module")
def image(sandbox, tmp_path_factory):
    return sandbox.prepare(RECIPE, tmp_path_factory.mktemp("context"))


@pytest.fixture(scope="module")
def shared(sandbox, image):
    """A slot for tests that leave nothing behind which another would mind."""
    with sandbox.open(image, LIMITS) as slot:
        yield slot


@pytest.fixture
def slot(sandbox, image):
    with sandbox.open(image, LIMITS) as slot:
        yield slot


@pytest.fixture(scope="module")
def sh(shared):
    return shell_of(shared)


@pytest.fixture(scope="module")
def fork(cache):
    return open_sandbox("fork", roots=("host",))


@pytest.fixture
def context(tmp_path):
    folder = tmp_path / "context"
    folder.mkdir()
    return folder
