"""A folder made to harm its reader ends with a fault, having read little; nothing is followed out of it."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aespec.bundle.foreign import FaultError, folder, read_foreign, read_tests
from tests.bundle.foreign_making import HARBOR, TERMINAL_BENCH, TOML, harbor_task, make_task, older_task


def fatal(path):
    task, faults = read_foreign(path)
    assert task is None
    return {fault.slug for fault in faults if fault.is_fatal}


PLACES = ["environment", "tests", "solution", "environment/deep/er"]


@pytest.mark.parametrize("place", PLACES)
def test_a_huge_file_is_refused_unread(tmp_path, place):
    path = harbor_task(tmp_path) / place / "huge"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.truncate(path, 10 * 1024**3)
    assert fatal(tmp_path) == {"task-too-large"}


@pytest.mark.parametrize(
    "name", ["task.toml", "instruction.md", "environment/Dockerfile", "tests/.harborignore"]
)
def test_a_huge_file_where_text_is_read(tmp_path, name):
    path = harbor_task(tmp_path) / name
    path.touch()
    os.truncate(path, 2 * 1024**2)
    assert fatal(tmp_path) == {"task-too-large"}


@pytest.mark.parametrize("place", PLACES)
def test_a_million_files_are_not_counted_to_the_end(tmp_path, monkeypatch, place):
    monkeypatch.setattr(folder, "ENTRIES_LIMIT", 50)
    harbor_task(tmp_path, {f"{place}/{n}": "" for n in range(60)})
    listed = []
    real = os.scandir

    def scandir(path):
        listed.append(path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(folder.Folder.__init__, "__defaults__", (50, 10**9, set()))
    assert fatal(tmp_path) == {"task-too-large"}
    assert len(listed) < 10


def test_a_folder_without_end_of_depth(tmp_path):
    harbor_task(tmp_path)
    path = tmp_path / "environment"
    for _ in range(90):
        path /= "d"
    path.mkdir(parents=True)
    assert fatal(tmp_path) == {"task-too-deep"}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["fifo", "socket"])
def test_what_is_no_file_is_refused_unopened(tmp_path, place, kind):
    path = harbor_task(tmp_path) / place / "s"
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    else:
        here = socket.socket(socket.AF_UNIX)
        old = Path.cwd()
        os.chdir(path.parent)
        try:
            here.bind("s")
        finally:
            os.chdir(old)
            here.close()
    assert fatal(tmp_path) == {"special-file"}


@pytest.mark.parametrize("name", ["task.toml", "instruction.md", "tests/test.sh", "environment/Dockerfile"])
def test_a_pipe_in_a_files_place_stops_nobody(tmp_path, name):
    (harbor_task(tmp_path) / name).unlink()
    os.mkfifo(tmp_path / name)
    assert read_foreign(tmp_path)[0] is None


@pytest.mark.parametrize("name", ["task.toml", "instruction.md", "environment/Dockerfile", "tests/test.sh"])
def test_a_link_out_of_the_folder_is_not_followed(tmp_path, name):
    outside = tmp_path / "outside"
    outside.write_text("secret")
    task = harbor_task(tmp_path / "task")
    (task / name).unlink()
    (task / name).symlink_to(outside)
    assert fatal(task) == {"link-leaves-task"}


@pytest.mark.parametrize("name", ["environment", "tests", "solution"])
@pytest.mark.parametrize("target", ["/etc", "../outside", "/proc/self/root"])
def test_a_folder_that_is_a_link_out_is_not_followed(tmp_path, name, target):
    (tmp_path / "outside").mkdir()
    files = {key: None for key in HARBOR if key.startswith(f"{name}/")}
    task = harbor_task(tmp_path / "task", files)
    (task / name).symlink_to(target)
    assert "link-leaves-task" in fatal(task)


@pytest.mark.parametrize("place", ["tests", "solution"])
@pytest.mark.parametrize("target", ["/etc/passwd", "../../secret", "/proc/self/environ"])
def test_a_link_out_of_what_is_put_into_the_container(tmp_path, place, target):
    task = harbor_task(tmp_path / "task")
    (tmp_path / "secret").write_text("x")
    (task / place / "link").symlink_to(target)
    assert fatal(task) == {"link-leaves-task"}


def test_a_link_out_of_the_environment_stays_a_link(tmp_path):
    (harbor_task(tmp_path) / "environment/python").symlink_to("/usr/bin/python3")
    task, faults = read_foreign(tmp_path)
    assert (task is not None, faults) == (True, ())


@pytest.mark.parametrize(
    "links",
    [
        {"tests/loop": "."},
        {"tests/a/loop": ".."},
        {"tests/a/x": "../b", "tests/b/y": "../a"},
        {"tests/x": "../solution", "solution/y": "../tests"},
        {"solution/self": "self"},
        {"tests/up": ".."},
    ],
)
def test_links_in_a_circle(tmp_path, links):
    for name, target in links.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)
    assert fatal(harbor_task(tmp_path)) == {"link-cycle"}


def test_a_link_within_is_taken(tmp_path):
    task = harbor_task(tmp_path, {"tests/test.sh": None, "tests/real.sh": "exit 0\n"})
    (task / "tests/test.sh").symlink_to("real.sh")
    assert read_foreign(task)[0] is not None


def test_a_name_that_is_no_text_is_read(tmp_path):
    task = harbor_task(tmp_path)
    with open(os.fsencode(task / "tests") + b"/\xff\n", "wb"):  # noqa: PTH123 - no path of text
        pass
    found, _ = read_foreign(task)
    assert found is not None
    assert os.fsdecode(b"\xff\n") in read_tests(found)


@pytest.mark.needs("root")
def test_a_file_that_may_not_be_read(tmp_path):
    task = harbor_task(tmp_path / "task")
    tmp_path.chmod(0o755)
    (task / "tests/test.sh").chmod(0)
    pid = os.fork()
    if pid == 0:
        try:
            os.setgid(65534)
            os.setuid(65534)
            os._exit(0 if fatal(task) <= {"task-unreadable", "no-task"} else 1)
        except BaseException:  # noqa: BLE001 - the child may not run on as a second test session
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_more_than_fits_into_memory_is_not_taken_there(tmp_path):
    task, _ = read_foreign(harbor_task(tmp_path, {"tests/data": "x" * 5000}))
    with pytest.raises(FaultError):
        read_tests(task, 1000)


def test_a_name_that_is_listed_and_gone_is_a_fault(tmp_path):
    task, _ = read_foreign(harbor_task(tmp_path))
    (tmp_path / "tests/test.sh").unlink()
    (tmp_path / "tests").rmdir()
    assert read_tests(task) == {}


@given(st.data())
def test_any_bytes_in_any_file_end_in_data(tmp_path_factory, data):
    layout = data.draw(st.sampled_from([HARBOR, TERMINAL_BENCH]))
    name = data.draw(st.sampled_from(sorted(layout)))
    content = bytearray(layout[name].encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(at, min(len(content), at + 20)))
        content[at:end] = data.draw(st.binary(max_size=12))
    task, faults = read_foreign(make_task(tmp_path_factory.mktemp("task"), {**layout, name: bytes(content)}))
    assert (task is None) == any(fault.is_fatal for fault in faults)
    for fault in faults:
        assert fault.slug
        assert fault.message.isprintable() or "\n" in fault.message


@pytest.mark.parametrize(
    "toml",
    [
        "a." * 60_000 + "a = 1\n",
        "[" + "a." * 60_000 + "a]\n",
        "'a' .\t" * 20_000 + "a = 1\n",
        "x = {" + "a." * 60_000 + "a = 1}\n",
        "".join(f"{'a.' * 49}a{n} = 1\n" for n in range(1200)),
        "a.b" * 40_000,
        "x = " + "9" * 100_000,
        "x = " + "[" * 60_000,
        "x = " + "{a=" * 30_000,
        "[environment]\n" + "".join(f"k{n} = 1\n" for n in range(8_000)),
        TOML + "a" * 10,
    ],
)
def test_toml_made_to_be_slow_or_deep(tmp_path, toml):
    task, faults = read_foreign(harbor_task(tmp_path, {"task.toml": toml}))
    assert task is None or len(faults) <= 30


def test_a_compose_file_that_multiplies_itself(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert fatal(harbor_task(tmp_path, {"environment/docker-compose.yaml": "\n".join(lines)})) == {
        "bad-compose"
    }


def test_the_older_layout_is_bounded_as_well(tmp_path):
    task = older_task(tmp_path)
    (task / "big").touch()
    os.truncate(task / "big", 10 * 1024**3)
    assert fatal(task) == {"task-too-large"}
