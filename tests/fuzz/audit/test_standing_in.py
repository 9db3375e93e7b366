"""What takes the place of programs and services in a sandbox, tried here on small ones of our own."""

import json
import os
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from aespec.fuzz.audit import canned, services, serving, stand_in
from aespec.fuzz.audit.canned import Asked, is_one_valued, is_visible, read_log
from aespec.fuzz.audit.inquiry import Inquiry
from aespec.fuzz.audit.memory import Memory
from aespec.fuzz.audit.prober import Budget, Prober
from aespec.operators.api import Output, Scene
from aespec.runtime.memory import Node
from aespec.trial.probe import Judgement
from tests.fuzz.audit.pretence import PretendedHarness, pretend_task

DOUBLE = """\
import sys


def double(number):
    if number < 0:
        raise ValueError("below zero")
    return number + number


if __name__ == "__main__":
    print(double(int(sys.argv[1])), sys.stdin.read().strip())
"""


@pytest.fixture
def watched(tmp_path):
    """A function that puts a stand-in with these words at a path, and the log."""
    path, log = tmp_path / "app" / "double.py", tmp_path / "log"
    path.parent.mkdir()

    def put(**told):
        output = Output(str(path), "code", None, Node(data=DOUBLE.encode()))
        told = {"log": str(log), "top": str(path.parent), "limit": 50, **told}
        (edit,) = canned._standing_in(output, "stand-in", told).edits
        path.write_text(edit.value["text"])
        return path, log

    return put


def run(path, *words, stdin=""):
    return subprocess.run(
        [sys.executable, str(path), *words], input=stdin, capture_output=True, text=True, check=False
    )


def test_a_program_that_is_watched_says_the_same_and_is_written_down(watched):
    path, log = watched(source=DOUBLE)
    ended = run(path, "4", stdin="yes\n")
    assert (ended.returncode, ended.stdout) == (0, "8 yes\n")
    assert run(path, "-1").returncode == 1
    first, second = read_log(log.read_bytes())
    assert first.asked == (["4"], "yes\n")
    assert first.answer == ("8 yes\n", "", 0)
    assert "below zero" in second.answer[1]
    assert str(path) in first.files


def test_functions_that_are_watched_answer_the_same_and_are_written_down(watched):
    path, log = watched(source=DOUBLE)
    code = "import double\nprint(double.double(2))\ntry: double.double(-1)\nexcept ValueError: print(1)"
    ended = run_code(code, path.parent)
    assert ended.stdout == "4\n1\n", ended.stderr
    told = list(read_log(log.read_bytes()))
    assert [item.asked[0] for item in told] == ["double", "double"]
    assert [item.answer for item in told] == [("value", "4"), ("fault", "ValueError", "below zero")]


def run_code(code, folder):
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )


def test_a_program_that_only_knows_answers_knows_no_other(watched):
    path, log = watched(source=DOUBLE)
    run(path, "4")
    run_code("import double; double.double(2)", path.parent)
    told = list(read_log(log.read_bytes()))
    answers = {item.key: list(item.answer) for item in told}
    path, _ = watched(answers=answers, names=["double"])
    assert run(path, "4").stdout == "8 \n"
    assert run(path, "5").returncode == 1
    assert run_code("import double; print(double.double(2))", path.parent).stdout == "4\n"
    assert run_code("import double; print(double.double(3))", path.parent).returncode == 1


