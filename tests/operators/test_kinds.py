"""What kind a content is: by its bytes first, by its name only where they leave it open."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aespec.operators.api import FILE_KINDS
from aespec.operators.kinds import kind_of, language_of
from tests.operators import making


@pytest.mark.parametrize(
    ("path", "data", "kind"),
    [
        ("/a", b"", "empty"),
        ("/a.txt", b'{"a": 1}\n', "json"),
        ("/a.json", b"3\n", "json"),
        ("/a.txt", b"3\n", "text"),
        ("/a.json", b"{a: 1}", "text"),
        ("/a.json", b'{"a": NaN}', "text"),
        ("/a.log", b'{"a": 1}\n{"a": 2}\n', "json"),
        ("/a", b"[section]\n", "text"),
        ("/a.yaml", b"a: 1\n", "yaml"),
        ("/a.yml", b"a: [\n", "text"),
        ("/a.yaml", b"just words\n", "text"),
        ("/a.toml", b"a = 1\n", "toml"),
        ("/a.toml", b"a = \n", "text"),
        ("/a", b"<?xml version='1.0'?><a/>", "xml"),
        ("/a.html", b"<p>one<p>two", "text"),
        ("/a.xml", b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "text"),
        ("/a.csv", b"n\n1\n2\n", "table"),
        ("/a.csv", b"a;b\n1;2\n", "table"),
        ("/a.csv", b"a,b\n1\n", "text"),
        ("/a.txt", b"name,age\nAnn,3\nBob,4\n", "table"),
        ("/a.txt", b"Dear Ann, hello\nDear Bob, goodbye\nI am, yours\n", "text"),
        ("/a.py", b"[1, 2]\n", "code"),
        ("/a", b"#!/usr/bin/env python3\nprint(1)\n", "code"),
        ("/Makefile", b"all:\n\ttrue\n", "code"),
        ("/a.txt", making.DATABASE, "sqlite"),
        ("/a.txt", making.OFFICE, "office"),
        ("/a.xlsx", making.FIXED["/app/pack.zip"], "archive"),
        ("/a", gzip.compress(b"x", mtime=0), "archive"),
        ("/a.txt", b"PK\x03\x04 and no more", "archive"),
        ("/a.txt", b"\0\1\2", "binary"),
        ("/a.txt", b"caf\xe9\n", "binary"),
    ],
)
def test_a_content_is_sorted(path, data, kind):
    assert kind_of(path, data) == kind


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        ("/a", b"#!/bin/sh -e\n", "shell"),
        ("/a", b"#!/usr/bin/env -S bash -x\n", "shell"),
        ("/a", b"#!/usr/bin/python3.11\n", "python"),
        ("/a", b"#!/usr/bin/env node\n", "script"),
        ("/a", b"#!/usr/bin/perl\n", "hash"),
        ("/a", b"#!\n", "hash"),
        ("/a.py", b"", "python"),
        ("/a.rs", b"", "c"),
        ("/.bashrc", b"", "shell"),
        ("/a.txt", b"", ""),
    ],
)
def test_a_language_is_told_by_the_first_line_or_the_name(path, head, language):
    assert language_of(path, head) == language


@given(st.text("/ab.csvjsonyml", max_size=8), st.binary(max_size=200))
def test_any_bytes_have_a_kind(name, data):
    assert kind_of(f"/{name}", data) in FILE_KINDS


@given(st.sampled_from(sorted(making.FIXED)), st.integers(0, 300), st.integers(0, 255))
def test_damaged_contents_have_a_kind(path, place, byte):
    data = bytearray(making.FIXED[path])
    if data:
        data[place % len(data)] = byte
    assert kind_of(path, bytes(data)) in FILE_KINDS
