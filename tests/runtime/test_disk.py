"""Reading what a solver left: no link leads out, nothing blocks, nothing is endless."""

import hashlib
import os
import resource
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aespec.predicates import find
from aespec.runtime.disk import DiskState
from aespec.runtime.memory import MemoryState, Node
from aespec.runtime.state import Missing, Trouble
from aespec.runtime.tree import copy_below, empty_folder
from tests.predicates import samples


@pytest.fixture
def root(tmp_path):
    top = tmp_path / "root"
    (top / "app").mkdir(parents=True)
    (top / "tests").mkdir()
    (top / "tests/checks.json").write_text("secret")
    (top / "root").mkdir()
    (top / "root/own").write_text("own")
    return top


def test_a_state_is_read(root):
    (root / "app/a").write_text("hi")
    (root / "app/sub").mkdir()
    (root / "app/sub/l").symlink_to("../a")
    (root / "app/up").symlink_to("/app/sub")
    state = DiskState(str(root))
    assert state.read("/app/a") == state.read("/app/sub/l") == state.read("/app/up/l") == b"hi"
    assert state.read("/app/up/../a") == b"hi"
    assert state.names("/app") == ["a", "sub", "up"]
    assert state.link("/app/up") == "/app/sub"
    assert state.stat("/app/up").kind == "link"
    assert state.stat("/app/sub").kind == "folder"
    assert state.stat("/").kind == "folder"
    assert state.digest("/app/sub/l") == hashlib.sha256(b"hi").hexdigest()
    assert state.read("/root/own") == b"own"
    with pytest.raises(Missing, match="larger"):
        DiskState(str(root)).read("/app/a", 1)


@pytest.mark.parametrize(
    "target",
    [
        "/tests/checks.json",
        "../tests/checks.json",
        "/../../tests/checks.json",
        "/app/t/checks.json",
        "/root/own",
        "/proc/self/environ",
        "/dev/zero",
        "/dev/stdin",
        "/logs/verifier/reward.json",
        "loop",
        "/nowhere",
        ".",
        "x" * 300,
    ],
)
def test_no_link_leads_where_it_must_not(root, target):
    (root / "app/t").symlink_to("../tests")
    (root / "app/loop").symlink_to("loop")
    (root / "app/out").symlink_to(target)
    state = DiskState(str(root))
    for ask in (state.read, state.digest):
        with pytest.raises(Missing):
            ask("/app/out")
    assert not find("text").holds(state, {"path": "/app/out", "equals": "secret"}).is_held


def test_the_real_root_is_not_reached_through_a_link(root, tmp_path):
    (tmp_path / "outside").write_text("secret")
    (root / "app/out").symlink_to(tmp_path / "outside")
    (root / "app/up").symlink_to("../../../../../../../../.." + str(tmp_path / "outside"))
    state = DiskState(str(root))
    for name in ("out", "up"):
        with pytest.raises(Missing):
            state.read(f"/app/{name}")


def test_folders_by_another_name(root):
    """What is mounted or hard-linked elsewhere is still what no predicate reads."""
    state = DiskState(str(root))
    (root / "tests").rename(root / "app/moved")
    with pytest.raises(Missing):
        state.read("/app/moved/checks.json")


def test_the_spec_itself_can_not_name_the_tests(root):
    state = DiskState(str(root))
    for path in ("/tests/checks.json", "/proc/version", "/app/../tests/checks.json"):
        with pytest.raises(Missing):
            state.read(path)


@pytest.mark.parametrize(
    "make", ["fifo", "folder", "socket", "chain", "deep", "name", "unreadable", "sparse"]
)
def test_what_is_no_honest_file_is_a_fail_and_quick(root, make):
    place = root / "app/x.json"
    if make == "fifo":
        os.mkfifo(place)
    elif make == "folder":
        place.mkdir()
    elif make == "socket":
        import socket

        with socket.socket(socket.AF_UNIX) as channel:
            os.chdir(root / "app")
            channel.bind("x.json")
    elif make == "chain":
        for number in range(60):
            (root / f"app/{number}").symlink_to(f"{number + 1}")
        place.symlink_to("0")
        (root / "app/60").write_text("1")
    elif make == "deep":
        place.symlink_to("a/" * 2000 + "b")
    elif make == "name":
        (root / "app/y\udcff").write_text("1")
        place.symlink_to("y\udcff/z")
    elif make == "sparse":
        with place.open("wb") as stream:
            stream.truncate(10**12)
    else:
        place.write_text("2")
    started, state = time.monotonic(), DiskState(str(root))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name, args in (
        ("json", {"equals": 1}),
        ("text", {"equals": "1"}),
        ("file", {"content": "1"}),
        ("table", {"columns": ["a"]}),
    ):
        verdict = find(name).holds(state, {"path": "/app/x.json", **args})
        assert not verdict.is_held
        assert verdict.reason
    assert time.monotonic() - started < 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 10**7,
        b'{"a":' * 10**6,
        b"9" * 10**7,
        b"1e" + b"9" * 10**7,
        b'"' + b"\\\\" * 10**6,
        b"[" + b"[]," * 10**5 + b"[]]",
        b"\n" * 10**6,
        b'"' * 10**7,
        b"," * 10**6,
        b"\0" * 10**7,
        b"\xff" * 10**7,
        b"a,b\n" * 10**6,
        b"&lol;" * 10**6,
    ],
    ids=lambda data: repr(data[:6]),
)
def test_hostile_content_is_a_fail_and_quick(root, data):
    (root / "app/x").write_bytes(data)
    state = DiskState(str(root))
    for name, args in (
        ("json", {"equals": 1}),
        ("json", {"type": "null"}),
        ("text", {"equals": "1"}),
        ("text", {"lines": ["1"], "order": "any"}),
        ("table", {"equals": [{"a": 1}]}),
    ):
        started = time.process_time()
        assert not find(name).holds(state, {"path": "/app/x", **args}).is_held
        assert time.process_time() - started < 10


