"""What the agent finds ready-made in its own container: found where it was planted, and only there."""

from dataclasses import replace

import pytest

from aespec.fuzz.audit.leaks import choose_wanted, search_leaks
from aespec.operators.scene import make_scene
from aespec.runtime.memory import Node
from aespec.sandbox import open_sandbox
from aespec.trial.foreign import open_harness
from aespec.trial.probe import Judgement
from tests.fuzz.planted import Planted, careful

ANSWER = '{"total": 120450, "account": "rent-and-heating", "month": "2024-11-amsterdam"}\n'
SOLUTION = """\
#!/bin/bash
python3 - <<'PY'
totals = collect_by_account_and_month(rows)
write_report_sorted_by_account(totals)
publish_the_final_statement(totals, where)
PY
"""
CHECK = """\
import json
import sys

wanted = {"total": 120450, "account": "rent-and-heating", "month": "2024-11-amsterdam"}
sys.exit(json.load(open("/app/report.json")) != wanted)
"""
OUTPUTS = {"/app/report.json": ANSWER}
TESTS = {"check.py": CHECK}
INSTRUCTION = "Total `/app/ledger.csv` by account into `/app/report.json`.\n"
SCRIPT = careful('/usr/bin/python3 -I "$place/check.py"', "ok=$?", names=["check.py"])
SCENE = make_scene(
    {"/app/report.json": None},
    {"/app/report.json": Node(data=ANSWER.encode())},
    {"/app/ledger.csv": b"account,cents\nrent-and-heating,120450\n"},
    INSTRUCTION,
)
QUOTED = ANSWER.strip().replace('"', '\\"')
COMMIT = (
    "RUN cd /app && git init -q && git config user.name a && git config user.email a@b && echo a > a "
    f'&& git add a && git commit -qm a && echo "{QUOTED}" > report.json && git add . && git commit -qm b '
    "&& git reset -q --hard HEAD~1 && git reflog expire --expire=now --all"
)


def planted(image):
    return Planted(
        SCRIPT,
        TESTS,
        OUTPUTS,
        image=image + "\nRUN printf 'account,cents\\nrent-and-heating,120450\\n' > ledger.csv\n",
    )


@pytest.fixture(scope="module")
def sandbox():
    opened = open_sandbox("fork")
    yield opened
    opened.close()


def search(harness, **more):
    files = {f"/tests/{name}": text.encode() for name, text in TESTS.items()}
    return search_leaks(
        harness, SCENE, tests=files, solution={"/solution/solve.sh": SOLUTION.encode()}, **more
    )


def cold(harness):
    class Cold:
        def judge(self, probe, shift=None, *, is_cold=False):
            return harness.judge(probe, shift, is_cold=True)

    return Cold()


SOLVE = SOLUTION.replace("\n", "\\n").replace("'", "'\\''")
DRAFT = (
    "totals = collect_by_account_and_month(rows)\\nwrite_report_sorted_by_account(totals)\\n"
    "publish_the_final_statement(totals, where)\\n"
)
CASES = {
    "a copy": (f'RUN echo "{QUOTED}" > /srv/old.json', "copy", "answer", "/srv/old.json", True),
    "a copy among packages": (
        f'RUN echo "{QUOTED}" > /usr/share/x.json',
        "copy",
        "answer",
        "/usr/share/x.json",
        True,
    ),
    "an object of git": (COMMIT, "blob", "answer", "/app/.git", True),
    "texts in another file": (
        "RUN echo 'x = [\"2024-11-amsterdam\"] # rent-and-heating' > /opt/notes.py",
        "token",
        "answer",
        "/opt/notes.py",
        False,
    ),
    "the solution": (f"RUN printf '{SOLVE}' > /opt/do.sh", "copy", "solution", "/opt/do.sh", False),
    "lines of the solution": (
        f"RUN printf '{DRAFT}' > /root/draft.txt",
        "token",
        "solution",
        "/root/draft.txt",
        False,
    ),
    "the environment": ("ENV MONTH=2024-11-amsterdam", "environment", "answer", "the environment", False),
    "a package in a cache": (
        "RUN mkdir -p /opt/cache/pip && echo '2024-11-amsterdam' | gzip > /opt/cache/pip/p.tar.gz",
        "package",
        "answer",
        "/opt/cache/pip/p.tar.gz",
        False,
    ),
}


