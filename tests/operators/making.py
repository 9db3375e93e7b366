"""Outputs of every kind, drawn and fixed, and what readers other than the operators' own take from them."""

import ast
import csv
import gzip
import importlib
import io
import json
import re
import sqlite3
import tarfile
import tomllib
import unicodedata
import zipfile
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

from hypothesis import strategies as st

from aespec.operators.api import Output, Scene
from aespec.operators.kinds import kind_of
from aespec.runtime.memory import Node

PYTHON = '''\
#!/usr/bin/env python3
"""Totals."""
import sys

LIMIT = 10


def total(rows, rate):
    """The sum below the limit."""
    acc = 0
    for row in rows:
        if row["n"] < LIMIT and not row.get("skip"):
            acc += row["n"] * rate
        else:
            continue
    try:
        acc = max(acc, rate)
    except ValueError:
        acc = -1
    return acc


def half(one, other):
    middle = one + other  # both
    result = middle / 2
    return result


if __name__ == "__main__":
    print(total([{"n": 3}], 2), half(1, 2), "ä", file=sys.stderr)
'''
SHELL = """\
#!/bin/bash
set -e
# how many
count=3
if [ "$1" -lt 5 ]; then
    echo "small $count"
    rm -f /tmp/x
fi
cat > /tmp/y <<EOF
rm -rf 7
EOF
mkdir -p /out
"""
GO = """\
package main

import "fmt"

// add adds 3 numbers
func add(a int, b int) int {
	if a < 3 && b != 0 {
		return a - b
	}
	fmt.Println("3 < 4")
	return a + b
}
"""
SHEET = (
    '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"><f>SUM(C1:C2)</f><v>12.5</v></c>'
    "</row></sheetData></worksheet>"
)


def database(script: str) -> bytes:
    """An SQLite database made by a script."""
    with TemporaryDirectory() as folder:
        place = Path(folder) / "made"
        connection = sqlite3.connect(place)
        connection.executescript(script)
        connection.close()
        return place.read_bytes()


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as container:
        for name, data in files.items():
            container.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def tarred(files: dict[str, bytes], mode: str = "w:gz") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as container:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            container.addfile(entry, io.BytesIO(data))
    made = stream.getvalue()
    # The time of packing stands in a gzip header; these bytes are to be the same in each run.
    return made[:4] + bytes(4) + made[8:] if mode == "w:gz" else made


DATABASE = database(
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, name TEXT, total REAL);"
    "INSERT INTO orders (name, total) VALUES ('Ann', 1.5), ('Bob', 2), ('Cyd', 3.25);"
    "CREATE TABLE kinds (code TEXT UNIQUE, weight);"
    "INSERT INTO kinds VALUES ('q', 1), ('r', NULL), ('s', x'00ff');"
    "CREATE TRIGGER forbid BEFORE DELETE ON orders BEGIN SELECT RAISE(ABORT, 'no'); END;"
    "CREATE TABLE pairs (one TEXT, other INT, PRIMARY KEY (one, other)) WITHOUT ROWID;"
    "INSERT INTO pairs VALUES ('a', 1);"
)
OFFICE = zipped(
    {
        "[Content_Types].xml": b"<Types/>",
        "xl/sharedStrings.xml": b"<sst><si><t>Total amount</t></si></sst>",
        "xl/worksheets/sheet1.xml": SHEET.encode(),
    }
)
DOCUMENT = zipped(
    {
        "[Content_Types].xml": b"<Types/>",
        "word/document.xml": b'<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>Dear Ann,</w:t></w:r></w:p>'
        b"<w:p><w:r><w:t>you owe 12 pounds.</w:t></w:r></w:p></w:body></w:document>",
    }
)

