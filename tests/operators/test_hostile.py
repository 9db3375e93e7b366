"""Contents made to break a reader: operators neither raise nor take long nor fill the memory."""

import bz2
import gzip
import io
import json
import lzma
import resource
import subprocess
import sys
import tarfile
import zipfile
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aespec.model.chooser import SeededChooser
from aespec.operators.api import Output, Scene
from aespec.operators.difference import show_difference
from aespec.operators.formats.databases import change_database, read_database
from aespec.operators.leaves import leaves_of
from aespec.operators.registry import all_operators
from aespec.operators.scene import make_scene
from aespec.runtime.memory import Node
from tests.operators import making

MANY = 40_000


def zip_bomb():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as container:
        for number in range(8):
            container.writestr(f"f{number}", bytes(1 << 26))
    return stream.getvalue()


def lying_zip():
    """A member that claims to be four gigabytes."""
    data = bytearray(making.zipped({"a": b"x" * 50}))
    for mark, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = data.find(mark) + offset
        data[at : at + 4] = b"\xf0\xff\xff\xff"
    return bytes(data)


def backward_tar():
    """A member of negative size, which sends a careless reader back to the start."""
    data = bytearray(making.tarred({"a": b"x", "b": b"y"}, "w"))
    data[124:136] = b"\xff" * 12
    return bytes(data)


def many_members():
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as container:
        for number in range(5_000):
            container.addfile(tarfile.TarInfo(str(number)))
    return stream.getvalue()