@pytest.mark.parametrize("shell", ["/bin/sh", "/bin/bash"])
def test_a_shell_script_is_watched_and_then_only_known(tmp_path, shell):
    path, log = tmp_path / "say.sh", tmp_path / "log"
    source = 'read -r line\necho "$1 $line $(basename "$0")"\necho oops >&2\nexit 3\n'
    output = Output(str(path), "code", None, Node(data=source.encode()))

    def run_it(*words, stdin=""):
        ended = subprocess.run(
            [shell, str(path), *words], input=stdin, capture_output=True, text=True, check=False
        )
        return ended.returncode, ended.stdout, ended.stderr

    told = {"source": source, "log": str(log), "top": str(tmp_path), "limit": 50}
    path.write_text(canned._standing_in(output, "", told).edits[0].value["text"])
    assert run_it("a b", "", stdin="yes\n") == (3, "a b yes say.sh\n", "oops\n")
    (asked,) = read_log(log.read_bytes())
    assert asked.asked == (["a b", ""], "yes\n")
    assert asked.answer == ("a b yes say.sh\n", "oops\n", 3)
    assert str(path) in asked.files
    told = {"answers": {asked.key: list(asked.answer)}, "names": []}
    path.write_text(canned._standing_in(output, "", told).edits[0].value["text"])
    assert run_it("a b", "", stdin="yes\n") == (3, "a b yes say.sh\n", "oops\n")
    assert run_it("a b", stdin="yes\n") == (1, "", "")
    assert run_it("a b", "", stdin="no\n") == (1, "", "")


@pytest.mark.parametrize("kind", ["run", "call", "no kind", 3, None])
@pytest.mark.parametrize(
    "asked", [[], {}, "ab", [1], [[], "", ""], [[1], ""], [["\ud800"], ""], ["", "", 1], None]
)
def test_a_question_of_another_form_is_none(kind, asked):
    answer = ["", "", 0] if kind == "run" else ["value", "1"]
    row = {"kind": kind, "asked": asked, "answer": answer, "cwd": "/", "files": {}, "env": {}}
    assert list(read_log(json.dumps(row).encode())) == []


@pytest.mark.parametrize("text", ["{[]: 1}", "(", "f()", "1" * 5000, "(" * 500, "\0", "-'a'"])
def test_an_answer_that_is_no_literal_cannot_be_known(text):
    item = Asked("call", ("double", text, "[]"), ("value", text), "/app", THERE, {})
    assert not canned._can_be_known([item], OUTPUT)
    assert not is_visible(item, OUTPUT, SCENE, THERE, [])


def test_ports_that_a_solution_makes_up_are_none(tmp_path):
    said = f'{serving.MARK} [[[\n{serving.MARK} {{"x": 1}}\n{serving.MARK} 7\n{serving.MARK} {{"80": []}}\n'

    def answer(probe, count):
        return Judgement("fail", agent_output=said)

    harness = PretendedHarness(lambda files: True, {}, answer=answer)
    prober = Prober(harness, Memory(None), Budget(), workers=1)
    inquiry = Inquiry(pretend_task(tmp_path, "x"), prober, "task")
    assert services._ports(inquiry, "start") == {80}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"sh x\n",
        b"sh 1 2 3 4 5 6 7 8\n",
        b"\xff\n",
        b"{}\n",
        b"[1]\n",
        b'{"kind": "run"}\n',
        b"\0" * 100,
    ],
)
def test_a_log_that_a_task_has_spoiled_is_no_question(data):
    assert list(read_log(data)) == []


OUTPUT = Output("/app/double.py", "code", None, Node(data=DOUBLE.encode()))
SCENE = Scene((OUTPUT,), {}, "Write /app/double.py; `double.py 21` prints 42.")
THERE = {"/app/double.py": "1", "/app/data.csv": "2"}


def asked(*words, kind="run", stdin="", cwd="/app", files=THERE, env=None):
    given = (list(words), stdin) if kind == "run" else ("double", repr(words), "[]")
    return Asked(kind, given, ("42\n", "", 0), cwd, files, env or {})


@pytest.mark.parametrize(
    ("item", "visible"),
    [
        (asked("21"), True),
        (asked("22"), False),
        (asked("2"), False),
        (asked("/app/data.csv"), True),
        (asked("data.csv"), True),
        (asked("/tmp/hidden.csv"), False),
        (asked(stdin="21\n"), True),
        (asked(stdin="7\n"), False),
        (asked(21, kind="call"), True),
        (asked(22, kind="call"), False),
        (asked("21", files={**THERE, "/app/data.csv": "3"}), False),
        (asked("21", files={**THERE, "/app/more.csv": "2"}), False),
        (asked("21", files={}), False),
        (asked("21", cwd="/tmp/x"), False),
    ],
)
def test_a_question_is_seen_where_all_of_it_lies_before_the_solver(item, visible):
    assert is_visible(item, OUTPUT, SCENE, THERE, []) is visible


