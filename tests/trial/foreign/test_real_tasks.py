"""Small tasks run for real: each way of being judged, each way of being broken, in the embedded sandbox."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from aespec.model.edit import Edit
from aespec.trial.judging import Perturbation
from aespec.trial.probe import Probe
from tests.trial.foreign.tasks import BASE, INPUTS, PYTEST, PYTHON, SHELL, SUM, TEST_SUM

pytestmark = pytest.mark.needs("userns", "uid-range", "base-image")
NOP = Probe("nop", "start")
ORACLE = Probe("oracle", "oracle")
AGAIN = Probe("oracle again", "solution")
WRONG = Probe("wrong", edits=(Edit("/app/sum.txt", "", "put", {"text": "43\n"}),))
WORKER = "RUN useradd -m -u 1234 worker && chown worker /app\n"
REWARD = "/logs/verifier/reward"


def judged(harness, *probes, **options):
    """The outcomes of the probes."""
    return [harness.judge(probe, **options).outcome for probe in probes]


def says(judgement, outcome, boundary, words):
    assert (judgement.outcome, judgement.boundary) == (outcome, boundary), judgement.message
    assert words in judgement.message


# --- ways of being judged -----------------------------------------------------------------------------------


@pytest.mark.parametrize("is_cold", [False, True])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"mode": "separate", "artifacts": ["/app/sum.txt"]},
        {"mode": "separate", "artifacts": ["/app"]},
        {
            "mode": "separate",
            "artifacts": ["/app/sum.txt"],
            "more": {
                "tests/Dockerfile": "FROM debian:bookworm-slim\nCOPY test.sh /tests/test.sh\nWORKDIR /\n"
            },
        },
    ],
    ids=["shared", "separate-copy", "separate-folder", "separate-own-image"],
)
def test_oracle_nop_and_an_edit_are_judged_in_each_mode(harness, settings, is_cold):
    made = harness(**settings)
    expected = ["fail", "pass", "pass", "fail"]
    assert judged(made, NOP, ORACLE, AGAIN, WRONG, is_cold=is_cold) == expected
    live = Probe("live", "start", script="echo 42 > /app/sum.txt", is_live=True)
    frozen = Probe("frozen", "start", script="echo 42 > /app/sum.txt")
    assert judged(made, live, frozen, is_cold=is_cold) == ["pass", "pass"]
    assert set(made.changes().after) == {"/app/sum.txt"}
    assert made.read("/app/sum.txt", base="oracle")["/app/sum.txt"].data == b"42\n"
    assert made.read("/app/sum.txt") == {}


@pytest.mark.needs("package-index")
def test_pytest_tells_which_tests_failed(harness):
    made = harness(dockerfile=PYTHON + INPUTS, test=PYTEST, more={"tests/test_sum.py": TEST_SUM})
    assert judged(made, ORACLE) == ["pass"]
    assert made.judge(WRONG).failed == ("test_sum.py::test_right",)
    assert made.judge(NOP).failed == ("test_sum.py::test_there", "test_sum.py::test_right")
    assert "2 failed" in made.judge(NOP).output


def test_parts_of_a_reward_are_read(harness):
    test = (
        "#!/bin/bash\n[ -f /app/sum.txt ] && a=1 || a=0\n"
        '[ "$(cat /app/sum.txt)" = 42 ] && b=true || b=false\n'
        f'echo "{{\\"there\\": $a, \\"right\\": $b}}" > {REWARD}.json\n'
    )
    made = harness(test=test)
    found = made.judge(WRONG)
    assert (found.outcome, found.reward, dict(found.rewards)) == ("fail", 0.5, {"there": 1.0, "right": 0.0})
    assert judged(made, ORACLE, NOP) == ["pass", "fail"]


@pytest.mark.parametrize("is_live", [False, True])
def test_an_agent_without_rights_runs_where_and_as_whom_the_task_says(harness, is_live):
    made = harness(
        dockerfile=BASE + INPUTS + WORKER,
        agent_user="worker",
        solve=SUM + 'echo "$(id -un) $HOME $PWD $KEY" > /app/who\n',
        solution_env={"KEY": "value 'quoted'"},
    )
    assert judged(made, Probe("x", "solution", is_live=is_live)) == ["pass"]
    if not is_live:
        assert made.changes().after["/app/who"].data == b"worker /home/worker /app value 'quoted'\n"
        assert made.changes().after["/app/who"].uid == 1234
    said = made.judge(Probe("x", "start", script="id; pwd; echo $HOME", is_live=is_live)).agent_output
    assert said.split()[0].startswith("uid=1234(worker)")
    assert said.splitlines()[1:] == ["/app", "/home/worker"]
    refused = made.judge(Probe("x", "start", script="echo x > /etc/mine", is_live=is_live))
    assert refused.agent_status != 0
    assert "ermission denied" in refused.agent_output


@pytest.mark.parametrize("is_live", [False, True])
def test_a_verifier_may_be_another_user_with_its_own_environment(harness, is_live):
    asks = '[ "$(id -un) $HOME $PWD $KEY" = "worker /home/worker /app v" ]'
    test = f"#!/bin/bash\n{asks} && echo 1 > {REWARD}.txt\n"
    made = harness(
        dockerfile=BASE + INPUTS + WORKER, test=test, verifier_user="worker", verifier_env={"KEY": "v"}
    )
    assert judged(made, Probe("x", "solution", is_live=is_live)) == ["pass"]


# --- what lives on ------------------------------------------------------------------------------------------

SERVER = (
    "import http.server\nhttp.server.HTTPServer(('127.0.0.1', 8123), http.server.SimpleHTTPRequestHandler)"
    ".serve_forever()\n"
)
SERVES = (
    f"cat > /app/server.py <<'EOF'\n{SERVER}EOF\ncd /app; echo 42 > sum.txt; "
    "nohup python3 server.py >/dev/null 2>&1 &\nsleep 0.5\n"
)
ASKS = (
    "#!/bin/bash\n"
    "answer=$(python3 -c 'import urllib.request as u; "
    'print(u.urlopen("http://127.0.0.1:8123/sum.txt").read().decode().strip())\')\n'
    f'if [ "$answer" = 42 ]; then echo 1; else echo 0; fi > {REWARD}.txt\n'
)
ENDS = "for p in /proc/[0-9]*; do grep -q python3 $p/comm && kill -9 ${p#/proc/}; done"


@pytest.mark.needs("package-index")
def test_a_solution_that_leaves_a_service_is_replayed_for_each_probe(harness):
    made = harness(dockerfile=PYTHON, solve=SERVES, test=ASKS)
    assert judged(made, ORACLE, AGAIN, WRONG, NOP) == ["pass", "pass", "fail", "fail"]
    assert judged(made, Probe("dead", "oracle", script=ENDS)) == ["fail"]
    assert set(made.changes().after) == {"/app/server.py", "/app/sum.txt"}
    assert any("lives on (python3)" in note for note in made.notes())


@pytest.mark.needs("package-index")
def test_what_an_image_starts_by_itself_runs_beside_the_solution(harness):
    entry = '#!/bin/sh\ncd /app && python3 /server.py >/dev/null 2>&1 &\nexec "$@"\n'
    made = harness(
        dockerfile=PYTHON + 'COPY server.py entry.sh /\nRUN chmod +x /entry.sh\nENTRYPOINT ["/entry.sh"]\n',
        solve="echo 42 > /app/sum.txt\n",
        test=ASKS,
        more={"environment/server.py": SERVER, "environment/entry.sh": entry},
    )
    assert judged(made, ORACLE, WRONG) == ["pass", "fail"]


def test_what_is_collected_is_collected_while_it_lives(harness):
    made = harness(
        mode="separate",
        artifacts=["/out"],
        collect=["mkdir -p /out; (cat /proc/[0-9]*/comm | grep -c sleeper; id -u) > /out/told"],
        solve="cp /bin/sleep /app/sleeper; nohup /app/sleeper 60 >/dev/null 2>&1 &\n",
        test=f'#!/bin/bash\n[ "$(xargs < /out/told)" = "1 0" ]; echo $((1 - $?)) > {REWARD}.txt\n',
    )
    assert judged(made, ORACLE, NOP) == ["pass", "fail"]


LATE = f"(while :; do echo '{{\"reward\": 1}}' > {REWARD}.json; sleep 0.02; done) >/dev/null 2>&1 &"


def test_a_late_writer_wins_where_it_does_in_harbor(harness):
    shared, apart = harness("shared"), harness("apart", mode="separate", artifacts=["/app"])
    late = Probe("late", "start", script=LATE, is_live=True)
    assert judged(shared, late, late, is_cold=True) == ["pass", "pass"]
    assert judged(shared, Probe("ended", "start", script=LATE)) == ["fail"], "frozen, it is no more"
    assert judged(apart, late) == ["fail"]


@pytest.mark.parametrize("is_live", [False, True])
def test_planted_rewards_are_gone_and_other_plants_stay(harness, is_live):
    test = f"#!/bin/bash\n[ -f /tests/mine ] && [ -f /logs/verifier/mine ] && echo 0.5 > {REWARD}.txt\n"
    made = harness(test=test)
    rewards = f"echo 1 > {REWARD}.txt; echo '{{\"reward\": 1}}' > {REWARD}.json"
    files = "mkdir -p /tests; touch /tests/mine /logs/verifier/mine; echo evil > /tests/test.sh"
    plants = f"{rewards}; {files}"
    assert made.judge(Probe("planted", "start", script=plants, is_live=is_live)).reward == 0.5
    says(
        made.judge(Probe("nothing", "start", is_live=is_live)), "error", "verifier", "RewardFileNotFoundError"
    )


@pytest.mark.parametrize("is_live", [False, True])
@pytest.mark.parametrize(
    ("plant", "words"),
    [
        ("mkdir -p /tests/test.sh/x", "AddTestsDirError"),
        (f"mkdir -p {REWARD}.json", "is a folder"),
        (f"mkdir -p {REWARD}.txt/x", "is a folder"),
    ],
)
def test_what_harbor_cannot_clear_away_is_no_verdict(harness, plant, words, is_live):
    made = harness()
    says(made.judge(Probe("plant", "start", script=plant, is_live=is_live)), "error", "verifier", words)


@pytest.mark.parametrize("is_live", [False, True])
def test_a_link_in_the_place_of_the_verifiers_folder_is_not_followed(harness, is_live):
    plant = "rm -rf /logs/verifier; mkdir -p /app/own; ln -s /app/own /logs/verifier"
    assert judged(harness(), Probe("link", "start", script=plant, is_live=is_live)) == ["fail"]


def test_a_link_to_the_expected_answer_does_not_cross(harness):
    made = harness(
        mode="separate",
        artifacts=["/app/sum.txt"],
        test=f"#!/bin/bash\ncmp -s /app/sum.txt /tests/expected; echo $((1 - $?)) > {REWARD}.txt\n",
        more={"tests/expected": "42\n"},
    )
    link = Probe("link", "start", script="ln -s /tests/expected /app/sum.txt")
    assert judged(made, ORACLE, link) == ["pass", "fail"]


def test_the_tests_are_not_to_be_seen_before_they_come(harness):
    look = Probe(
        "look",
        "start",
        script="find / -xdev -name test.sh -o -name '.aespec*' 2>/dev/null; ls /tests",
        is_live=True,
    )
    said = harness().judge(look).agent_output
    assert "test.sh" not in said
    assert said.split("\n")[0] == "/.aespec", "root sees the session's folder, and nothing of the tests in it"


@pytest.mark.parametrize("is_live", [False, True])
def test_edits_come_before_the_script_and_scripts_may_be_long(harness, is_live):
    script = (
        "# " + "x" * 200_000 + "\ncat /app/sum.txt; [ $(cat /app/sum.txt) = 43 ] && echo 42 > /app/sum.txt\n"
    )
    made = harness()
    probe = Probe("both", "solution", WRONG.edits, script, is_live)
    assert made.judge(probe).is_passed
    assert made.judge(probe).agent_output == "43\n"


def test_edits_of_all_kinds_in_a_session_lead_where_they_lead_without_one(harness):
    lists = "cd /app && find . -printf '%P %y %m %l\\n' | sort > /logs/verifier/list"
    test = f"#!/bin/bash\n{lists}\n" + SHELL.partition("\n")[2]
    made = harness(
        solve=SUM + "mkdir -p d/e keep; echo x > d/e/f; echo x > keep/x; chmod 600 sum.txt\n", test=test
    )
    edits = (
        Edit("/app/d", "", "delete"),
        Edit("/app/new/deep", "", "put", {"text": "n", "mode": 0o755}),
        Edit("/app/a.txt", "", "link", "b.txt"),
        Edit("/app/keep", "", "put", {"text": "was a folder"}),
        Edit("/app/b.txt", "", "folder"),
        Edit("/app/sum.txt", "", "swap", {"old": "42", "new": "24"}),
    )
    keep = Perturbation("keep", keep=("/logs/verifier/list",))
    frozen = made.judge(Probe("x", "oracle", edits), keep)
    live = made.judge(Probe("x", "oracle", edits, is_live=True), keep)
    assert frozen.files
    assert frozen.files == live.files
    assert b"d/e" not in live.files["/logs/verifier/list"]
    assert b"sum.txt f 600" in live.files["/logs/verifier/list"]


# --- what a verifier installs ------------------------------------------------------------------------------

BY_APT = "apt-get update\napt-get install -y --no-install-recommends python3-pytest\n"
BY_PIP = "pip install --break-system-packages pytest==8.3.4\n"


@pytest.mark.full
@pytest.mark.needs("package-index")
@pytest.mark.parametrize(("tool", "script"), [("python3", BY_APT), ("python3 python3-pip", BY_PIP)])
def test_what_a_verifier_installs_is_there_for_further_probes(harness, tool, script):
    install = f"RUN apt-get update && apt-get install -y --no-install-recommends {tool}\n"
    made = harness(
        dockerfile=BASE + install + INPUTS,
        test="#!/bin/bash\n" + script + PYTEST.partition("\n")[2],
        more={"tests/test_sum.py": TEST_SUM},
        network={"agent": True, "verifier": True},
    )
    assert judged(made, ORACLE, WRONG, NOP) == ["pass", "fail", "fail"]
    assert made.judge(WRONG).failed == ("test_sum.py::test_right",)
    stands, offline = made.notes()
    assert "what the verifier installed" in stands
    assert "without the network" in offline
    assert judged(made, WRONG, is_cold=True) == ["fail"]


# --- surroundings -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_live", [False, True])
def test_surroundings_are_shifted_for_the_verifier(harness, is_live):
    test = f'#!/bin/bash\necho "$TZ $(umask) $(nproc)" > /logs/verifier/told\necho 1 > {REWARD}.txt\n'
    made = harness(test=test)
    shift = Perturbation("all", env={"TZ": "Asia/Tokyo"}, umask=0o077, cores=1, keep=("/logs/verifier/told",))
    told = made.judge(Probe("x", "oracle", is_live=is_live), shift).files
    assert told == {"/logs/verifier/told": b"Asia/Tokyo 0077 1\n"}


def test_folders_list_their_files_in_another_order(harness):
    test = f"#!/bin/bash\nls -U /app/many > /logs/verifier/told\necho 1 > {REWARD}.txt\n"
    solve = "mkdir -p /app/many; for n in $(seq 40); do echo $n > /app/many/$n; done\n"
    for name, settings in (("shared", {}), ("apart", {"mode": "separate", "artifacts": ["/app/many"]})):
        made = harness(name, solve=solve, test=test, **settings)
        plain = made.judge(ORACLE, Perturbation("none", keep=("/logs/verifier/told",)))
        turned = made.judge(ORACLE, Perturbation("order", is_reversed=True, keep=("/logs/verifier/told",)))
        before, after = (item.files["/logs/verifier/told"].split() for item in (plain, turned))
        assert sorted(before) == sorted(after)
        assert before != after


# --- broken and hostile tasks -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "boundary", "words"),
    [
        (
            {"test": "#!/bin/bash\nexit 3\n"},
            "verifier",
            "wrote no reward (RewardFileNotFoundError); it ended with status 3",
        ),
        ({"test": f"#!/bin/bash\n: > {REWARD}.txt\n"}, "verifier", "RewardFileEmptyError"),
        ({"test": f"#!/bin/bash\necho nan > {REWARD}.txt\n"}, "verifier", "not finite"),
        ({"test": "#!/opt/none/bash\n"}, "verifier", "a program is missing"),
        (
            {"test": "#!/bin/bash\nsleep 60\n", "verifier_timeout_s": 2.0},
            "verifier",
            "ran longer than 2 s (Verifier",
        ),
        ({"test": "#!/bin/bash\ncurl https://example.org || exit 1\n"}, "verifier", "a program is missing"),
        ({"dockerfile": BASE + "RUN rm /bin/bash\n"}, "verifier", "no bash"),
        ({"dockerfile": BASE + "RUN exit 7\n"}, "image", "exit 7"),
        ({"agent_user": "nobody-knows"}, "spec", "nobody-knows"),
    ],
    ids=["no-reward", "empty", "nan", "interpreter", "hang", "tool", "no-bash", "build", "user"],
)
def test_a_broken_task_is_told_with_its_boundary(harness, settings, boundary, words):
    probe = AGAIN if boundary == "spec" else NOP
    made = harness(**settings)
    says(made.judge(probe, is_cold=True), "error", boundary, words)


@pytest.mark.parametrize("is_live", [False, True])
def test_a_verifier_that_takes_too_long_is_told_from_one_that_says_124(harness, is_live):
    probe = Probe("x", "solution", is_live=is_live)
    slow = harness("slow", test="#!/bin/bash\nsleep 60\n", verifier_timeout_s=2.0)
    says(slow.judge(probe, is_cold=True), "error", "verifier", "ran longer than 2 s (VerifierTimeoutError)")
    odd = harness("odd", test="#!/bin/bash\nexit 124\n", verifier_timeout_s=20.0)
    says(odd.judge(probe, is_cold=True), "error", "verifier", "RewardFileNotFoundError")


def test_a_fork_bomb_ends_with_a_message_and_leaves_nothing(harness):
    bomb = "#!/bin/bash\nbomb() { bomb | bomb & }\nbomb\nwait\nsleep 30\n"
    made = harness(test=bomb, verifier_timeout_s=5.0)
    found = made.judge(NOP, is_cold=True)
    assert (found.outcome, found.boundary) == ("error", "verifier")
    assert found.message
    assert judged(made, Probe("after", "start", script="true"), is_cold=True) == ["error"]


def test_a_flood_of_output_is_cut(harness):
    made = harness(test=f"#!/bin/bash\nhead -c 200000000 /dev/zero | tr '\\0' 'y'\necho 1 > {REWARD}.txt\n")
    found = made.judge(NOP, is_cold=True)
    assert found.is_passed
    assert set(found.output) == {"y"}
    assert len(found.output) < 100_000


def test_output_without_end_fills_the_tasks_own_disk_and_no_more(harness):
    made = harness(test=f"#!/bin/bash\nyes\necho 1 > {REWARD}.txt\n", storage_mb=64, verifier_timeout_s=60.0)
    found = made.judge(NOP, is_cold=True)
    assert (found.outcome, found.boundary) == ("error", "verifier")


def test_many_probes_at_once_do_not_disturb_each_other(harness):
    made = harness()
    probes = [
        Probe(str(number), edits=(Edit("/app/sum.txt", "", "put", {"text": f"{number}\n"}),))
        for number in range(36, 48)
    ]
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda probe: made.judge(probe).outcome, probes))
    assert outcomes == ["pass" if number == 42 else "fail" for number in range(36, 48)]
