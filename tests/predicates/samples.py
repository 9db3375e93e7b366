"""For each predicate that needs only bytes: claims, states on which they hold, and near misses."""

from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from aespec.runtime.memory import MemoryState, Node

LEDGER = b'{"rent": 1200, "food": {"shop": [1.5, 2], "note": "caf\xc3\xa9"}, "closed": true, "left": null}\n'
LEDGER_VALUE = {"rent": 1200, "food": {"shop": [1.5, 2], "note": "café"}, "closed": True, "left": None}
CSV = b"name,amount,day,paid\nann,3,2024-02-29,true\nbob,4.50,2024-03-01,false\n"
ROWS = [
    {"name": "ann", "amount": 3, "day": "2024-02-29", "paid": True},
    {"name": "bob", "amount": 4.5, "day": "2024-03-01", "paid": False},
]
TYPES = {"day": "date"}


def facts(data: bytes, mode: int = 0o644) -> dict[str, Any]:
    return {"kind": "file", "sha256": sha256(data).hexdigest(), "mode": mode}


BASELINE = {
    "/app": {"kind": "folder"},
    "/app/a.txt": facts(b"one\n"),
    "/app/sub/b.bin": facts(b"\0\xff"),
    "/app/cur": {"kind": "link", "link": "a.txt"},
    "/app/.git/index": facts(b"index"),
    "/app/out": facts(b""),
}
KEPT = {"/app/a.txt": b"one\n", "/app/sub/b.bin": b"\0\xff", "/app/.git/index": b"index", "/app/out": b""}


@dataclass(frozen=True)
class Sample:
    predicate: str
    args: dict[str, Any]
    files: dict[str, bytes | Node]
    misses: list[dict[str, bytes | Node | None]] = field(default_factory=list)
    also: list[dict[str, bytes | Node | None]] = field(default_factory=list)
    """`misses` break the claim, `also` keep it; each changes the files."""

    @property
    def state(self) -> MemoryState:
        return MemoryState({path: node(item) for path, item in self.files.items()}, baseline=BASELINE)

    def changed(self, change: dict[str, bytes | Node | None]) -> MemoryState:
        return self.state.with_nodes({path: node(item) for path, item in change.items()})


def node(item: bytes | Node | None) -> Node | None:
    return Node(data=item) if isinstance(item, bytes) else item


def one(path: str, *contents: bytes | Node | None) -> list[dict[str, bytes | Node | None]]:
    return [{path: item} for item in contents]