FIXED: dict[str, bytes] = {
    "/app/out.json": (
        '{\n  "total": 12.50,\n  "names": ["ann", "bob"],\n  "ok": true,\n  "none": null,\n'
        '  "city": "Köln",\n  "items": [{"id": "a1", "v": 3}, {"id": "a2", "v": 7.125}]\n}\n'
    ).encode(),
    "/app/rows.jsonl": b'{"a": 1, "b": "x"}\n{"a": 2, "b": "true"}\n{"a": 3, "b": "z"}\n',
    "/app/amounts.csv": b"id,name,amount\n1,Ann,3.25\n2,Bob,9\n3,Cyd,10.50\n",
    "/app/plain.tsv": b"a\tb\n1\tx y\n2\tz\n",
    "/app/answer.txt": b"The answer is 42, found in block 7.\n",
    "/app/list.txt": "alpha\nbeta\ngämma\n".encode(),
    "/app/prose.md": b"# Report\n\nAll 3 tests passed, the mean was 0.12345.\nNo error was found.\n",
    "/app/conf.yaml": b'name: web\nports:\n  - 80\n  - 443\nenv:\n  debug: false\n  level: "info"\n',
    "/app/conf.toml": b'[a]\nx = 1.50\ny = "two"\n[b]\nz = [1, 2]\non = true\n',
    "/app/data.xml": b'<a id="1" kind="v"><b>text</b><b>3.50</b><c on="true"/></a>\n',
    "/app/total.py": PYTHON.encode(),
    "/app/run.sh": SHELL.encode(),
    "/app/main.go": GO.encode(),
    "/app/shop.db": DATABASE,
    "/app/pack.zip": zipped({"x/a.txt": b"hello world", "b.bin": b"\0\1\2\3"}),
    "/app/pack.tar.gz": tarred({"q.txt": b"some words", "r": b"3"}),
    "/app/words.gz": gzip.compress(b"plain words here\n", mtime=0),
    "/app/sheet.xlsx": OFFICE,
    "/app/letter.docx": DOCUMENT,
    "/app/picture": bytes(range(256)),
    "/app/nothing": b"",
}
BEFORE: dict[str, bytes] = {
    "/app/total.py": PYTHON.replace(" * rate", "").replace("LIMIT = 10", "LIMIT = 9").encode(),
    "/app/conf.yaml": b"name: old\nports:\n  - 80\nenv:\n  debug: true\n",
    "/app/shop.db": database(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, name TEXT, total REAL);"
        "INSERT INTO orders (name, total) VALUES ('Ann', 1), ('Bob', 2), ('Cyd', 3.25), ('Dan', 4);"
    ),
}


def output(path: str, data: bytes, before: bytes | None = None, mode: int = 0o644) -> Output:
    return Output(
        path,
        kind_of(path, data),
        None if before is None else Node(data=before, mode=mode),
        Node(data=data, mode=mode),
    )


def fixed_scene(instruction: str = "Write all of it below /app, sorted by id.") -> Scene:
    """One output of each sort, a link, and a file that was deleted."""
    outputs = [output(path, data, BEFORE.get(path)) for path, data in FIXED.items()]
    outputs.append(
        Output("/app/link", "link", Node("link", target="/old"), Node("link", target="/app/list.txt"))
    )
    outputs.append(Output("/app/gone", "deleted", Node(data=b"old\n", mode=0o600), None))
    return Scene(
        tuple(outputs), {"/app/in.txt": b"delta 41\nepsilon 43\n", "/app/in.csv": b"id\n1\n"}, instruction
    )


def value_of(kind: str, path: str, data: bytes) -> object:
    """What other readers take from a content, to be compared; `unreadable` where they can't read it."""
    try:
        return _READERS[kind](path, data)
    except (ValueError, SyntaxError, KeyError, OSError, EOFError, csv.Error, ET.ParseError, sqlite3.Error,
            zipfile.BadZipFile, tarfile.TarError, zlib.error, IndexError):  # fmt: skip
        return ("unreadable", data)


