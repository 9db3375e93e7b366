"""Foreign Dockerfiles: the same files by every builder, and an end to what hangs, floods or reaches out."""

import io
import re
import tarfile
import uuid
from pathlib import Path

import pytest

from aespec.sandbox import open_sandbox
from aespec.sandbox.api import Build, Program, SandboxError, SandboxLimits
from aespec.sandbox.docker import engine
from aespec.sandbox.docker.images import find_buildkit
from tests.components import require
from tests.sandbox.dockerfile_table import TABLE
from tests.sandbox.scene import BASE, read_tar, shell_of

LIMITS = SandboxLimits(memory_bytes=512 << 20, disk_bytes=256 << 20, processes=128, cpu=2.0)
OLDER_BUILDER_DIFFERS = {"workdir", "arg", "copy wildcards", "copy owners and modes", "mounts", "stages"}
PRUNED = (
    "/proc -o -path /sys -o -path /dev -o -path /etc/hosts -o -path /etc/hostname -o -path /etc/resolv.conf "
    "-o -path /etc/mtab -o -path /.dockerenv"
)
LISTING = (
    rf"find / \( -path {PRUNED} -o -name docker-init \) -prune -o -printf '%p %y %m %U:%G %l %n\n' | "
    "sed -E '/ d /s/ [0-9]+$//' | sort; find / -xdev -type f -size -200k ! -path '/usr/*' ! -path '/dev/*' "
    "! -path '/proc/*' ! -path '/sys/*' ! -path '/var/lib/dpkg/*' ! -path '/etc/h*' ! -path /etc/resolv.conf "
    # useradd writes the day into /etc/shadow, and one builder's layer may be of another day than the other's.
    "! -name '*-' ! -path /etc/shadow -exec sha256sum {} + | sort -k2; cut -d: -f1,2,4- /etc/shadow || :"
)


def text_of(text):
    text = text.replace("»", "\t").replace("·", " ")
    has_own = re.search(r"(?im)^from [a-z:$]", text)
    return text if has_own else f"FROM {BASE}\n{text}"


def fill(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path, mode = folder / name, 0o644
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, tuple):
            content, mode = content
        if content is None:
            path.mkdir()
        elif content.startswith("->"):
            path.symlink_to(content[2:])
        elif content.startswith("tar:"):
            with tarfile.open(path, f"w:{content[4:]}") as tar:
                for inner, uid in (("x", 5), ("d/y", 6)):
                    entry = tarfile.TarInfo(inner)
                    entry.size, entry.uid, entry.mode, entry.mtime = 3, uid, 0o640, 86400
                    tar.addfile(entry, io.BytesIO(b"abc"))
                link = tarfile.TarInfo("l")
                link.type, link.linkname = tarfile.SYMTYPE, "x"
                tar.addfile(link)
        else:
            path.write_text(content)
            path.chmod(mode)


def files_in(sandbox, image):
    with sandbox.open(image, LIMITS) as slot:
        outcome = slot.run(Program(("/bin/sh", "-c", LISTING), output_limit_bytes=1 << 24, timeout_s=120.0))
    lines = outcome.stdout.decode().splitlines()
    assert len(lines) > 100, outcome
    return {image.workdir, image.user, str(image.entrypoint), str(sorted(image.env.items())), *lines}


# --- by every builder ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def builders(cache):
    for name in ("docker", "base-image", "userns", "uid-range"):
        require(name)
    made = []
    yield open_sandbox("fork", tier="full"), open_sandbox("docker"), made
    client = engine.connect()
    for image in made:
        client.images.remove(image.reference, force=True)
    client.close()


@pytest.mark.needs("docker", "base-image", "userns")
@pytest.mark.parametrize("name", TABLE)
def test_both_builders_make_the_same_files(builders, context, name):
    if name in OLDER_BUILDER_DIFFERS and not find_buildkit():
        pytest.skip("needs Docker's plugin buildx: the older builder differs here, as is known")
    fork, docker, made = builders
    text, files = TABLE[name]
    fill(context, files)
    own = fork.build(Build(context, text_of(text)))
    by_engine = docker.build(Build(context, text_of(text)))
    made.append(by_engine)
    if name == "scratch":  # nothing in there could list it
        with fork.open(own, LIMITS) as slot:
            found = read_tar(slot.get(["/f", "/d"]))
        assert found == {"d": None, "d/g": b"g", "f": b"f"}
        return
    assert files_in(fork, own) ^ files_in(docker, by_engine) == set()