def test_files_are_read_once(root):
    """All claims see the same content, whatever becomes of the file meanwhile."""
    (root / "app/a").write_text("1")
    state = DiskState(str(root))
    assert state.read("/app/a") == b"1"
    (root / "app/a").write_text("2")
    assert state.read("/app/a") == b"1"
    assert state.digest("/app/a") == hashlib.sha256(b"1").hexdigest()


def test_hidden_files(root, tmp_path):
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden/a.json").write_text("1")
    (tmp_path / "secret").write_text("1")
    state = DiskState(str(root), str(tmp_path / "hidden"))
    assert state.hidden("a.json") == b"1"
    for name in ("b.json", "../secret", "/etc/passwd", "", "a.json/.."):
        with pytest.raises(Trouble):
            state.hidden(name)


def laid_out(state: MemoryState, top) -> DiskState:
    """The same state on disk."""
    for path, node in sorted(state.nodes.items()):
        place = top / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if node.kind == "file":
            place.write_bytes(node.data)
            place.chmod(node.mode)
        elif node.kind == "folder":
            place.mkdir(exist_ok=True)
        elif node.kind == "link":
            place.symlink_to(node.target)
        else:
            os.mkfifo(place)
    return DiskState(str(top), baseline=samples.BASELINE)


@pytest.mark.parametrize("sample", samples.ALL, ids=samples.name)
def test_disk_and_memory_agree_on_the_samples(sample, tmp_path):
    holds = find(sample.predicate).holds
    states = [sample.state, *map(sample.changed, [*sample.misses, *sample.also])]
    for number, state in enumerate(states):
        top = tmp_path / str(number)
        top.mkdir()
        disk = laid_out(state, top)
        assert holds(disk, sample.args).is_held == holds(state, sample.args).is_held


paths = st.sampled_from(["/a", "/b", "/a/x", "/a/y", "/b/x", "/b/c/z"])
nodes = st.one_of(
    st.binary(max_size=3).map(lambda data: Node(data=data)),
    st.just(Node("folder", mode=0o755)),
    st.sampled_from(["a", "b", "/a", "/b/c", "..", "x", "../a/x", "/", "c/z", "/b/x"]).map(
        lambda target: Node("link", target=target)
    ),
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(paths, nodes, max_size=5))
def test_disk_and_memory_agree(tmp_path_factory, made):
    state = MemoryState({})
    for path in sorted(made):
        parents = [path[:end] for end, letter in enumerate(path) if letter == "/" and end]
        if all(parent not in state.nodes or state.nodes[parent].kind == "folder" for parent in parents):
            state = state.with_nodes({path: made[path]})
    disk = laid_out(state, tmp_path_factory.mktemp("state"))
    for path in ("/", "/a", "/b", "/a/x", "/a/y", "/b/x", "/b/c", "/b/c/z", "/a/c/z", "/a/../b/x"):
        for ask in ("stat", "read", "names", "link", "digest"):
            assert answer(state, ask, path) == answer(disk, ask, path), (ask, path)


def answer(state, ask, path):
    try:
        found = getattr(state, ask)(path)
    except Missing:
        return "missing"
    return found.kind if ask == "stat" and found is not None else found


def test_a_deep_folder_is_emptied_and_not_copied(tmp_path):
    top = tmp_path / "top"
    top.mkdir()
    os.chdir(top)
    for _ in range(300):
        Path("d").mkdir()
        os.chdir("d")
    os.chdir("/")
    (tmp_path / "copy").mkdir()
    with pytest.raises(Missing):
        copy_below(str(top), str(tmp_path / "copy"))
    (top / "l").symlink_to("/")
    (top / "locked").mkdir()
    (top / "locked/f").write_text("")
    (top / "locked").chmod(0)
    empty_folder(str(top))
    empty_folder(str(tmp_path / "copy"))
    assert not list(top.iterdir())
    assert not list((tmp_path / "copy").iterdir())


def test_a_copy_is_the_same_and_links_stay_links(tmp_path):
    (tmp_path / "a/sub").mkdir(parents=True)
    (tmp_path / "a/sub/f").write_text("x")
    (tmp_path / "a/sub/f").chmod(0o4751)
    (tmp_path / "a/l").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "a/p")
    os.utime(tmp_path / "a/sub", (5, 5))
    (tmp_path / "b").mkdir()
    copy_below(str(tmp_path / "a"), str(tmp_path / "b"))
    assert (tmp_path / "b/l").readlink().as_posix() == "/etc/passwd"
    assert (tmp_path / "b/p").is_fifo()
    assert (tmp_path / "b/sub").stat().st_mtime == 5
    assert (tmp_path / "b/sub/f").read_text() == "x"
    assert (tmp_path / "b/sub/f").stat().st_mode & 0o7777 == 0o751
    (tmp_path / "c").mkdir()
    copy_below(str(tmp_path / "a"), str(tmp_path / "c"), mtime_s=77)
    assert (tmp_path / "c/sub/f").stat().st_mtime == (tmp_path / "c/sub").stat().st_mtime == 77
