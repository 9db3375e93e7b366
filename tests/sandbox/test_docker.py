"""What only the engine's backend has: builds from a bundle's own Dockerfile, mapped names, leftovers."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import uuid
from pathlib import Path

import pytest

from aespec.bundle.recipe import Raw, Recipe
from aespec.sandbox import open_sandbox
from aespec.sandbox.api import Program, SandboxError
from aespec.sandbox.docker import engine
from aespec.sandbox.docker.archives import merge_archives, normal_path
from tests.sandbox.scene import BASE, LIMITS, RECIPE, make_tar, read_tar, shell_of

ROOT = Path(__file__).resolve().parents[2]
of_engine = pytest.mark.needs("docker", "base-image")


@pytest.fixture
def docker(cache):
    return open_sandbox("docker")


@pytest.fixture
def images():
    """Remembers what a test builds, to remove it."""
    made = []

    def remember(image):
        made.append(image.reference)
        return image

    yield remember
    client = engine.connect()
    for tag in made:
        client.images.remove(tag, force=True)
    client.close()


@of_engine
def test_the_contexts_own_dockerfile_is_built(docker, context, images):
    recipe = Recipe(BASE, (Raw(f"# {uuid.uuid4()}"),), "c")
    (context / "data").write_text("from the context")
    (context / "Dockerfile").write_text(f"FROM {BASE}\nCOPY data /data\nENV OWN=own\nRUN echo ran >/ran\n")
    told = []
    image = images(docker.prepare(recipe, context, progress=told.append))
    assert image.env["OWN"] == "own"
    assert any("COPY data" in line for line in told)
    with docker.open(image, LIMITS) as slot:
        assert shell_of(slot)("cat /data /ran; echo $OWN").stdout == b"from the contextran\nown\n"
    told.clear()
    assert docker.prepare(recipe, context, progress=told.append).digest == image.digest
    assert not told, "what was built is found again"
    (context / "data").write_text("other")
    changed = images(docker.prepare(recipe, context))
    with docker.open(changed, LIMITS) as slot:
        assert shell_of(slot)("cat /data").stdout == b"other"


@of_engine
def test_names_are_mapped_in_the_dockerfile(context, images):
    docker = open_sandbox("docker", image_map={"public.example/base:1": BASE})
    text = "# FROM public.example/base:1\nFROM public.example/base:1 AS first\nRUN echo x >/x\nFROM first\n"
    (context / "Dockerfile").write_text(text)
    image = images(docker.prepare(Recipe("public.example/base:1", (), "c"), context))
    with docker.open(image, LIMITS) as slot:
        assert shell_of(slot)("cat /x").stdout == b"x\n"
    assert (context / "Dockerfile").read_text() == text, "the bundle itself stays as it is"


@of_engine
def test_a_failing_build_tells_its_output(docker, context):
    (context / "Dockerfile").write_text(f"FROM {BASE}\nRUN echo before && exit 7\n")
    with pytest.raises(SandboxError) as caught:
        docker.prepare(Recipe(BASE, (), "c"), context)
    assert caught.value.boundary == "image"
    assert "before" in str(caught.value)


@of_engine
def test_a_base_that_is_not_to_be_had(docker, context):
    with pytest.raises(SandboxError) as caught:
        docker.prepare(Recipe("localhost:1/no/such:base", (), "c"), context)
    assert "--image-map" in caught.value.remedy


@of_engine
def test_a_network_only_for_the_run_that_asks(docker, context):
    image = docker.prepare(RECIPE, context)
    with docker.open(image, LIMITS) as slot:
        look = Program(("/bin/sh", "-c", "cat /proc/net/dev | grep -c eth"))
        assert slot.run(look).stdout == b"0\n"
        asked = slot.run(Program(look.argv, has_network=True))
        assert asked.stdout == b"1\n"
        assert slot.run(look).stdout == b"0\n"


@of_engine
def test_containers_go_and_those_of_killed_processes_are_removed(docker, context):
    client = engine.connect()
    try:
        image = docker.prepare(RECIPE, context)
        script = textwrap.dedent(f"""
            from pathlib import Path
            from aespec.sandbox import open_sandbox
            from aespec.sandbox.api import Program
            from tests.sandbox.scene import LIMITS, RECIPE
            docker = open_sandbox("docker")
            with docker.open(docker.prepare(RECIPE, Path({str(context)!r})), LIMITS) as slot:
                print(slot._container.id, flush=True)
                slot.run(Program(("/bin/sleep", "1000"), timeout_s=1000.0))
        """)
        process = subprocess.Popen(
            [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        left = process.stdout.readline().strip()
        assert left
        open_sandbox("docker").prepare(RECIPE, context)
        assert client.containers.get(left), "a living process keeps its own"
        process.send_signal(signal.SIGKILL)
        process.communicate()
        with open_sandbox("docker").open(image, LIMITS) as slot:
            own = slot._container.id
            assert left not in {container.id for container in client.containers.list(all=True)}
        assert own not in {container.id for container in client.containers.list(all=True)}
    finally:
        client.close()


@of_engine
def test_a_container_that_ends_under_a_program_is_started_again(docker, context):
    image = docker.prepare(RECIPE, context)
    with docker.open(image, LIMITS) as slot:
        shell_of(slot)("echo kept >/f; kill -9 -1", timeout_s=30.0)
        assert shell_of(slot)("cat /f").stdout == b"kept\n"


def test_no_engine_is_told_with_the_way_out(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nothing.sock")
    docker = open_sandbox("docker")
    abilities = docker.abilities()
    assert abilities.tier == "none"
    assert "dockerd" in abilities.missing["a Docker engine"]
    with pytest.raises(SandboxError, match="no Docker engine answers"):
        docker.prepare(RECIPE, tmp_path)


@of_engine
def test_taking_a_base_image_also_removes_what_killed_processes_left(docker, cache, context):
    """A container is made to export an image from, though the embedded sandbox has no slots there."""
    script = textwrap.dedent(f"""
        import os, signal
        from aespec.sandbox.docker import engine
        client = engine.connect()
        for chunk in engine.export_image(client, engine.find_image(client, {BASE!r})):
            os.kill(os.getpid(), signal.SIGKILL)
    """)
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT)
    assert process.wait() == -signal.SIGKILL

    def is_there():
        with contextlib.closing(engine.connect_only()) as client:
            labels = [container.labels for container in client.containers.list(all=True)]
        return any(f'"pid": {process.pid}' in label.get(engine.LABEL, "") for label in labels)

    assert is_there()
    open_sandbox("fork", roots=("engine",)).prepare(Recipe(BASE, (), "c"), context)
    assert not is_there()


def test_labels_tell_living_from_left_over():
    assert not engine.is_left_over(engine.owner_label())
    own = engine.owner_label()
    assert engine.is_left_over(own.replace(f'"pid": {os.getpid()}', '"pid": 4194999'))
    assert not engine.is_left_over("")
    assert not engine.is_left_over("{}")
    assert not engine.is_left_over('["x"]')


def test_archives_of_the_engine_are_merged_in_the_contracts_form():
    first = make_tar({"b/z": "1", "b/a": "2"})
    second = make_tar({"x": "3"})
    merged = merge_archives([("/b", first), ("/deep/x", second)])
    assert list(read_tar(merged)) == ["b/a", "b/z", "deep/x"]


@pytest.mark.parametrize("path", ["..", "/a/../b", "a/..", "a\0b"])
def test_paths_that_climb_are_refused(path):
    with pytest.raises(SandboxError):
        normal_path(path)