@pytest.mark.needs("docker", "base-image", "userns")
def test_what_only_an_engine_can_do_is_left_to_it(builders, context):
    fork, told = builders[0], []
    text = f"FROM {BASE}\nENV A=b\nWORKDIR /w\nRUN --security=sandbox echo {uuid.uuid4()} >/out\n"
    fill(context, {"f": "f"})
    with pytest.raises(SandboxError) as caught:  # neither has it: the engine's own word is told
        fork.build(Build(context, text + "COPY --parents ./f /p/\n"), progress=told.append)
    assert caught.value.boundary == "image"
    assert any("an engine builds it" in line for line in told)
    zstd = context / "a.tar.zst"
    zstd.write_bytes(b"\x28\xb5\x2f\xfd" + b"no archive")
    image = fork.build(Build(context, f"FROM {BASE}\nENV A=b\nWORKDIR /w\nADD a.tar.zst /x/\n"))
    with fork.open(image, LIMITS) as slot:
        assert shell_of(slot)('pwd; echo "$A"; ls /x', cwd=image.workdir).stdout == b"/w\nb\na.tar.zst\n"


@pytest.mark.needs("docker", "base-image", "userns")
def test_a_prebuilt_image_is_taken_as_it_is(builders, context):
    fork, docker, made = builders
    text = (
        f'FROM {BASE}\nENV A=b\nWORKDIR /w\nUSER 65534\nENTRYPOINT ["/e"]\nRUN echo {uuid.uuid4()} >/tmp/id\n'
    )
    image = docker.build(Build(context, text))
    made.append(image)
    for sandbox in (fork, docker):
        again = sandbox.build(Build(context, image=image.reference))
        assert (again.workdir, again.user, again.entrypoint) == ("/w", "65534", ("/e",))
        with sandbox.open(again, LIMITS) as slot:
            outcome = shell_of(slot)('id -u; pwd; echo "$A"', user=again.user, cwd=again.workdir)
            assert outcome.stdout == b"65534\n/w\nb\n"


@pytest.mark.needs("docker", "base-image", "userns")
@pytest.mark.parametrize("at", [0, 1])
def test_names_are_mapped(builders, context, at):
    mapped = open_sandbox(("fork", "docker")[at], image_map={"public.example/base:1": BASE})
    text = (
        "ARG base=public.example/base\nFROM ${base}:1 AS one\nFROM one\n"
        "COPY --from=public.example/base:1 /etc/issue /i\n"
    )
    image = mapped.build(Build(context, text))
    with mapped.open(image, LIMITS) as slot:
        assert b"Debian" in shell_of(slot)("cat /i").stdout
    if at:
        builders[2].append(image)


@pytest.mark.needs("docker", "base-image")
def test_the_engines_build_has_an_end(builders, context):
    docker = builders[1]
    with pytest.raises(SandboxError, match="longer than its 6 s") as caught:
        docker.build(Build(context, f"FROM {BASE}\nRUN echo begun-{uuid.uuid4()}; sleep 1000\n", timeout_s=6))
    assert caught.value.boundary == "image"
    assert "begun-" in str(caught.value)


@pytest.mark.needs("docker", "base-image")
def test_a_volume_keeps_nothing_out_of_a_state(builders, context):
    docker, made = builders[1], builders[2]
    client = engine.connect()
    try:
        container = client.containers.create(BASE, ["true"])
        with_volume = container.commit(
            "aespec-test", "volume", changes=["VOLUME /data", 'ENV Q="a \\$b\\"c"']
        )
        container.remove()
        image = docker.build(Build(context, image="aespec-test:volume"))
        made.append(image)
        assert image.env["Q"] == 'a $b"c'
        with docker.open(image, LIMITS) as slot:
            shell_of(slot)("mkdir -p /data; echo x >/data/f")
            assert b"data/f" in slot.difference().archive
        client.images.remove(with_volume.id, force=True)
    finally:
        client.close()


# --- in the embedded sandbox ---------------------------------------------------------------------

of_fork = pytest.mark.needs("userns")


def built(fork, context, text, **fields):
    return fork.build(Build(context, f"FROM {BASE}\n{text}", **fields))


def lines_of(fork, image, script):
    with fork.open(image, LIMITS) as slot:
        outcome = shell_of(slot)(script)
    assert outcome.status == 0, outcome
    return outcome.stdout.decode().splitlines()


