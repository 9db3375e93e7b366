"""What a solution left, told from what every program leaves; what a verifier installed, not built."""

import hashlib

import pytest

from aespec.runtime.memory import Node
from aespec.sandbox.api import Difference
from aespec.sandbox.tars import Entry, pack
from aespec.trial.archives import read_nodes
from aespec.trial.foreign.changes import is_left_out, read_changes
from aespec.trial.foreign.warmth import warm_layer

START = {
    "/app/a.txt": Node(data=b"2\n"),
    "/app/old/x": Node(data=b"x"),
    "/app/old/y": Node(data=b"y"),
    "/app/touched": Node(data=b"t"),
    "/app/big": Node(data=b"b"),
}


def read_start(paths):
    return {
        path: node for path, node in START.items() if any((path + "/").startswith(at + "/") for at in paths)
    }


def changed(files, deleted=(), **options):
    """The changes of a difference with these files (None: a folder)."""
    archive = pack([Entry(path, data) for path, data in files.items()])
    return read_changes(Difference(archive, tuple(deleted)), read_start, **options)


def test_new_changed_and_deleted_files_are_outputs_and_touched_ones_are_not():
    found = changed({"/app": None, "/app/a.txt": b"3\n", "/app/n": b"n", "/app/touched": b"t"}, ["/app/old"])
    assert dict(found.before) == {
        "/app/a.txt": START["/app/a.txt"],
        "/app/n": None,
        "/app/old/x": START["/app/old/x"],
        "/app/old/y": START["/app/old/y"],
    }
    assert {path: node and node.data for path, node in found.after.items()} == {
        "/app/a.txt": b"3\n",
        "/app/n": b"n",
        "/app/old/x": None,
        "/app/old/y": None,
    }


def test_a_changed_mode_or_owner_is_a_change():
    archive = pack([Entry("/app/touched", b"t", 0o755)])
    assert list(read_changes(Difference(archive), read_start).after) == ["/app/touched"]


def test_links_are_outputs():
    found = read_changes(Difference(pack([Entry("/app/l", target="a.txt")])), read_start)
    assert found.after["/app/l"].target == "a.txt"


def test_a_large_file_is_named_and_not_held():
    found = changed({"/app/big": b"b" * 11, "/app/n": b"n"}, limit_bytes=10)
    assert found.too_large == ("/app/big",)
    assert set(found.after) == set(found.before) == {"/app/n"}


@pytest.mark.parametrize(
    "path",
    [
        "/logs/agent/oracle.txt",
        "/tmp/x",
        "/solution/solve.sh",
        "/root/.cache/pip/x",
        "/app/__pycache__/m.cpython-311.pyc",
        "/app/m.pyc",
        "/var/lib/dpkg/status",
        "/var/cache/apt/pkgcache.bin",
        "/app/node_modules/left-pad/index.js",
        "/root/.bash_history",
        "/etc/ld.so.cache",
        "/.aespec/session",
    ],
)
def test_traces_of_tools_are_left_out(path):
    assert is_left_out(path)
    assert changed({path: b"x"}).after == {}


@pytest.mark.parametrize(
    "path", ["/app/tmp/x", "/logs.txt", "/var/log/app.log", "/root/.bashrc", "/app/.git/HEAD"]
)
def test_what_only_looks_like_them_is_not(path):
    assert not is_left_out(path)
    assert list(changed({path: b"x"}).after) == [path]


OWN = hashlib.md5(b"own\n").hexdigest()
INSTALLED = {
    "/var/lib/dpkg/status": f"Package: nginx\nConffiles:\n /etc/nginx/nginx.conf {OWN}\n".encode(),
    "/var/lib/dpkg/info/nginx.list": b"/.\n/etc\n/etc/nginx/nginx.conf\n/bin/ng\n/srv/ng/index.html\n",
    "/usr/bin/ng": b"ng",
    "/usr/share/doc/x": b"x",
    "/srv/ng/index.html": b"hello",
    "/usr/local/lib/python3.11/site-packages/pkg-1.dist-info/RECORD": b"pkg/a.py,,\n../../../bin/pkg,,\n",
    "/usr/local/lib/python3.11/site-packages/pkg/a.py": b"a",
    "/usr/local/bin/pkg": b"p",
}