def aliases():
    """Ten lines of YAML that stand for ten thousand million values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    return "\n".join(lines).encode()


def blanks_in_settings():
    return b"a:" + b" " * 100_000 + b"#\nb: " + b" " * 100_000 + b"x y z\n"


HOSTILE = {
    "deep.json": lambda: b"[" * 100_000,
    "closed.json": lambda: b"[" * 100_000 + b"]" * 100_000,
    "digits.json": lambda: b'{"a": ' + b"9" * 100_000 + b"}",
    "exponent.json": lambda: b'{"a": 1e999999999, "b": 1e-999999999}',
    "wide.json": lambda: json.dumps(list(range(200_000))).encode(),
    "keys.json": lambda: b'{"a": 1, "a": 2}',
    "surrogate.json": lambda: b'{"half": "\\ud800", "\\udfff": 1}',
    "long.txt": lambda: b"x" * 3_000_000,
    "lines.txt": lambda: b"a\n" * 500_000,
    "blank.txt": lambda: b" " * 1_000_000,
    "numbers.txt": lambda: b"1 " * 500_000,
    "exponents.txt": lambda: b"1e99 9e99 1e-99\n",
    "wide.csv": lambda: b"%s\n%s\n" % (b",".join(b"c%d" % n for n in range(MANY)), b",".join([b"1"] * MANY)),
    "tall.csv": lambda: b"a,b\n" + b"1,x\n" * 200_000,
    "quote.csv": lambda: b'a,b\n"' + b"x" * 300_000,
    "twice.csv": lambda: b"a,a\n1,2\n3,4\n",
    "gaps.csv": lambda: b"a,b\n\n1,2\n\n\n3,4\n",
    "headless.csv": lambda: b",\n1,2\n",
    "aliases.yaml": aliases,
    "blanks.yaml": blanks_in_settings,
    "deep.yaml": lambda: b"- " * 20_000 + b"x",
    "flow.yaml": lambda: b"a: " + b"[" * 5_000,
    "tag.yaml": lambda: b"a: !!python/object/apply:os.system ['true']\n",
    "deep.toml": lambda: b"a = " + b"[" * 5_000 + b"]" * 5_000,
    "deep.xml": lambda: b"<a>" * 20_000 + b"</a>" * 20_000,
    "entities.xml": lambda: b'<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "&b;&b;">]><a>&c;</a>',
    "external.xml": lambda: b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
    "attributes.xml": lambda: b"<a " + b" ".join(b'a%d="1"' % n for n in range(5_000)) + b"/>",
    "deep.py": lambda: b"(" * 5_000,
    "minus.py": lambda: b"x = " + b"-" * 50_000 + b"1\n",
    "dots.py": lambda: b"x = a" + b".b" * 50_000 + b"\n",
    "wide.py": lambda: b"".join(b"x%d = %d + y\n" % (n, n) for n in range(5_000)),
    "null.py": lambda: b"a = 1\0\n",
    "latin.py": lambda: b"# -*- coding: latin-1 -*-\nx = '\xc3\xa4' + 1\n",
    "quotes.sh": lambda: b"echo '" + b"x" * 100_000 + b"\n" + b'echo "a\n' * 2_000,
    "comment.c": lambda: b"/*" * 50_000,
    "bomb.zip": zip_bomb,
    "lying.zip": lying_zip,
    "bomb.gz": lambda: gzip.compress(bytes(1 << 26)),
    "bomb.bz2": lambda: bz2.compress(bytes(1 << 26)),
    "bomb.xz": lambda: lzma.compress(bytes(1 << 26)),
    "streams.gz": lambda: gzip.compress(b"") * 20_000,
    "torn.gz": lambda: gzip.compress(b"x" * 1_000)[:-9],
    "backward.tar": backward_tar,
    "many.tar": many_members,
    "head.db": lambda: b"SQLite format 3\0",
    "torn.db": lambda: making.DATABASE[:5_000],
    "damaged.db": lambda: making.DATABASE[:100] + b"\xff" * (len(making.DATABASE) - 100),
    "large.db": lambda: making.DATABASE + bytes(20_000_000),
}


def propose_all(path, data, before=None, limit=2):
    scene = make_scene({path: Node(data=before)} if before is not None else {}, {path: Node(data=data)})
    for output in scene.outputs:
        assert leaves_of(output)
        for _, propose in all_operators():
            for mutant in islice(propose(output, scene, SeededChooser(1)), limit):
                yield scene, mutant


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_contents_are_borne(name):
    """In a process of its own with bounded memory and time, so that a trap is a failure and not a hang."""
    program = (
        "from tests.operators.test_hostile import HOSTILE, propose_all\n"
        "from aespec.operators.difference import show_difference\n"
        f"name = {name!r}\n"
        "count = 0\n"
        "for scene, mutant in propose_all('/app/' + name, HOSTILE[name](), b'old'):\n"
        "    count += 1\n"
        "    if count % 5 == 0:\n"
        "        assert len(show_difference(scene, mutant.edits)) < 20_000\n"
        "assert count >= 5, count\n"
    )

    def bound():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, preexec_fn=bound
    )
    assert done.returncode == 0, done.stderr[-2000:]


@settings(max_examples=30)
@given(
    st.sampled_from([path for path in sorted(making.FIXED) if making.FIXED[path]]),
    st.lists(st.tuples(st.integers(0, 20_000), st.integers(0, 255)), min_size=1, max_size=5),
)
def test_damaged_contents_are_borne(path, damage):
    data = bytearray(making.FIXED[path])
    for place, byte in damage:
        data[place % len(data)] = byte
    for scene, mutant in propose_all(path, bytes(data), making.FIXED[path], limit=1):
        assert show_difference(scene, mutant.edits)


def test_a_database_does_nothing_on_its_own(tmp_path):
    """Triggers, views and defaults that would act, and files that it would reach."""
    other = tmp_path / "other.db"
    made = making.database(
        "CREATE TABLE a (id INTEGER PRIMARY KEY, n);"
        "INSERT INTO a (n) VALUES (1), (2);"
        "CREATE TABLE log (n);"
        "CREATE TRIGGER t AFTER DELETE ON a BEGIN INSERT INTO log VALUES (old.n); END;"
        "CREATE VIEW v AS SELECT load_extension('/tmp/x');"
        "CREATE VIRTUAL TABLE f USING fts5(body);"
    )
    contents = read_database(made)
    assert [rows.name for rows in contents.tables] == ["a", "log"], (
        "neither views nor virtual tables are read"
    )
    changed = read_database(change_database(made, ("DELETE FROM a WHERE id = ?", (1,))))
    assert [len(rows.cells) for rows in changed.tables] == [1, 0], "the trigger didn't fire"
    assert changed.schema == contents.schema, "and it is still there"
    for statement in (
        f"ATTACH '{other}' AS o",
        f"VACUUM INTO '{other}'",
        "SELECT load_extension('/tmp/x')",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
        "SELECT zeroblob(2000000000)",
    ):
        assert change_database(made, (statement, ())) is None, statement
    assert not other.exists()


def test_a_scene_of_many_outputs_is_made():
    nodes = {f"/app/d{number % 7}/f{number}": Node(data=b"x %d\n" % number) for number in range(5_000)}
    scene = make_scene({}, nodes, {}, "Write /app/d3/f3.")
    assert len(scene.outputs) == 5_000
    assert scene.outputs[0].path == "/app/d3/f3"


def test_a_link_or_a_folder_is_never_read():
    for node in (Node("link", target="/dev/zero"), Node("folder"), Node("other")):
        output = Output("/app/x", "link" if node.kind == "link" else "folder", None, node)
        for _, propose in all_operators():
            for mutant in islice(propose(output, Scene((output,)), SeededChooser(1)), 3):
                assert mutant.edits