P = "/app/x.json"
JSON = [
    Sample(
        "json",
        {"path": P, "equals": LEDGER_VALUE},
        {P: LEDGER},
        one(
            P,
            LEDGER.replace(b"1200", b"1201"),
            LEDGER.replace(b"1200", b'"1200"'),
            LEDGER.replace(b"true", b"1"),
            LEDGER.replace(b"null", b"false"),
            LEDGER.replace(b"[1.5, 2]", b"[2, 1.5]"),
            LEDGER.replace(b"[1.5, 2]", b"[1.5]"),
            LEDGER.replace(b"[1.5, 2]", b"[1.5, 2, 2]"),
            LEDGER.replace(b', "left": null', b""),
            LEDGER.replace(b"}\n", b', "more": 1}'),
            LEDGER.replace(b'"rent": 1200', b'"rent": 1, "rent": 1200'),
            LEDGER.replace(b"\xc3\xa9", b"e"),
            LEDGER + b"x",
            LEDGER.replace(b"1200", b"NaN"),
            LEDGER.replace(b"\xc3\xa9", b"\xe9"),
            b"",
            b"[" * 100_000,
            b"[" * 300 + b"]" * 300,
            b"1" * 1_000_000,
            b"\0" * 100,
            b" " * (17 * 1024 * 1024),
            Node("folder"),
            Node("link", target="/nowhere"),
            Node("other"),
            None,
        ),
        one(
            P,
            LEDGER.replace(b"1200", b"1200.0"),
            LEDGER.replace(b"1200", b"1.2e3"),
            LEDGER.replace(b"\xc3\xa9", b"\\u00e9"),
            b"\xef\xbb\xbf" + LEDGER,
            LEDGER.replace(b" ", b"\r\n "),
            b'{"left": null, "closed": true, "food": {"note": "caf\\u00e9", "shop": [15e-1, 2]},'
            b' "rent": 1200}',
        ),
    ),
    Sample(
        "json",
        {"path": f"{P}#/food/shop", "equals": [2, 1.5], "unordered": [""]},
        {P: LEDGER},
        one(
            P,
            LEDGER.replace(b"[1.5, 2]", b"[1.5, 2, 2]"),
            LEDGER.replace(b"[1.5, 2]", b"[2, 2]"),
            LEDGER.replace(b"[1.5, 2]", b"[1.5]"),
            LEDGER.replace(b"shop", b"Shop"),
            LEDGER.replace(b"[1.5, 2]", b'"1.5, 2"'),
        ),
        one(P, LEDGER.replace(b"[1.5, 2]", b"[2.0, 1.5]"), LEDGER.replace(b"1200", b"7")),
    ),
    Sample(
        "json",
        {
            "path": P,
            "equals": {"a": [{"b": 1.0, "t": ["x", "y"]}, {"b": 2.0, "t": []}], "z": 100.0},
            "unordered": ["/a", "/a/*/t"],
            "tolerance": 0.01,
            "extra_keys": "allowed",
            "free": ["/when"],
        },
        {P: b'{"a": [{"b": 2, "t": []}, {"b": 1.01, "t": ["y", "x"]}], "z": 99.99, "when": 3}'},
        one(
            P,
            b'{"a": [{"b": 2, "t": []}, {"b": 1.02, "t": ["y", "x"]}], "z": 100}',
            b'{"a": [{"b": 1, "t": []}, {"b": 2, "t": ["y", "x"]}], "z": 100}',
            b'{"a": [{"b": 2, "t": []}, {"b": 1, "t": ["y", "y"]}], "z": 100}',
            b'{"a": [{"b": 2, "t": []}, {"b": 1, "t": ["y", "x"]}], "z": 100.02}',
            b'{"a": [{"b": 2, "t": []}, {"b": 1, "t": ["y", "x"]}]}',
            b'{"a": [{"b": 2, "t": []}], "z": 100}',
        ),
        one(P, b'{"a": [{"b": 1, "t": ["y", "x"], "more": 1}, {"b": 2, "t": []}], "z": 100, "more": {}}'),
    ),
    Sample(
        "json",
        {"path": f"{P}#/n", "type": "integer"},
        {P: b'{"n": 3.0}'},
        one(P, b'{"n": 3.5}', b'{"n": "3"}', b'{"n": true}', b'{"n": null}', b'{"m": 3}', b"[3]"),
        one(P, b'{"n": -7}'),
    ),
    Sample(
        "json",
        {"path": P, "equals": 1e10, "relative": 0.01},
        {P: b"10050000000"},
        one(P, b"10100000001", b"9899999999", b"-10000000000", b'"10000000000"', b"1e400", b"true"),
        one(P, b"10100000000", b"99e8"),
    ),
]

F = "/app/f.bin"
FILE = [
    Sample(
        "file",
        {"path": F, "content": "hi\n"},
        {F: b"hi\n"},
        one(F, b"hi", b"hi\r\n", b"Hi\n", b"hi\n\n", b"", b"\xef\xbb\xbfhi\n", Node("folder"), None),
    ),
    Sample(
        "file",
        {"path": F},
        {F: b""},
        one(F, Node("folder"), Node("link", target="no"), Node("other"), None) + one("/app", b"file"),
        [{F: Node("link", target="g"), "/app/g": b""}],
    ),
    Sample(
        "file",
        {"path": F, "sha256": sha256(b"x").hexdigest(), "mode": "0755", "min_size": 1, "max_size": 1},
        {F: Node(data=b"x", mode=0o755)},
        one(
            F,
            Node(data=b"y", mode=0o755),
            b"x",
            Node(data=b"", mode=0o755),
            Node(data=b"xx", mode=0o755),
            None,
        ),
    ),
    Sample(
        "file",
        {"path": F, "min_size": 2, "max_size": 3},
        {F: b"abc"},
        one(F, b"a", b"abcd", b"", None) + one(F, Node("folder")),
        one(F, b"zz"),
    ),
    Sample(
        "file",
        {"path": F, "kind": "absent"},
        {"/app/g": b""},
        one(F, b"", b"x", Node("folder"), Node("link", target="/nowhere"), Node("other")),
    ),
    Sample(
        "file",
        {"path": "/app", "kind": "folder"},
        {F: b""},
        one("/app", b"", None, Node("link", target="/no"), Node("other"), Node("link", target="app")),
    ),
    Sample(
        "file",
        {"path": F, "kind": "link", "target": "g"},
        {F: Node("link", target="g")},
        one(F, Node("link", target="./g"), Node("link", target="/app/g"), b"g", Node("folder"), None),
    ),
]