@of_fork
def test_a_known_build_costs_no_step(fork, context):
    fill(context, {"f": "one"})
    told = []
    text = f"FROM {BASE}\nRUN echo {uuid.uuid4()} >/id\nCOPY f /f\nRUN cat /f >/g\n"
    first = fork.build(Build(context, text), progress=told.append)
    assert len(told) == 3
    assert fork.build(Build(context, text), progress=told.append) == first
    assert len(told) == 3
    (context / "f").write_text("two")
    second = fork.build(Build(context, text), progress=told.append)
    assert len(told) == 5, "what stands before the copy is known"
    assert set(first.reference.lowers) & set(second.reference.lowers) == set(second.reference.lowers[2:])
    assert lines_of(fork, second, "cat /g") == ["two"]


@of_fork
def test_the_builds_arguments(fork, context):
    text = 'ARG a=1\nARG b\nRUN echo "$a $b $c" >/out\n'
    assert lines_of(
        fork, built(fork, context, text, arguments={"a": "x y", "b": "2", "c": "3"}), "cat /out"
    ) == ["x y 2 "]


@of_fork
def test_the_build_has_the_network_and_no_mount_stays(fork, context):
    text = (
        "RUN --mount=type=cache,target=/c touch /c/x\nRUN grep -c : /proc/net/dev >/with\n"
        "RUN --network=none grep -c : /proc/net/dev >/without\n"
    )
    image = built(fork, context, text)
    counts = [int(line) for line in lines_of(fork, image, "cat /with /without; test ! -e /c")]
    assert counts[0] > counts[1]


@of_fork
def test_modes_of_a_copy(fork, context):
    fill(context, {"d/f": "f", "d/e/g": "g"})
    image = built(fork, context, "COPY --chmod=4755 d/f /f\nCOPY --chmod=700 d /new/d/\nCOPY d /tmp/\n")
    assert lines_of(fork, image, "stat -c '%a %n' /f /new /new/d /new/d/e /new/d/e/g /tmp") == [
        "4755 /f",
        *(f"700 /new{name}" for name in ("", "/d", "/d/e", "/d/e/g")),
        "1777 /tmp",
    ]


@of_fork
def test_a_copys_times_are_the_contexts(fork, context):
    fill(context, {"d/f": "f"})
    import os

    os.utime(context / "d/f", (86400, 86400))
    image = built(fork, context, "COPY d /d\n")
    assert lines_of(fork, image, "stat -c %Y /d/f") == ["86400"]


@of_fork
def test_a_build_that_hangs_ends_and_leaves_nothing(fork, context):
    store = fork._workshop().store.folder
    fork.build(Build(context, f"FROM {BASE}\n"))
    before = set(store.iterdir())
    with pytest.raises(SandboxError, match="longer than 2 s") as caught:
        built(fork, context, "RUN echo begun; sleep 1000 & sleep 1000\n", timeout_s=2.0)
    assert caught.value.boundary == "image"
    assert "begun" in str(caught.value)
    assert "line 2" in str(caught.value)
    assert set(store.iterdir()) == before


@of_fork
def test_a_build_that_floods_is_read_and_dropped(fork, context):
    flood = f"RUN head -c {1 << 30} /dev/zero; echo {uuid.uuid4()} >/done\n"
    assert lines_of(fork, built(fork, context, flood), "wc -l </done") == ["1"]


