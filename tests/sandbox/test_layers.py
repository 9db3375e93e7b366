"""Layers on disk: shared by processes, made once, whole or not at all."""

import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from aespec.bundle.recipe import Recipe, Shell
from aespec.sandbox import open_sandbox
from aespec.sandbox.api import SandboxError
from aespec.sandbox.layers import Store, chain_digest, layer_id
from tests.sandbox.scene import BASE, LIMITS, RECIPE, descendants, is_running, shell_of, wait_for

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.needs("userns")


def test_two_processes_build_a_layer_once(cache, context):
    (context / "slow.sh").write_text("sleep 1; date +%s%N >/built")
    script = textwrap.dedent(f"""
        import sys
        from pathlib import Path
        from aespec.bundle.recipe import Recipe, Shell
        from aespec.sandbox import open_sandbox
        from aespec.sandbox.api import Program, SandboxLimits
        fork = open_sandbox("fork", roots=("host",))
        image = fork.prepare(Recipe({BASE!r}, (Shell("slow.sh"),), "c"), Path({str(context)!r}))
        with fork.open(image, SandboxLimits()) as slot:
            print(slot.run(Program(("/bin/cat", "/built"))).stdout.decode().strip())
    """)
    command = [sys.executable, "-c", script]
    running = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = {process.communicate()[0] for process in running}
    assert len(said) == 1
    assert said.pop().strip().isdigit()


def test_what_a_killed_process_left_is_removed(fork, context):
    store = fork._workshop().store
    script = textwrap.dedent(f"""
        import sys
        from pathlib import Path
        from aespec.bundle.recipe import Recipe, Shell
        from aespec.sandbox import open_sandbox
        fork = open_sandbox("fork", roots=("host",))
        fork.prepare(Recipe({BASE!r}, (), "c"), Path({str(context)!r}))
        print("ready", flush=True)
        fork.prepare(Recipe({BASE!r}, (Shell("endless.sh"),), "c"), Path({str(context)!r}))
    """)
    (context / "endless.sh").write_text("mkdir -p /a/b; echo x >/a/b/c; chmod 0 /a/b; sleep 1000")
    before = set(store.folder.glob("tmp-*"))
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    assert wait_for(lambda: any(path.joinpath("fs/a/b").exists() for path in store.folder.glob("tmp-*")))
    left = set(store.folder.glob("tmp-*")) - before
    children = descendants(process.pid)
    assert children
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert wait_for(lambda: not any(is_running(pid) for pid in children))
    assert all(path.exists() for path in left)
    time.sleep(1.1)
    assert store.reap() >= 1
    assert not any(path.exists() for path in left)


def test_reaping_leaves_what_is_in_use(fork):
    store = fork._workshop().store
    with store.workspace("slot") as name:
        time.sleep(1.1)
        store.reap()
        assert (store.folder / name).is_dir()
    assert not (store.folder / name).exists()


def test_a_full_disk_is_told(fork, monkeypatch):
    store = fork._workshop().store

    def build(name):
        raise OSError(28, "No space left on device")

    with pytest.raises(SandboxError, match="no space") as caught:
        store.make(chain_digest("test", {"full": 1}), build)
    assert "AESPEC_CACHE" in caught.value.remedy
    assert store.find(chain_digest("test", {"full": 1})) is None


def test_a_cache_that_can_not_be_written_is_told(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("AESPEC_CACHE", str(blocked))
    with pytest.raises(SandboxError) as caught:
        open_sandbox("fork", roots=("host",)).prepare(RECIPE, tmp_path)
    assert "AESPEC_CACHE" in caught.value.remedy


def test_digests_are_stable_over_runs():
    digest = chain_digest("base", {"b": 1, "a": (1, 2)})
    assert digest == chain_digest("base", {"a": [1, 2], "b": 1})
    assert len(layer_id(digest)) == 24


def test_half_a_layer_is_not_found(fork):
    store = fork._workshop().store
    digest = chain_digest("test", {"half": 1})
    (store.folder / layer_id(digest)).mkdir()
    assert store.find(digest) is None
    (store.folder / layer_id(digest)).rmdir()


DAMAGE = {
    "empty": lambda folder: (folder / "layer.json").write_text(""),
    "cut": lambda folder: (folder / "layer.json").write_text('{"digest": "sha'),
    "another kind": lambda folder: (folder / "layer.json").write_text("[]"),
    "no text": lambda folder: (folder / "layer.json").write_bytes(b"\xff\xfe"),
    "of another": lambda folder: (folder / "layer.json").write_text('{"digest": "sha256:0"}'),
    "gone": lambda folder: (folder / "layer.json").unlink(),
    "without files": lambda folder: shutil.rmtree(folder / "fs"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_layer_is_made_again(fork, context, damage):
    (context / "make.sh").write_text(f"echo whole >/made-{len(damage)}")
    recipe = Recipe(BASE, (Shell("make.sh"),), "c")
    store = fork._workshop().store
    before = set(store.folder.iterdir())
    fork.prepare(recipe, context)
    made = set(store.folder.iterdir()) - before
    assert made
    for folder in made:
        DAMAGE[damage](folder)
    image = fork.prepare(recipe, context)
    with fork.open(image, LIMITS) as slot:
        assert shell_of(slot)(f"cat /made-{len(damage)}").stdout == b"whole\n"
    assert set(store.folder.iterdir()) - before == made


@pytest.mark.parametrize("text", ["", "[]", "{", '{"digest": 1}', "{}"])
def test_a_damaged_name_is_no_name(fork, text):
    store = fork._workshop().store
    store.name("damaged", {"name": "damaged", "digest": "sha256:0"})
    store._name_path("damaged").write_text(text)
    assert store.named("damaged") is None
    store._name_path("damaged").unlink()


def test_records_of_names(fork):
    store: Store = fork._workshop().store
    store.name("a/b:1", {"name": "a/b:1", "digest": "sha256:0"})
    assert store.named("a/b:1")["digest"] == "sha256:0"
    assert "a/b:1" in store.names()
    assert store.named("a/b:2") is None