T = "/app/t.txt"
TEXT = [
    Sample(
        "text",
        {"path": T, "equals": "one two\n\ncafé\n"},
        {T: "one two\n\ncafé\n".encode()},
        one(
            T,
            b"one two\n\ncafe\n",
            "one two\ncafé\n".encode(),
            "one  two\n\ncafé\n".encode(),
            " one two\n\ncafé\n".encode(),
            "not one two\n\ncafé\n".encode(),
            "one two\n\ncafé\nx\n".encode(),
            "one two\n\ncafé".encode("latin-1"),
            b"",
            None,
        ),
        one(
            T,
            "one two\r\n\r\ncafé".encode(),
            "one two \n\t\ncafé\n\n\n".encode(),
            "\ufeffone two\n\ncafé".encode(),
            "one two\n\ncafe\u0301\n".encode(),
        ),
    ),
    Sample(
        "text",
        {"path": T, "lines": ["a b", "c", "c"], "order": "any"},
        {T: b"c\na b\nc\n"},
        one(
            T, b"c\na b\n", b"c\na b\nc\nc\n", b"c\na  b\nc\n", b"c\na b\nC\n", b"c c a b\n", b"c\n\na b\nc\n"
        ),
        one(T, b"a b\nc\nc"),
    ),
    Sample(
        "text",
        {"path": T, "contains_line": "answer = 3", "lacks_line": ["answer = 4"], "count": 3},
        {T: b"x\nanswer = 3\ny\n"},
        one(
            T,
            b"x\nanswer = 33\ny\n",
            b"x\nnot answer = 3\ny\n",
            b"x\nanswer = 3 answer = 4\ny\n",
            b"answer = 4\nanswer = 3\ny\n",
            b"x\nanswer = 3\n",
            b"x\nanswer = 3\ny\nz\n",
        ),
        one(T, b"answer = 3\nz\nq"),
    ),
    Sample(
        "text",
        {"path": T, "matches": r"[0-9]+(\.[0-9]{2})?"},
        {T: b"12.50\n"},
        one(T, b"12.5\n", b"x12\n", b"12 \n13\n", b"-12\n", b"", b"twelve\n"),
        one(T, b"7", b"7  \r\n"),
    ),
    Sample(
        "text",
        {"path": T, "equals": "a\n", "trim": "none"},
        {T: b"a\n"},
        one(T, b"a", b"a\r\n", b"a \n", b"a\n\n", b" a\n", b"A\n"),
    ),
    Sample(
        "text",
        {"path": T, "equals": "a\n b", "trim": "all"},
        {T: b"\n  a\t\nb\n"},
        one(T, b"a b\n", b"a\n\nb\n", b"b\na\n", b"a\n", b"a\nbb\n"),
        one(T, b"a\nb"),
    ),
    Sample(
        "text",
        {"path": T, "lines": ["a ", "b"], "trim": "final"},
        {T: b"a \nb\n\n"},
        one(T, b"a\nb\n", b"a \n\nb\n", b"b\na \n", b"a \nb \n", b"a \n"),
        one(T, b"a \r\nb"),
    ),
]