def _typed(value: object) -> object:
    """1 and true apart, 1 and 1.0 alike."""
    if isinstance(value, dict):
        return {str(key): _typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if isinstance(value, float) and value != value:
        return "not a number"
    return (
        value
        if isinstance(value, int | float) and not isinstance(value, bool)
        else (type(value).__name__, value)
    )


def _of_json(path: str, data: bytes) -> object:
    text = data.decode("utf-8-sig")
    try:
        return _typed(json.loads(text))
    except ValueError:
        return ["lines", *(_typed(json.loads(line)) for line in text.splitlines() if line.strip())]


def _of_text(path: str, data: bytes) -> object:
    text = unicodedata.normalize("NFC", data.decode("utf-8-sig"))
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _of_table(path: str, data: bytes) -> object:
    text = data.decode("utf-8-sig")
    delimiter = "\t" if path.endswith(".tsv") else ","
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    if any(len(row) != len(rows[0]) for row in rows):
        raise ValueError
    return [
        [float(cell) if re.fullmatch(r"[+-]?\d*\.\d*", cell) and cell not in "+.-" else cell for cell in row]
        for row in rows
    ]


def _of_yaml(path: str, data: bytes) -> object:
    yaml = importlib.import_module("yaml")
    try:
        return _typed(yaml.safe_load(data.decode()))
    except yaml.YAMLError:
        raise ValueError from None


def _of_xml(path: str, data: bytes) -> object:
    def told(element: ET.Element) -> object:
        texts = (" ".join((text or "").split()) for text in (element.text, element.tail))
        return (element.tag, sorted(element.attrib.items()), *texts, [told(child) for child in element])

    return told(ET.fromstring(data))


def _of_database(path: str, data: bytes) -> object:
    with TemporaryDirectory() as folder:
        place = Path(folder) / "copy"
        place.write_bytes(data)
        connection = sqlite3.connect(place)
        try:
            names = [
                row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ]
            return {
                name: sorted(map(repr, connection.execute(f"SELECT * FROM {quoted(name)}").fetchall()))
                for name in names
            }
        finally:
            connection.close()


def _of_archive(path: str, data: bytes) -> object:
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as container:
            return sorted((name, container.read(name)) for name in container.namelist())
    inner = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    if inner[257:262] != b"ustar":
        return inner
    with tarfile.open(fileobj=io.BytesIO(inner)) as container:
        return sorted(
            (entry.name, container.extractfile(entry).read()) for entry in container if entry.isreg()
        )


def _of_code(path: str, data: bytes) -> object:
    """Python without docstrings and the spelling of local names; of other languages the lines that aren't
    comments.
    """
    if not path.endswith(".py"):
        lines = [line.strip() for line in data.decode().split("\n")]
        return [line for line in lines if line and not line.startswith(("# ", "//"))]
    tree = ast.parse(data)
    for node in ast.walk(tree):
        if isinstance(getattr(node, "body", None), list):
            node.body = [
                item
                for item in node.body
                if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))
            ]
    text = ast.dump(tree)
    for name in ("middle", "result"):
        text = text.replace(f"'{name}_value'", f"'{name}'")
    return text


_READERS = {
    "json": _of_json,
    "text": _of_text,
    "table": _of_table,
    "yaml": _of_yaml,
    "toml": lambda path, data: _typed(tomllib.loads(data.decode().replace("\r\n", "\n"))),
    "xml": _of_xml,
    "sqlite": _of_database,
    "archive": _of_archive,
    "office": _of_archive,
    "code": _of_code,
    "binary": lambda path, data: data,
    "empty": lambda path, data: data,
}

WORDS = st.text("abcdeXYZäé 0123", min_size=1, max_size=8).map(str.strip).filter(bool)
SCALARS = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6) | WORDS
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
).filter(lambda value: isinstance(value, dict | list))
CELLS = (
    st.text("ab,\"'1 .5-é", max_size=5)
    | st.integers(-99, 999).map(str)
    | st.floats(-9, 99).map("{:.2f}".format)
)


@st.composite
def json_files(draw):
    document = draw(DOCUMENTS)
    indent = draw(st.sampled_from([None, 2, 4]))
    return "/app/x.json", json.dumps(document, indent=indent, ensure_ascii=draw(st.booleans())).encode()


