"""Files that can't be read, or are no text, are diagnostics; nothing waits and nothing raises."""

import os

import pytest

from aespec.syntax import decode_source, read_source
from aespec.syntax.reading import FILE_MAX


def slug_of(path, **options):
    source, diagnostics = read_source(path, **options)
    assert source is None
    (diagnostic,) = diagnostics
    assert diagnostic.is_error
    assert diagnostic.help
    return diagnostic.slug


def test_a_text_is_read(tmp_path):
    path = tmp_path / "a.aes"
    path.write_bytes('\ufeffa = "ä"\r\nb = 1\r\n'.encode())
    source, diagnostics = read_source(path)
    assert diagnostics == ()
    assert source.text == 'a = "ä"\nb = 1\n'
    assert source.name == str(path)
    assert source.path == path
    assert read_source(path, name="shown.aes")[0].name == "shown.aes"


def test_what_is_not_there(tmp_path):
    (tmp_path / "file").write_text("")
    assert slug_of(tmp_path / "none.aes") == "missing-file"
    assert slug_of(tmp_path / "file" / "below.aes") == "missing-file"
    (tmp_path / "dangling").symlink_to("nowhere")
    assert slug_of(tmp_path / "dangling") == "missing-file"


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        assert slug_of(path) == "irregular-file"
    for device in ("/dev/zero", "/dev/null"):
        assert slug_of(tmp_path.joinpath(device)) == "irregular-file"


def test_what_the_system_refuses(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    assert slug_of(tmp_path / "loop") == "unreadable-file"
    assert slug_of(tmp_path / "nul\0byte") == "unreadable-file"
    assert slug_of(tmp_path / ("x" * 5000)) == "unreadable-file"


def test_what_the_user_may_not_read(tmp_path, monkeypatch):
    """Said by a stand-in for the system, as the user of the tests may be one who may read everything."""

    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    _, (diagnostic,) = read_source(tmp_path / "a.aes")
    assert diagnostic.slug == "unreadable-file"
    assert "Permission denied" in diagnostic.headline


def test_what_is_too_large(tmp_path):
    path = tmp_path / "a.aes"
    path.write_bytes(b"#" * FILE_MAX)
    assert read_source(path)[0] is not None
    path.write_bytes(b"#" * (FILE_MAX + 1))
    assert slug_of(path) == "file-too-large"
    assert slug_of(path, limit_bytes=10) == "file-too-large"
    with path.open("r+b") as file:
        file.truncate(1 << 34)
    assert slug_of(path) == "file-too-large"


@pytest.mark.parametrize(
    ("data", "slug", "position", "said"),
    [
        (b"a = 1\nb = \xff\n", "wrong-encoding", (2, 5), "offset 10"),
        (b"\xef\xbb\xbfa = \xe9", "wrong-encoding", (1, 5), "0xe9"),
        (b"a = \xc3", "wrong-encoding", (1, 5), "0xc3"),
        (b"\xed\xa0\x80", "wrong-encoding", (1, 1), "0xed"),
        ("a = 1".encode("utf-16"), "wrong-encoding", (1, 1), "0xff"),
        (b"a = 1\r\n\0", "nul-byte", (2, 1), "NUL"),
    ],
)
def test_what_is_no_text(data, slug, position, said):
    source, (diagnostic,) = decode_source(data, "a.aes")
    assert source is None
    assert diagnostic.slug == slug
    assert diagnostic.span.position == position
    assert said in diagnostic.headline
    assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(diagnostic.span.source.text)
