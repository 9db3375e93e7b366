"""Files beside a spec: read where they may be, and nothing else is opened."""

import os

import pytest

from aespec.resolve import files
from tests.resolve.specs import resolve_text, sample, slugs


def asset(name):
    return sample(setup=f'asset "/app/x" (from = "{name}")')


def test_a_file_and_a_link_inside_the_folder_are_read(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.bin").write_bytes(bytes(range(256)))
    (tmp_path / "link").symlink_to("sub/a.bin")
    for name in ("sub/a.bin", "link"):
        task, faults = resolve_text(asset(name), tmp_path)
        assert faults == ()
        assert task.setup.steps[0].data == bytes(range(256))


@pytest.mark.parametrize(
    "name", ["../out.txt", "/etc/passwd", "sub/../../out.txt", "~/x", "a//b", "a\\u0001b", ""]
)
def test_names_that_lead_out_are_refused(tmp_path, name):
    (tmp_path.parent / "out.txt").write_text("secret")
    assert slugs(asset(name), tmp_path) == ["escaping-asset"]


def test_links_that_lead_out_are_refused(tmp_path):
    folder = tmp_path / "spec"
    folder.mkdir()
    (tmp_path / "out.txt").write_text("secret")
    (folder / "link").symlink_to("../out.txt")
    (folder / "up").symlink_to("..")
    assert slugs(asset("link"), folder) == ["escaping-asset"]
    assert slugs(asset("up/out.txt"), folder) == ["escaping-asset"]


def test_what_is_no_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "round").symlink_to("round")
    for name in ("pipe", "folder", "round"):
        assert slugs(asset(name), tmp_path) == ["unreadable-asset"], name


def test_missing_unreadable_and_without_a_folder(tmp_path):
    assert slugs(asset("none"), tmp_path) == ["missing-asset"]
    (tmp_path / "file").write_text("")
    assert slugs(asset("file/inside"), tmp_path) == ["missing-asset"]
    assert slugs(asset("file")) == ["unreadable-asset"]


def test_a_file_without_the_right_to_read_it(tmp_path):
    (tmp_path / "closed").write_text("x")
    (tmp_path / "closed").chmod(0)
    user = os.geteuid()
    if user == 0:
        # Root may read everything, so for a moment this is somebody else.
        os.seteuid(65534)
    try:
        assert slugs(asset("closed"), tmp_path) == ["unreadable-asset"]
    finally:
        os.seteuid(user)


def test_a_refused_right_is_told_whoever_runs_this(tmp_path, monkeypatch):
    (tmp_path / "closed").write_text("x")

    def refuse(*args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    fault = files.read_beside(tmp_path, "closed")
    assert (fault.slug, fault.text) == ("unreadable-asset", "may not be read by you")


def test_large_files_are_refused_alone_and_together(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LARGEST_ASSET_BYTES", 100)
    monkeypatch.setattr("aespec.resolve.setup.LARGEST_ASSETS_BYTES", 150)
    (tmp_path / "a").write_bytes(b"x" * 101)
    assert slugs(asset("a"), tmp_path) == ["large-asset"]
    (tmp_path / "a").write_bytes(b"x" * 100)
    assert slugs(asset("a"), tmp_path) == []
    both = sample(setup='asset "/app/x" (from = "a") asset "/app/y" (from = "a")')
    assert slugs(both, tmp_path) == ["large-asset"]


def test_a_used_file_may_not_be_a_link_that_leads_out(tmp_path):
    folder = tmp_path / "spec"
    folder.mkdir()
    (tmp_path / "web.aes").write_text("aes = 1\n")
    (folder / "web.aes").symlink_to("../web.aes")
    text = sample().replace("aes = 1", 'aes = 1\nuse web = "web.aes"')
    assert slugs(text, folder) == ["escaping-asset"]


def test_assets_of_a_used_file_lie_beside_it(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "logo").write_text("logo")
    (tmp_path / "lib" / "web.aes").write_text(
        'aes = 1\nfragment f () { asset "/app/logo" (from = "logo") }\n'
    )
    text = sample(setup="use web.f").replace("aes = 1", 'aes = 1\nuse web = "lib/web.aes"')
    task, faults = resolve_text(text, tmp_path)
    assert faults == ()
    assert task.setup.steps[0].data == b"logo"


def test_what_is_wrong_in_a_used_file_is_shown_there(tmp_path):
    (tmp_path / "web.aes").write_text("aes = 1\nfragment f () { file = }\n")
    text = sample().replace("aes = 1", 'aes = 1\nuse web = "web.aes"')
    _, faults = resolve_text(text, tmp_path)
    assert faults
    assert {fault.span.source.name for fault in faults} == {"web.aes"}
