"""What kind of content a file holds: its bytes decide first, its name only among what they leave open."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile

from aespec.operators.formats import config_text, json_text, xml_text
from aespec.operators.formats.tables import delimiter_of, ending_of

LIMIT_BYTES = 4 * 1024 * 1024
"""Larger files are sorted by their first bytes alone: text is then plain text, whatever form it has."""

SQLITE_MAGIC = b"SQLite format 3\0"
ARCHIVE_MAGICS = (b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0")

LANGUAGES = {
    "py": "python",
    "pyi": "python",
    "sh": "shell",
    "bash": "shell",
    "zsh": "shell",
    "js": "script",
    "mjs": "script",
    "cjs": "script",
    "jsx": "script",
    "ts": "script",
    "tsx": "script",
    "c": "c",
    "h": "c",
    "cc": "c",
    "cpp": "c",
    "hpp": "c",
    "cu": "c",
    "cs": "c",
    "java": "c",
    "kt": "c",
    "scala": "c",
    "swift": "c",
    "go": "c",
    "rs": "c",
    "zig": "c",
    "php": "c",
    "v": "c",
    "sv": "c",
    "rb": "hash",
    "pl": "hash",
    "pm": "hash",
    "r": "hash",
    "jl": "hash",
    "awk": "hash",
    "sed": "hash",
    "mk": "hash",
    "cmake": "hash",
    "tcl": "hash",
    "sql": "dashes",
    "lua": "dashes",
    "hs": "dashes",
}
"""By a file's ending the language, as far as telling statements from comments takes it."""

NAMES = {
    "makefile": "hash",
    "gnumakefile": "hash",
    "dockerfile": "hash",
    "cmakelists.txt": "hash",
    ".bashrc": "shell",
    ".profile": "shell",
}
INTERPRETERS = {
    "python": "python",
    "pypy": "python",
    "sh": "shell",
    "bash": "shell",
    "dash": "shell",
    "zsh": "shell",
    "ksh": "shell",
    "node": "script",
    "deno": "script",
    "lua": "dashes",
}

_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def kind_of(path: str, data: bytes) -> str:
    """The kind of a regular file's content, of `aespec.operators.api.KINDS`; never raises."""
    if not data:
        return "empty"
    if data.startswith(SQLITE_MAGIC):
        return "sqlite"
    if data.startswith(ARCHIVE_MAGICS) or data[257:262] == b"ustar":
        return "office" if _is_office(data) else "archive"
    text = text_of(data)
    if text is None:
        return "binary"
    if len(data) > LIMIT_BYTES:
        return "code" if language_of(path, data) else "text"
    return _kind_of_text(path, text)


def text_of(data: bytes) -> str | None:
    """The characters of a text in UTF-8, without a byte order mark; None for anything else."""
    if _CONTROLS.search(data):
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text.removeprefix("\ufeff")


def _kind_of_text(path: str, text: str) -> str:
    ending = ending_of(path)
    if not text.strip():
        return "text"
    if language_of(path, text.encode()):
        return "code"
    is_named_json = ending in ("json", "jsonl", "ndjson", "ipynb", "geojson")
    if (is_named_json or text.lstrip()[0] in "[{") and json_text.is_json(text):
        return "json"
    if ending in ("yaml", "yml") and config_text.is_yaml(text):
        return "yaml"
    if ending == "toml" and config_text.is_toml(text):
        return "toml"
    if text.lstrip().startswith("<") and xml_text.is_xml(text):
        return "xml"
    if ending in ("csv", "tsv", "tab", "psv") and delimiter_of(path, text):
        return "table"
    is_nameless = ending in ("", "txt", "out", "dat", "data")
    return "table" if is_nameless and _looks_tabular(text) else "text"


def language_of(path: str, data: bytes) -> str:
    """The language of a program, of `LANGUAGES`, by its first line or its name; "" for what is none."""
    if data.startswith(b"#!"):
        line = data.partition(b"\n")[0].decode("ascii", "replace")
        words = [posixpath.basename(word) for word in re.split(r"[\s!]+", line)]
        names = [word.rstrip("0123456789.") for word in words]
        for name in names:
            if name in INTERPRETERS:
                return INTERPRETERS[name]
        return "hash"
    return LANGUAGES.get(ending_of(path), "") or NAMES.get(posixpath.basename(path).lower(), "")


def _looks_tabular(text: str) -> bool:
    """Whether a text without a telling name is a table: a header of words, and rows of as many cells."""
    lines = text.strip("\n").split("\n")
    delimiter = delimiter_of("", text)
    if not delimiter or len(lines) < 3:
        return False
    header = lines[0].split(delimiter)
    is_header = all(re.fullmatch(r"\w[\w .()/%-]{0,40}", cell.strip('" \r')) for cell in header)
    is_spaced = sum(line.count(f"{delimiter} ") for line in lines) * 2 > sum(map(text.count, delimiter))
    return is_header and not is_spaced and len(set(header)) == len(header)


def _is_office(data: bytes) -> bool:
    """Whether a zip container holds an office document (Office Open XML, OpenDocument), by its members."""
    if not data.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as container:
            names = set(container.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, RuntimeError):
        return False
    return "[Content_Types].xml" in names or {"mimetype", "content.xml"} <= names