def test_what_package_managers_installed_is_no_output():
    mine = {"/etc/nginx/nginx.conf": b"mine\n", "/usr/local/bin/tool": b"t", "/srv/ng/more.html": b"m"}
    assert changed({**INSTALLED, "/etc/nginx/nginx.conf": b"own\n"}).after == {}
    assert set(changed({**INSTALLED, **mine}).after) == set(mine)


def test_without_packages_a_file_below_usr_is_an_output():
    assert list(changed({"/usr/bin/ng": b"ng"}).after) == ["/usr/bin/ng"]


# --- the warm layer ---------------------------------------------------------------------------------------


def kept(files, outputs=(), deleted=()):
    layer = warm_layer(Difference(pack([Entry(*item) for item in files.items()]), tuple(deleted)), outputs)
    return set() if layer is None else {*read_nodes(layer.archive), *layer.deleted}


def test_packages_tools_and_caches_are_kept_for_further_probes():
    files = {
        **INSTALLED,
        "/root/.local/bin/uv": b"u",
        "/root/.cache/uv/x": b"x",
        "/etc/ssl/certs/a.pem": b"c",
    }
    assert kept(files) - {"/etc/apt/apt.conf.d/99-offline"} == set(files)


def test_what_a_verifier_makes_of_the_agents_work_is_not_kept():
    files = {
        "/app/build/prog": b"p",
        "/usr/local/bin/prog": b"p",
        "/tests/.venv/bin/python": b"p",
        "/tmp/x": b"x",
        "/logs/verifier/reward.txt": b"1",
        "/opt/tool/x": b"x",
        "/etc/hosts": b"h",
    }
    assert kept(files) == set()


def test_a_package_that_pip_built_from_a_folder_is_not_kept():
    site = "/usr/local/lib/python3.11/site-packages"
    mine = {
        f"{site}/mine-1.dist-info/RECORD": b"mine.py,,\n",
        f"{site}/mine-1.dist-info/direct_url.json": b"{}",
        f"{site}/mine.py": b"m",
    }
    other = {f"{site}/pkg-1.dist-info/RECORD": b"pkg.py,,\n", f"{site}/pkg.py": b"p"}
    assert kept({**mine, **other}) == set(other)


def test_outputs_are_never_kept_wherever_they_lie():
    assert kept({"/root/.config/tool.ini": b"x", "/root/.cache/y": b"y"}, ["/root/.config"]) == {
        "/root/.cache/y"
    }


def test_what_was_removed_of_packages_stays_removed():
    layer = {"/root/.cache/y": b"y"}
    assert kept(layer, deleted=["/var/lib/apt/lists/x", "/app/a"]) == {
        "/root/.cache/y",
        "/var/lib/apt/lists/x",
    }


def test_two_names_of_one_file_are_kept_apart_where_one_is_not_kept():
    import io
    import tarfile

    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        first = tarfile.TarInfo("app/venv-cache")
        first.size = 1
        tar.addfile(first, io.BytesIO(b"x"))
        for name, target in (("root/.cache/a", "app/venv-cache"), ("root/.cache/b", "root/.cache/a")):
            second = tarfile.TarInfo(name)
            second.type, second.linkname = tarfile.LNKTYPE, target
            tar.addfile(second)
    layer = warm_layer(Difference(stream.getvalue()), ())
    nodes = read_nodes(layer.archive)
    assert {path: node.data for path, node in nodes.items()} == {
        "/root/.cache/a": b"x",
        "/root/.cache/b": b"x",
    }
