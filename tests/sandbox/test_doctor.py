"""The diagnosis: as text for people, as JSON for programs, with a remedy for whatever is missing."""

import json

import pytest

from aespec.sandbox import backend_names, default_sandbox, doctor, open_sandbox
from aespec.sandbox.api import Abilities, SandboxError


def test_the_diagnosis_of_this_machine(cache):
    report = doctor.diagnose()
    assert tuple(abilities.name for abilities in report.backends) == backend_names()
    told = json.loads(json.dumps(report.as_json()))
    assert told["schema"] == 1
    assert told["usable"] == report.is_usable
    for sandbox in told["sandboxes"]:
        assert sandbox["usable"] or sandbox["missing"]
        assert all(sandbox["missing"].values())
    for root in told["roots"]:
        assert root["there"] or root["remedy"]
    text = report.text()
    for abilities in report.backends:
        assert f"sandbox {abilities.name}:" in text
        for remedy in abilities.missing.values():
            assert remedy in text


def made_report(*backends):
    root = doctor.Finding("host", True, "the host's own /usr")
    default = next((abilities.name for abilities in backends if abilities.is_usable), None)
    return doctor.Report(default, backends, (root,), doctor.Finding("cache", True, "~/.cache, 9 GiB free"))


def test_a_machine_where_nothing_works():
    report = made_report(
        Abilities("fork", "none", {"user namespaces": "as root: sysctl -w user.max_user_namespaces=15000"}),
        Abilities("docker", "none", {"a Docker engine": "start dockerd"}),
    )
    assert not report.is_usable
    assert report.as_json()["default"] is None
    assert "to have it: as root: sysctl -w user.max_user_namespaces=15000" in report.text()
    assert "does not work here" in report.text()


def test_the_single_tier_says_what_is_not_measured():
    report = made_report(Abilities("fork", "single-uid", {"a range of user ids": "install uidmap"}))
    assert report.is_usable
    assert "ownership and claims across users are not measured" in report.text()
    assert "fork: works with one user id" in report.text()
    assert "(default)" in report.text()


def test_unknown_names_get_a_suggestion():
    with pytest.raises(SandboxError, match="did you mean 'docker'") as caught:
        open_sandbox("dokcer")
    assert "fork" in caught.value.remedy


@pytest.mark.needs("userns")
def test_the_default_is_the_embedded_one(cache):
    assert default_sandbox(roots=("host",)).name == "fork"


def test_no_default_is_told_with_every_way_out(monkeypatch, tmp_path):
    from aespec.sandbox.fork import backend

    none = Abilities("fork", "none", {"user namespaces": "sysctl"})
    monkeypatch.setattr(backend.ForkSandbox, "abilities", lambda self: none)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nothing.sock")
    with pytest.raises(SandboxError, match="no sandbox works") as caught:
        default_sandbox()
    assert "sysctl" in caught.value.remedy
    assert "dockerd" in caught.value.remedy


@pytest.mark.parametrize(
    ("files", "uid", "remedy"),
    [
        ({"/proc/sys/user/max_user_namespaces": "0"}, 0, "sysctl -w user.max_user_namespaces=15000"),
        ({"/proc/sys/kernel/unprivileged_userns_clone": "0"}, 1000, "kernel.unprivileged_userns_clone=1"),
        (
            {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1"},
            1000,
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    ],
)
def test_remedies_name_the_very_setting(monkeypatch, files, uid, remedy):
    from aespec.sandbox.fork import probe

    monkeypatch.setattr(probe, "_setting", lambda path: files.get(path, ""))
    monkeypatch.setattr(probe.os, "geteuid", lambda: uid)
    assert remedy in probe._remedy("user and mount namespaces", 1)
