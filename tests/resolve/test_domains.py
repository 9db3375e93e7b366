"""Domains: those that come with aespec, and plug-ins whole and broken."""

import sys

import pytest

from aespec import domains
from aespec.domains import registry
from tests.resolve.specs import resolve_text, sample

WHOLE = 'name = "{name}"\napi = 1\ntitle = "Plug-in"\nimage = "debian:bookworm-slim"\n'


def test_the_six_domains_load():
    found, faults = domains.all_domains()
    assert faults == ()
    names = ("computer-use", "envgen", "gpu-kernel", "professional", "swe", "terminal")
    assert tuple(domain.name for domain in found) == domains.names() == names
    for domain in found:
        assert domain.title
        assert domain.image
        assert domains.find(domain.name) == (domain, ())


@pytest.fixture
def plug_in(tmp_path, monkeypatch):
    """Installs a distribution with an entry point `aespec.domains`, for the length of a test."""

    def install(package, toml, *, name="weaving", value=None):
        folder = tmp_path / f"{package}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(f"[aespec.domains]\n{name} = {value or package}\n")
        if toml is not None:
            (tmp_path / package).mkdir()
            (tmp_path / package / "__init__.py").write_text("raise RuntimeError('never imported')\n")
            (tmp_path / package / "domain.toml").write_text(toml)
        monkeypatch.syspath_prepend(str(tmp_path))

    yield install
    for name in [name for name in sys.modules if name.startswith("weaver")]:
        del sys.modules[name]


def test_a_plug_in_is_found_without_being_imported(plug_in):
    plug_in("weaver_a", WHOLE.format(name="weaving"))
    domain, faults = domains.find("weaving")
    assert faults == ()
    assert (domain.name, domain.origin) == ("weaving", "weaver_a")
    assert "weaving" in domains.names()
    task, faults = resolve_text(sample().replace("terminal", "weaving", 1))
    assert faults == ()
    assert task.domain == "weaving"


@pytest.mark.parametrize(
    ("toml", "text"),
    [
        ("name = ", "can't be read"),
        ('name = "weaving"\n', "`api` is missing"),
        (WHOLE.format(name="weaving").replace("api = 1", "api = 2"), "made for version 2"),
        (WHOLE.format(name="weaving") + "colour = 3\n", "`colour` is not known"),
        (WHOLE.format(name="Weaving Mill"), "other characters"),
        (WHOLE.format(name="weaving").replace('"Plug-in"', "true"), "`title` is of the wrong type"),
        (None, "can't be found"),
    ],
)
def test_a_broken_plug_in_is_a_diagnostic_that_names_it(plug_in, toml, text):
    plug_in("weaver_b", toml)
    found, faults = domains.all_domains()
    assert len(found) == 6
    (fault,) = faults
    assert (fault.slug, fault.is_error) == ("broken-domain", True)
    assert text in fault.headline
    assert "weaver_b" in fault.why
    assert "weaver_b" in fault.help


def test_a_spec_of_a_broken_domain_says_why(plug_in):
    plug_in("weaver_c", None)
    task, faults = resolve_text(sample().replace("terminal", "weaving", 1))
    assert task is None
    assert [fault.slug for fault in faults] == ["broken-domain"]


def test_a_plug_in_that_takes_a_name_of_ours(plug_in):
    plug_in("weaver_d", WHOLE.format(name="swe"), name="swe")
    found, faults = domains.all_domains()
    assert next(domain for domain in found if domain.name == "swe").origin == ""
    assert [fault.slug for fault in faults] == ["broken-domain"]
    assert "already there" in faults[0].headline


def test_a_folder_of_ours_that_is_broken(tmp_path, monkeypatch):
    for name in ("swe", "terminal"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "domain.toml").write_text(WHOLE.format(name="swe"))
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr(registry.resources, "folder", lambda name: tmp_path)
    assert domains.names() == ("swe",)
    domain, faults = domains.find("terminal")
    assert domain is None
    assert [fault.slug for fault in faults] == ["broken-domain"]
    assert domains.find("../swe") == domains.find("") == (None, ())