def test_a_question_with_two_answers_hangs_on_something_else():
    one = asked("21")
    assert is_one_valued([one, one])
    assert not is_one_valued([one, Asked(one.kind, one.asked, ("43\n", "", 0), one.cwd, one.files, one.env)])


# --- services -----------------------------------------------------------------------------------------------

SERVER = """\
import socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    client, _ = server.accept()
    client.sendall(open("word").read().encode())
    client.close()
"""


@pytest.fixture
def service(tmp_path):
    """The port of a service that says what its file says; what was put there is ended with the test."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "word").write_text("one")
    process = subprocess.Popen([sys.executable, "-c", SERVER, str(port)], cwd=tmp_path)
    assert serving.await_ports([port])
    yield port, tmp_path
    act("end", port)
    process.kill()
    process.wait()


def act(action, port, *text):
    words = [sys.executable, serving.__file__, action, *([str(port)] if port else []), *text]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def say(port):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        return client.recv(100).decode()


def test_what_listens_is_listed_and_ended(service):
    port, _ = service
    told = json.loads(act("list", 0).stdout.removeprefix(serving.MARK))
    assert str(port) in told
    assert act("end", port).returncode == 0
    assert port not in serving.listening()


def test_a_service_is_started_again_over_the_files_of_now(service):
    port, folder = service
    assert say(port) == "one"
    (folder / "word").write_text("two")
    assert act("restart", port).returncode == 0
    assert say(port) == "two"


@pytest.mark.parametrize(
    ("text", "status", "body"),
    [("200 OK", 200, b"OK"), ('200 {"a": 1}', 200, b'{"a": 1}'), ("404 no", 404, b"no")],
)
def test_a_stub_gives_every_request_its_one_answer(service, text, status, body):
    port, _ = service
    assert act("answer", port, text).returncode == 0
    for path in ("/", "/other"):
        assert fetch(f"http://127.0.0.1:{port}{path}") == (status, body)


def fetch(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as fault:
        with fault:
            return fault.code, fault.read()


def test_a_stub_hangs_up(service):
    port, _ = service
    assert act("close", port).returncode == 0
    assert say(port) == ""


def test_a_port_that_nothing_listens_on_cannot_be_started_again(service):
    port, _ = service
    act("end", port)
    assert act("restart", port).returncode == serving.FAILED


def test_what_stands_in_leaves_no_name_of_its_own_that_a_program_may_have():
    names = re.findall(r"^def (\w+)", Path(stand_in.__file__).read_text(), re.MULTILINE)
    assert names
    assert all(name.startswith("_aespec_") for name in names)
    assert os.path.basename(stand_in.__file__) == canned._STAND_INS["python"].name  # noqa: PTH119 - a name


def test_calls_in_the_log_of_a_shell_script_are_made_up():
    script = Output("/app/say.sh", "code", None, Node(data=b"echo 1\n"))
    assert not canned._can_be_known([asked(21, kind="call")], script)
    assert canned._can_be_known([asked("21")], script)


BOSS = "while True:\n    subprocess.run([sys.executable, '-c', SERVER, PORT]); time.sleep(0.2)\n"


def test_a_service_that_something_starts_again_is_never_ended(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    head = f"import subprocess, sys, time\nSERVER, PORT = {SERVER!r}, {str(port)!r}\n"
    boss = subprocess.Popen([sys.executable, "-c", head + BOSS], cwd=tmp_path)
    try:
        assert serving.await_ports([port])
        assert act("end", port).returncode == serving.FAILED
        assert act("answer", port, "200 OK").returncode == serving.FAILED
    finally:
        boss.kill()
        boss.wait()
        act("end", port)