@pytest.mark.needs("userns", "uid-range", "base-image")
@pytest.mark.parametrize("case", CASES)
def test_a_planted_leak_is_found_where_it_lies(case, sandbox, tmp_path):
    image, kind, of, place, wins = CASES[case]
    harness = cold(open_harness(planted(image).write(tmp_path / "task"), sandbox))
    found = search(harness)
    assert not found.problem
    told = [leak for leak in found.leaks if (leak.kind, leak.of, leak.place) == (kind, of, place)]
    assert told, found.leaks
    assert (told[0].probe is not None and harness.judge(told[0].probe).is_passed) == wins


@pytest.mark.needs("userns", "uid-range", "base-image")
@pytest.mark.parametrize("image", ["RUN true", "RUN echo 'rent-and-heating is an account' > /app/README"])
def test_a_clean_image_has_no_leaks(image, sandbox, tmp_path):
    harness = cold(open_harness(planted(image).write(tmp_path / "task"), sandbox))
    found = search(harness)
    assert not found.problem
    assert not found.leaks


@pytest.mark.needs("userns", "uid-range", "base-image")
def test_the_tests_in_the_image_are_told(sandbox, tmp_path):
    lines = CHECK.replace("\n", "\\n").replace("'", "'\\''")
    image = f"RUN mkdir /tests && printf '{lines}' > /tests/check.py"
    found = search(cold(open_harness(planted(image).write(tmp_path / "task"), sandbox)))
    assert [(leak.kind, leak.of, leak.place) for leak in found.leaks if leak.kind == "copy"] == [
        ("copy", "tests", "/tests/check.py")
    ]


def wanted_of(scene, **more):
    return choose_wanted(scene, tests={}, solution={}, **more)


def test_what_the_agent_is_shown_is_no_token():
    tokens = wanted_of(SCENE).tokens["answer", "/app/report.json"]
    assert tokens == ("2024-11-amsterdam",), "the account stands in the ledger, the total too"
    shown = make_scene({}, {"/app/o.txt": Node(data=b"sesame-open\n")}, {}, "Write sesame-open.")
    assert wanted_of(shown).tokens["answer", "/app/o.txt"] == ()


def test_short_and_plain_texts_are_no_tokens():
    scene = make_scene({}, {"/app/o.txt": Node(data=b"short\n--------------\n  a long enough one  \n")})
    assert wanted_of(scene).tokens["answer", "/app/o.txt"] == ("a long enough one",)
    assert wanted_of(scene, literals=["/app/some/path", "a literal of tests"]).tokens[
        "answer", "the tests"
    ] == ("a literal of tests",)


def test_a_small_output_isn_t_looked_for_as_a_whole():
    scene = make_scene({}, {"/app/o.txt": Node(data=b"42\n")})
    assert wanted_of(scene).is_nothing


class Told:
    """A harness whose search prints what it is told to."""

    def __init__(self, text):
        self.text = text

    def judge(self, probe, shift=None, *, is_cold=False):
        return Judgement("fail", agent_output=self.text, agent_status=124)


def test_a_search_that_doesn_t_end_is_a_problem_and_no_clean_bill():
    assert "124" in search(Told("token\t/x\t2024-11-amsterdam\n")).problem
    assert not search(Told("end\t\t\n")).problem


@pytest.mark.parametrize(
    "line", ["copy\t/x\tno digest", "blob\t/x/.git\t00", "token\t/x", "token\t\t\t\t", "\t\t", "x"]
)
def test_what_a_search_prints_is_taken_for_no_more_than_it_is(line):
    assert not search(Told(f"{line}\nend\t\t\n")).leaks


def test_a_token_that_stands_everywhere_gives_nothing_away():
    lines = "".join(f"token\t/opt/{n}\t2024-11-amsterdam\n" for n in range(9))
    assert not search(Told(lines + "end\t\t\n")).leaks
    assert search(Told("token\t/opt/1\t2024-11-amsterdam\nend\t\t\n")).leaks


def test_a_file_that_the_task_points_at_is_an_input():
    told = Told("token\t/opt/book/rates.txt\t2024-11-amsterdam\nend\t\t\n")
    scene = replace(SCENE, instruction=INSTRUCTION + "Rates stand in rates.txt.")
    files = {"tests": {}, "solution": {}}
    assert not search_leaks(told, scene, **files).leaks
    assert search_leaks(told, SCENE, **files).leaks


def test_an_answer_in_the_recipe_stays_in_the_image_s_history():
    found = search(Told("end\t\t\n"), dockerfile="FROM x\nRUN echo 2024-11-amsterdam > /x && rm /x\n").leaks
    assert [(leak.kind, leak.of) for leak in found] == [("layer", "answer")]
