"""Kept results: whole or not there, bounded, and never in the way."""

from aespec.evaluate.cache import ContentCache
from aespec.resources import cache_folder

KEY = "ab" * 32


def test_what_is_stored_is_loaded(tmp_path):
    cache = ContentCache(tmp_path / "c")
    assert cache.load(KEY) is None
    cache.store(KEY, {"value": [1, "ü"]})
    assert ContentCache(tmp_path / "c").load(KEY) == {"value": [1, "ü"]}
    assert not list((tmp_path / "c").glob("*/.new-*"))


def test_a_damaged_entry_is_none(tmp_path):
    cache = ContentCache(tmp_path)
    cache.store(KEY, 1)
    (path,) = tmp_path.glob("*/*")
    for data in (b"", b"x", path.read_bytes()[:-1], path.read_bytes() + b"0"):
        path.write_bytes(data)
        assert cache.load(KEY) is None


def test_the_oldest_entries_go_first(tmp_path):
    import os

    cache = ContentCache(tmp_path, limit_bytes=8000)
    for number in range(12):
        key = f"{number:02x}" * 32
        cache.store(key, "x" * 1000)
        path = tmp_path / key[:2] / key[2:]
        if path.exists():
            os.utime(path, (1000 + number, 1000 + number))
    assert sum(path.stat().st_size for path in tmp_path.glob("*/*")) <= 9200
    assert cache.load("00" * 32) is None
    assert cache.load("0b" * 32) == "x" * 1000


def test_a_value_that_would_fill_the_cache_is_not_kept(tmp_path):
    cache = ContentCache(tmp_path, limit_bytes=1000)
    cache.store(KEY, "x" * 900)
    assert cache.load(KEY) is None


def test_an_unwritable_folder_is_passed_over(tmp_path):
    (tmp_path / "file").write_text("x")
    cache = ContentCache(tmp_path / "file" / "below")
    cache.store(KEY, 1)
    assert cache.load(KEY) is None


def test_where_it_lies(monkeypatch, tmp_path):
    monkeypatch.setenv("AESPEC_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("AESPEC_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "aespec"
