"""What is read off somebody else's scripts and tests, without running them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aespec.bundle.foreign import Container, ForeignTask
from aespec.fuzz.cheats import read_facts
from aespec.fuzz.cheats.commands import commands_of, unwrap
from aespec.fuzz.cheats.python_source import read_python
from aespec.runtime.memory import Node
from aespec.trial.probe import Changes


def words(text):
    return [command.words for command in commands_of(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a b; c && d || e | f", [("a", "b"), ("c",), ("d",), ("e",), ("f",)]),
        ("a 'b c' \"d e\" f\\ g", [("a", "b c", "d e", "f g")]),
        ("a # b\n# c\nd", [("a",), ("d",)]),
        ("if a; then b; elif ! c; then d; else e; fi", [("a",), ("b",), ("c",), ("d",), ("e",)]),
        ("while a; do b; done", [("a",), ("b",)]),
        ("for x in a b; do c $x; done", [("c", "$x")]),
        ("case $x in a) b ;; *) c ;; esac", [("b",), ("c",)]),
        ("f() { a; }\nf", [("a",), ("f",)]),
        ('x=$(a "$(b)") c', [("b",), ("a", "$(b)"), ('x=$(a "$(b)")', "c")]),
        ("a `b c`", [("b", "c"), ("a", "`b c`")]),
        ("a <<END\nb c\nEND\nd", [("a",), ("d",)]),
        ("a <<-'END' | b\n\tc\n\tEND\nd", [("a",), ("b",), ("d",)]),
        ("a <<< b", [("a",)]),
        ("a \\\n  b", [("a", "b")]),
        ("(cd /x && a)", [("cd", "/x"), ("a",)]),
        ("a $((1 + 2))", [("a", "$((1 + 2))")]),
        ("a ${x:-b c}", [("a", "${x:-b c}")]),
    ],
)
def test_the_commands_of_a_script(text, found):
    assert words(text) == found


def test_redirections_are_told_apart():
    (command,) = commands_of("a < in > out 2>> log 2>&1 b")
    assert (command.words, command.reads, command.writes) == (("a", "b"), ("in",), ("out", "log"))


def test_a_wrapper_is_told_with_what_it_runs():
    (command,) = commands_of("sudo -E timeout 5s env A=1 python3 -m pytest x")
    assert [item.words[0] for item in unwrap(command)] == ["sudo", "timeout", "env", "python3"]


@given(st.text() | st.text(alphabet="ab'\"`$(){}<>|&;\\\n #=EOF-"))
def test_any_text_is_read_to_its_end(text):
    for command in commands_of(text):
        assert command.words or command.reads or command.writes
        list(unwrap(command))


def test_what_a_test_file_imports_runs_and_compares_with():
    found = read_python(
        b"import json, os.path\nfrom calc import add\nimport subprocess as sp\n"
        b"def test():\n"
        b"    sp.run(['jq', '.total', '/app/out.json'])\n"
        b"    os.system('diff /app/a /app/b')\n"
        b"    out = sp.check_output(f'wc -l {x}', shell=True)\n"
        b"    assert add(2, 3) == 5 and out in ('a', 'b') and -1 != data['k']\n"
        b"    self.assertEqual(x, 'wanted')\n"
    )
    assert list(found.modules) == ["json", "os.path", "calc", "subprocess"]
    assert list(found.commands) == [("jq", ".total", "/app/out.json")]
    assert list(found.scripts) == ["diff /app/a /app/b", "wc -l x"]
    assert list(found.paths) == ["/app/out.json"]
    assert {"5", "a", "b", "-1", "wanted"} <= set(found.literals)


@pytest.mark.parametrize("data", [b"def (", b"\xff\xfe", b"(" * 5000, b"x = 1\0", b"a" * (1 << 19)])
def test_a_source_that_can_t_be_read_says_nothing(data):
    assert not read_python(data).modules


def task(**settings):
    return ForeignTask(
        **{
            "path": Path("/nowhere"),
            "name": "t",
            "layout": "harbor",
            "schema": "1.4",
            "instruction": "",
            "environment": Container(Path("/nowhere"), "FROM x\nWORKDIR /w\nUSER dev\nWORKDIR /app\n"),
            "mode": "shared",
            "tests": Path("/nowhere"),
            "test_script": "test.sh",
            **settings,
        }
    )


SCRIPT = b"""#!/bin/bash
curl -LsSf https://x/install.sh | sh
source $HOME/.local/bin/env
export PYTHONPATH=/app/src:$PYTHONPATH
uvx -p 3.13 --with pytest==8.4.1 pytest --ctrf /logs/verifier/ctrf.json /tests/test_outputs.py -rA
/app/run.sh > /tmp/result.txt
(cd /srv && python3 /opt/grader/check.py)
if [ "$(cat /app/out.txt)" = "hello" ]; then echo 1 > /logs/verifier/reward.txt; fi
"""
TEST = b"import csv, hashlib\nfrom calc import add\nassert open('/app/data/ref.csv').read() == 'x'\n"


def test_the_facts_of_a_task():
    after = {
        "/app/run.sh": Node(data=b"#!/bin/sh\n", mode=0o755),
        "/app/calc.py": Node(data=b"def add(): 1\n"),
        "/app/other.py": Node(data=b"x = 1\n"),
        "/app/out.txt": Node(data=b"hello\n"),
        "/app/gone": None,
        "/app/link": Node("link", target="x"),
    }
    tests = {"/tests/test_outputs.py": TEST, "/tests/test.sh": SCRIPT, "/tests/data.txt": b"wanted\n"}
    facts = read_facts(task(), tests, Changes(dict.fromkeys(after), after))
    assert (facts.mode, facts.is_agent_root, facts.workdir) == ("shared", False, "/app")
    assert facts.tools[:2] == ("python3", "curl"), "those that verdicts are taken from first"
    assert {"uvx", "sh", "cat"} <= set(facts.tools)
    assert {"pytest", "python", "uvx"} <= facts.runs
    assert facts.tests[0] == "/tests/test.sh"
    assert facts.modules == ("hashlib",), "neither what the work consists of nor what pytest has imported"
    assert facts.outputs == ("/app/calc.py", "/app/other.py", "/app/out.txt", "/app/run.sh")
    assert facts.subjects == ("/app/calc.py", "/app/other.py")
    assert facts.programs == ("/app/run.sh",)
    assert facts.helpers == ("/opt/grader/check.py",)
    assert facts.startups == ("~/.local/bin/env",)
    assert facts.reports == ("/logs/verifier/ctrf.json", "/tmp/result.txt")
    assert facts.rewards[0] == "/logs/verifier/reward.txt"
    assert facts.folders == ("/app/src", "/srv", "/app")
    assert {"hello", "wanted", "x"} <= set(facts.literals)


@pytest.mark.parametrize(
    ("user", "is_root"), [("", False), ("root", True), ("0", True), ("0:0", True), ("dev", False)]
)
def test_who_the_agent_is(user, is_root):
    assert read_facts(task(agent_user=user), {}).is_agent_root == is_root
    assert read_facts(task(environment=Container(Path("/x"), "FROM x\n")), {}).is_agent_root


def test_without_an_oracle_there_are_no_outputs():
    facts = read_facts(task(), {"/tests/test.sh": SCRIPT})
    assert (facts.outputs, facts.subjects, facts.programs) == ((), (), ())


def test_names_that_harbor_itself_looks_up_are_no_tools_to_shadow():
    assert read_facts(task(), {"/tests/test.sh": b"env bash x; jq y\n"}).tools == ("jq",)


def test_modules_that_can_be_shadowed():
    test = b"import json, csv"
    by_pytest = {"/tests/test.sh": b"pytest /tests/t.py", "/tests/t.py": test}
    assert read_facts(task(), by_pytest).modules == ("json",), (
        "of those that pytest has imported one is tried"
    )
    by_python = {"/tests/test.sh": b"python3 /tests/t.py", "/tests/t.py": test}
    assert read_facts(task(), by_python).modules == ("json", "csv")


@pytest.mark.parametrize(
    ("script", "found"),
    [
        (b"pytest", False),
        (b"bash -lc pytest", True),
        (b"su - dev", False),
        (b"su -l dev", True),
        (b"source ~/.bashrc", True),
    ],
)
def test_files_that_shells_read_at_their_start(script, found):
    assert ("~/.bashrc" in read_facts(task(), {"/tests/test.sh": script}).startups) == found
