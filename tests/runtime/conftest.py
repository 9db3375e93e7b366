"""A folder that other accounts may pass through: pytest's own are closed to them."""

import shutil
import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def open_path():
    folder = Path(tempfile.mkdtemp(prefix="aespec-test-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)