@of_fork
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("RUN echo why; exit 7\n", "status 7"),
        ("COPY missing /x\n", "the context has no 'missing'"),
        ("COPY out /x\n", "leads out of the build's context"),
        ("COPY up/f /x\n", "leads out of the build's context"),
        ("COPY ../f /x\n", "the context has no 'f'"),
        ("COPY left /x\n", ".dockerignore leaves it out"),
        ("COPY --from=9 /x /x\n", "no stage 9"),
        ("COPY --from=0 /x /x\n", "no stage 0"),
        ('RUN ["no-such-program"]\n', "no program 'no-such-program'"),
        ("USER nobody-there\nRUN true\n", "no account"),
        ("COPY here /etc\nCOPY here /here/\nCOPY here /here/here/x\n", "no folder"),
        ("RUN mkdir -p /f/here\nCOPY here /f/\n", "stands in the place of a file"),
        ("ADD bad.tar.gz /x\n", "damaged"),
        ("ADD climbs.tar /x\n", "climbs"),
        ('ENV a="${b?must be set}"\n', "must be set"),
        ("RUN --mount=type=magic,target=/x true\n", "no mount of type magic"),
        ("COPY here\n", "at least a source"),
    ],
)
def test_what_is_wrong_is_told_as_the_images_fault(fork, context, text, told):
    (context.parent / "secret").write_text("of the host")
    (context.parent / "folder").mkdir()
    (context.parent / "folder/f").write_text("of the host")
    fill(
        context,
        {"here": "h", "left": "l", ".dockerignore": "left\n", "out": "->../secret", "up": "->../folder"},
    )
    (context / "bad.tar.gz").write_bytes(b"")
    with tarfile.open(context / "bad.tar.gz", "w:gz") as tar:
        entry = tarfile.TarInfo("x")
        entry.size = 200_000
        tar.addfile(entry, io.BytesIO(bytes(__import__("random").Random(1).randbytes(200_000))))
    whole = (context / "bad.tar.gz").read_bytes()
    (context / "bad.tar.gz").write_bytes(whole[: len(whole) // 2])
    with tarfile.open(context / "climbs.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("../../climbed"))
    with pytest.raises(SandboxError, match=re.escape(told)) as caught:
        built(fork, context, text)
    assert caught.value.boundary == "image"
    assert "of the host" not in str(caught.value)


@of_fork
def test_links_of_a_copied_folder_stay_links(fork, context):
    (context.parent / "secret").write_text("of the host")
    fill(
        context, {"d/out": "->../../secret", "d/abs": f"->{context.parent}/secret", "d/in": "->f", "d/f": "f"}
    )
    image = built(fork, context, "COPY d /d\nCOPY . /all\n")
    assert lines_of(fork, image, "readlink /d/out /d/in; cat /d/in; test ! -e /d/out; test ! -e /d/abs") == [
        "../../secret",
        "f",
        "f",
    ]


@of_fork
def test_what_no_context_may_hold_is_left_out(fork, context):
    import os
    import socket

    fill(context, {"d/f": "f"})
    os.mkfifo(context / "d/fifo")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(context / "d/s"))
    assert lines_of(fork, built(fork, context, "COPY d /d\n"), "ls /d") == ["f"]


@of_fork
@pytest.mark.parametrize(
    "text",
    [
        "ADD https://example.org/f /f\n",
        "ADD git@github.com:moby/moby.git /m\n",
        "COPY --parents f /f\n",
        "COPY --exclude=*.md . /f\n",
        "RUN --security=insecure true\n",
        "RUN --mount=type=secret,id=x,required=true true\n",
    ],
)
def test_without_an_engine_the_way_out_is_told(fork, context, monkeypatch, tmp_path, text):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nothing.sock")
    with pytest.raises(SandboxError, match="line 2") as caught:
        built(fork, context, text)
    assert "engine" in caught.value.remedy


@of_fork
def test_a_base_that_is_not_to_be_had(fork, context):
    with pytest.raises(SandboxError, match="no base image no/such:base"):
        fork.build(Build(context, "FROM no/such:base\nRUN true\n"))


@of_fork
def test_unneeded_stages_are_left_out(fork, context):
    text = f"FROM no/such:base AS unused\nRUN false\nFROM {BASE}\nRUN echo x >/x\n"
    assert lines_of(fork, fork.build(Build(context, text)), "cat /x") == ["x"]


@of_fork
def test_scratch_holds_what_is_copied(fork, context):
    fill(context, {"f": "f"})
    image = fork.build(
        Build(
            context,
            f"FROM {BASE} AS from\nRUN echo x >/x\nFROM scratch\nCOPY f /f\nCOPY --from=from /x /d/\n",
        )
    )
    with (
        fork.open(image, LIMITS) as slot,
        tarfile.open(fileobj=io.BytesIO(slot.get(["/f", "/d", "/usr"]))) as tar,
    ):
        assert tar.getnames() == ["d", "d/x", "f"]


@of_fork
def test_many_files_are_copied(fork, context):
    for number in range(3000):
        path = context / f"tree/{number % 37}/{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(number))
    image = built(fork, context, "COPY tree /tree\nFROM scratch\nCOPY --from=0 /tree /again\n")
    with fork.open(image, LIMITS) as slot, tarfile.open(fileobj=io.BytesIO(slot.get(["/again"]))) as tar:
        assert sum(entry.isreg() for entry in tar) == 3000


def test_contexts_are_told_apart_by_what_is_copied(tmp_path):
    from aespec.sandbox.contexts import Context

    fill(tmp_path / "a", {"f": "f", "d/g": "g"})
    fill(tmp_path / "b", {"f": "f", "d/g": "g"})
    first, second = Context(tmp_path / "a"), Context(tmp_path / "b")
    assert first.digest("d") == second.digest("d")
    Path(tmp_path / "b/d/g").chmod(0o755)
    assert first.digest("d") != second.digest("d")
    assert first.digest("f") == second.digest("f")