C = "/app/t.csv"
TABLE = [
    Sample(
        "table",
        {"path": C, "equals": ROWS, "types": TYPES},
        {C: CSV},
        one(
            C,
            CSV.replace(b"3,", b"3.1,"),
            CSV.replace(b"ann", b"Ann"),
            CSV.replace(b"02-29", b"02-28"),
            CSV.replace(b"02-29", b"02-30"),
            CSV.replace(b"true", b"yes"),
            CSV.replace(b"true", b"false"),
            CSV.replace(b"amount", b"Amount"),
            CSV.replace(b"3,", b",").replace(b"4.50", b"3"),
            CSV.replace(b"4.50", b"4.50 EUR"),
            CSV.replace(b"4.50", b"NaN"),
            CSV.replace(b"4.50", b'"4,50"'),
            b"\n".join(CSV.splitlines()[:2]),
            b"\n".join(CSV.splitlines()[i] for i in (0, 2, 1)),
            CSV + CSV.splitlines()[2],
            CSV.replace(b"paid", b"paid,more").replace(b"true", b"true,1").replace(b"false", b"false,1"),
            CSV.replace(b",true", b""),
            b"\n".join(CSV.splitlines()[1:]),
            CSV.replace(b",", b";"),
            CSV.replace(b"ann", b"a\0n"),
            CSV.replace(b"ann", b'"ann'),
            CSV.replace(b"ann", b"\xff"),
            CSV.replace(b"name", b"amount"),
            CSV + b"\n" + b"x" * 200_000,
            b"",
            None,
        ),
        one(
            C,
            CSV.replace(b"\n", b"\r\n"),
            b"\xef\xbb\xbf" + CSV.rstrip(),
            CSV.replace(b"ann", b'"ann"').replace(b"3,", b'"3.00",'),
            CSV.replace(b"true", b"True").replace(b"2024-02-29", b"20240229"),
            b"day,paid,name,amount\n2024-02-29,true,ann,+3\n2024-03-01,FALSE,bob,45e-1\n",
        ),
    ),
    Sample(
        "table",
        {
            "path": "/app/t.tsv",
            "columns": ["k", "n"],
            "column_order": "given",
            "equals": [["a", 1], ["b", None]],
            "order": "any",
            "extra_columns": "allowed",
            "tolerance": 0.5,
        },
        {"/app/t.tsv": b"k\tn\tz\nb\t\t1\na\t1.5\t\n"},
        one(
            "/app/t.tsv",
            b"k\tn\nb\t\na\t1.6\n",
            b"k\tn\na\t\nb\t1\n",
            b"n\tk\n\tb\n1\ta\n",
            b"k\tn\na\t1\n",
            b"k\tn\na\t1\nb\t0\n",
            b"k,n\na,1\nb,\n",
        ),
        one("/app/t.tsv", b"k\tn\na\t0.5\nb\t\n", b"q\tk\tn\n\ta\t1\n\tb\t\n"),
    ),
    Sample(
        "table",
        {"path": C, "header": False, "equals": [["a", 1], ["b", 2]], "delimiter": ";"},
        {C: b"a;1\nb;2\n"},
        one(
            C, b"a;1\nb;3\n", b"a;1\n", b"a;1;\nb;2;\n", b"k;n\na;1\nb;2\n", b"a,1\nb,2\n", b"b;2\na;1\n", b""
        ),
        one(C, b"a;1.0\n\nb;2"),
    ),
    Sample(
        "table",
        {"path": C, "columns": ["a", "b"], "count": 2},
        {C: b"b,a\n1,2\n3,4\n"},
        one(
            C,
            b"b,a\n1,2\n",
            b"b,c\n1,2\n3,4\n",
            b"b,a,c\n1,2,\n3,4,\n",
            b"b,a\n1,2\n3\n",
            b"a,b\n",
            b"b,a,a\n1,2,2\n3,4,4\n",
        ),
        one(C, b"a,b\nx,y\nz,\n"),
    ),
]

UNCHANGED = [
    Sample(
        "unchanged",
        {"path": "/app"},
        {**KEPT, "/app/cur": Node("link", target="a.txt")},
        [
            {"/app/a.txt": b"one"},
            {"/app/a.txt": None},
            {"/app/a.txt": Node("folder")},
            {"/app/a.txt": Node(data=b"one\n", mode=0o755)},
            {"/app/a.txt": Node("link", target="/other"), "/other": b"one\n"},
            {"/app/sub": None},
            {"/app/sub/b.bin": b"\0\xfe"},
            {"/app/cur": Node("link", target="sub")},
            {"/app/cur": b"one\n"},
            {"/app/out": b"x"},
            {"/app": None},
        ],
        [
            {"/app/new": b"x"},
            {"/app/.git/index": b"other"},
            {"/app/.git": None},
            {"/app/a.txt": Node(data=b"one\n", mode=0o600)},
        ],
    ),
    Sample(
        "unchanged",
        {"path": "/app", "strict": True, "except": ["/app/out", "*.tmp"]},
        {**KEPT, "/app/cur": Node("link", target="a.txt")},
        [
            {"/app/new": b""},
            {"/app/sub/deep/new": b""},
            {"/app/a.txt": b""},
            {"/app/outer": b""},
            {"/app/sub/.link": Node("link", target="/")},
        ],
        [
            {"/app/empty": Node("folder")},
            {"/app/out": None},
            {"/app/out": b"x"},
            {"/app/sub/x.tmp": b""},
            {"/app/__pycache__/a.pyc": b""},
        ],
    ),
    Sample(
        "unchanged",
        {"path": "/app/a.txt"},
        {"/app/a.txt": b"one\n"},
        one("/app/a.txt", b"", b"one\n\n", b"One\n", None, Node("link", target="b"), Node("other")),
        [{"/app/b": b""}],
    ),
]

ALL = [*JSON, *FILE, *TEXT, *TABLE, *UNCHANGED]


def name(sample: Sample) -> str:
    return f"{sample.predicate}-{'-'.join(key for key in sample.args if key != 'path')}"