@st.composite
def line_files(draw):
    documents = draw(st.lists(st.dictionaries(WORDS, SCALARS, max_size=3), min_size=2, max_size=5))
    return "/app/x.jsonl", "".join(json.dumps(item) + "\n" for item in documents).encode()


@st.composite
def text_files(draw):
    lines = draw(st.lists(st.lists(WORDS, max_size=5).map(" ".join), min_size=1, max_size=6))
    return "/app/x.txt", "\n".join(lines).encode() + draw(st.sampled_from([b"", b"\n"]))


@st.composite
def table_files(draw):
    columns = draw(st.lists(st.text("abcd", min_size=1, max_size=3), min_size=1, max_size=4, unique=True))
    rows = draw(st.lists(st.tuples(*(CELLS for _ in columns)), min_size=1, max_size=5))
    stream = io.StringIO(newline="")
    quoting = draw(st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
    csv.writer(stream, lineterminator=draw(st.sampled_from(["\n", "\r\n"])), quoting=quoting).writerows(
        [columns, *rows]
    )
    return "/app/x.csv", stream.getvalue().encode()


@st.composite
def yaml_files(draw):
    yaml = importlib.import_module("yaml")
    document = draw(DOCUMENTS)
    flow = draw(st.sampled_from([None, False, True]))
    return "/app/x.yaml", yaml.safe_dump(document, default_flow_style=flow, allow_unicode=True).encode()


@st.composite
def toml_files(draw):
    keys = st.text("abcd", min_size=1, max_size=3)
    scalars = st.booleans() | st.integers(-999, 999) | st.floats(-99, 99) | WORDS
    values = scalars | st.lists(st.integers(0, 9), max_size=3)
    made = []
    for table in draw(st.lists(keys, min_size=1, max_size=3, unique=True)):
        made.append(f"[{table}]  # {table}")
        settings = draw(st.dictionaries(keys, values, max_size=4))
        made += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in settings.items()]
    return "/app/x.toml", "\n".join([*made, ""]).encode()


@st.composite
def xml_files(draw):
    names = st.sampled_from(["a", "b", "c"])

    def element(depth):
        made = ET.Element(draw(names), draw(st.dictionaries(names, WORDS, max_size=2)))
        made.text = draw(st.none() | WORDS)
        for _ in range(draw(st.integers(0, 2)) if depth else 0):
            made.append(element(depth - 1))
        return made

    return "/app/x.xml", ET.tostring(element(2), encoding="utf-8")


@st.composite
def databases(draw):
    with TemporaryDirectory() as folder:
        place = Path(folder) / "made"
        connection = sqlite3.connect(place)
        for name in draw(st.lists(st.sampled_from(["t", "u v", 'q"x']), min_size=1, max_size=2, unique=True)):
            connection.execute(f"CREATE TABLE {quoted(name)} (id INTEGER PRIMARY KEY, a, b UNIQUE)")
            rows = draw(
                st.lists(st.tuples(SCALARS, st.integers(0, 99)), max_size=5, unique_by=lambda row: row[1])
            )
            connection.executemany(f"INSERT INTO {quoted(name)} (a, b) VALUES (?, ?)", rows)
        connection.commit()
        connection.close()
        return "/app/x.db", place.read_bytes()


@st.composite
def archives(draw):
    files = draw(
        st.dictionaries(WORDS, st.binary(max_size=20) | WORDS.map(str.encode), min_size=1, max_size=3)
    )
    if draw(st.booleans()):
        return "/app/x.zip", zipped(files)
    return "/app/x.tar", tarred(files, draw(st.sampled_from(["w", "w:gz"])))


@st.composite
def programs(draw):
    number, other = draw(st.integers(0, 99)), draw(st.integers(0, 99))
    text = PYTHON.replace("10", str(number)).replace("/ 2", f"/ {other}")
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return "/app/x.py", text.encode()


EVERY_KIND = (
    json_files, line_files, text_files, table_files, yaml_files, toml_files, xml_files, databases, archives,
    programs,
)  # fmt: skip
