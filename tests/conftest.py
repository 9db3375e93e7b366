"""What every test runs under: tiers, components of the machine, and how Hypothesis searches."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from tests import components

# No deadline: two busy cores make any single example slow now and then, and a time is not what is tested.
settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile("ci", deadline=None, max_examples=100, print_blob=True)
settings.register_profile(
    "full", deadline=None, max_examples=1000, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)


def pytest_addoption(parser):
    group = parser.getgroup("aespec")
    group.addoption("--quick", action="store_true", help="leave out tests that need an engine")
    group.addoption("--full", action="store_true", help="add the long tests")


def pytest_configure(config):
    # What a shell puts in the background is deaf to Ctrl-C, and under nohup to a hangup; so would be all that
    # tests start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if os.environ.get("AESPEC_UPDATE") and os.environ.get("CI"):
        raise pytest.UsageError("AESPEC_UPDATE rewrites what the tests compare with; never in CI")
    if config.getoption("--quick") and config.getoption("--full"):
        raise pytest.UsageError("--quick and --full exclude each other")
    full = config.getoption("--full")
    settings.load_profile("full" if full else "ci" if os.environ.get("CI") else "dev")


def pytest_make_parametrize_id(val, argname):
    # A test's name is the same in every process that collects it: bytes may hold the hour at which they were
    # made (a gzip's head does), and then workers that should share the tests don't agree which they are.
    return argname if isinstance(val, bytes | bytearray) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    kept, left_out = [], []
    for item in items:
        engine = bool(components.needed_by(item) & components.OF_THE_ENGINE)
        # Workers share by file, so that a fixture of a module is made once. One engine, few cores: all tests
        # that drive it are one group and take turns.
        item.add_marker(pytest.mark.xdist_group("engine" if engine else item.path.stem))
        too_long = item.get_closest_marker("full") is not None and not config.getoption("--full")
        (left_out if too_long or (engine and config.getoption("--quick")) else kept).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def pytest_runtest_setup(item):
    for name in sorted(components.needed_by(item)):
        components.require(name)
