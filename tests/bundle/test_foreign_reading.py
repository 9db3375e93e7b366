"""Tasks of others become data, with Harbor's defaults, and each kind of brokenness its own word."""

import pytest

from aespec.bundle.foreign import Artifact, read_foreign, read_solution, read_tests
from aespec.bundle.foreign.reading import strip_canary
from tests.bundle.foreign_making import TOML, harbor_task, make_task, older_task

CONVENTION = Artifact("/logs/artifacts")


def read(folder, **more):
    task, faults = read_foreign(folder, **more)
    assert task is not None, faults
    return task, {fault.slug for fault in faults}


def refused(folder):
    """The slugs of what made the task unreadable."""
    task, faults = read_foreign(folder)
    assert task is None
    fatal = [fault for fault in faults if fault.is_fatal]
    assert all(fault.message for fault in fatal)
    return {fault.slug for fault in fatal}


def test_a_plain_task_is_read_with_the_defaults(tmp_path):
    task, faults = read(harbor_task(tmp_path / "sum"))
    assert faults == set()
    assert (task.name, task.layout, task.schema, task.mode) == ("someone/sum", "harbor", "1.4", "shared")
    assert task.instruction == "Write the sum to /app/sum.txt.\n"
    assert (task.agent_timeout_s, task.verifier_timeout_s) == (120.0, 30.0)
    assert task.network == {"agent": True, "verifier": True}
    assert task.environment.dockerfile.startswith("FROM debian")
    assert task.environment.context == tmp_path / "sum/environment"
    assert task.environment.image is None
    assert task.solution == tmp_path / "sum/solution"
    assert task.artifacts == (CONVENTION,)
    assert (task.extras, task.verifier, task.has_own_tests) == ((), None, False)


def test_a_task_without_a_name_is_called_as_its_folder(tmp_path):
    task, _ = read(harbor_task(tmp_path / "sum", {"task.toml": 'version = "1.0"\n'}))
    assert (task.name, task.schema) == ("sum", "1.0")
    assert (task.agent_timeout_s, task.verifier_timeout_s) == (900.0, 600.0)


def test_deprecated_keys_are_read_as_todays(tmp_path):
    toml = '[environment]\nmemory = "2G"\nstorage = "512M"\nallow_internet = false\ncpus = 1.5\n'
    task, _ = read(harbor_task(tmp_path, {"task.toml": toml}))
    assert (task.memory_bytes, task.disk_bytes, task.cpu) == (2 * 1024**3, 512 * 1024**2, 1.5)
    assert task.network == {"agent": False, "verifier": False}


def test_a_phase_has_a_network_of_its_own(tmp_path):
    toml = '[environment]\nnetwork_mode = "no-network"\n[verifier]\nnetwork_mode = "public"\n'
    task, _ = read(harbor_task(tmp_path, {"task.toml": toml}))
    assert task.network == {"agent": False, "verifier": True}


def test_a_network_of_named_hosts_is_told(tmp_path):
    toml = '[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["*.example.com", "192.0.2.0/24"]\n'
    task, _ = read(harbor_task(tmp_path, {"task.toml": toml}))
    assert task.network["agent"]
    assert "a network of named hosts only" in task.extras


def test_users_and_working_directory(tmp_path):
    toml = '[agent]\nuser = "solver"\n[verifier]\nuser = 0\n[environment]\nworkdir = "/srv"\n'
    task, _ = read(harbor_task(tmp_path, {"task.toml": toml}))
    assert (task.agent_user, task.verifier_user, task.environment.workdir) == ("solver", "0", "/srv")


def test_a_prebuilt_image_wins_over_a_dockerfile_unless_it_is_built(tmp_path):
    folder = harbor_task(tmp_path, {"task.toml": '[environment]\ndocker_image = "example/sum:1"\n'})
    task, _ = read(folder)
    assert (task.environment.image, task.environment.dockerfile) == ("example/sum:1", None)
    task, _ = read(folder, is_built=True)
    assert task.environment.image is None
    assert task.environment.dockerfile.startswith("FROM debian")


def test_files_beside_a_prebuilt_image_go_to_the_working_directory(tmp_path):
    toml = '[environment]\ndocker_image = "example/sum:1"\nworkdir = "/my work"\n'
    task, _ = read(harbor_task(tmp_path, {"task.toml": toml, "environment/Dockerfile": None}))
    assert task.environment.dockerfile == 'FROM example/sum:1\nCOPY [".", "/my work/"]\n'


def test_a_prebuilt_image_needs_no_environment_folder(tmp_path):
    files = {"environment/Dockerfile": None, "environment/numbers.txt": None}
    task, _ = read(
        harbor_task(tmp_path, {"task.toml": '[environment]\ndocker_image = "example/sum:1"\n', **files})
    )
    assert task.environment.image == "example/sum:1"


def test_variables_are_filled_by_what_is_given_and_never_by_the_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_MACHINE", "x")
    toml = (
        '[environment.env]\nMODE = "${MODE:-slow}"\nPLAIN = "a ${X} b"\n'
        '[verifier.env]\nKEY = "${SECRET_OF_THE_MACHINE}"\n[solution.env]\nKEY = "${GIVEN}"\n'
    )
    task, faults = read(harbor_task(tmp_path, {"task.toml": toml}), given={"GIVEN": "g"})
    assert task.environment.env == {"MODE": "slow", "PLAIN": "a ${X} b"}
    assert task.verifier_env == {}
    assert task.solution_env == {"KEY": "g"}
    assert faults == {"variable-not-given"}


def test_artifacts_in_all_their_forms(tmp_path):
    toml = """
artifacts = ["/app/out.txt", {source = "/app/data", destination = "data", exclude = ["*.tmp"]},
             {source = "log", service = "main"}, {source = "/db", service = "db"}]
[verifier]
environment_mode = "separate"
[[verifier.collect]]
command = "dump > /app/out.txt"
[[verifier.collect]]
command = "dump"
service = "db"
"""
    task, faults = read(harbor_task(tmp_path, {"task.toml": toml}))
    assert task.artifacts == (
        CONVENTION,
        Artifact("/app/out.txt"),
        Artifact("/app/data", ("*.tmp",)),
        Artifact("/log"),
    )
    assert task.collect == ("dump > /app/out.txt",)
    assert faults == {"artifact-relative"}
    assert len([extra for extra in task.extras if "(db" in extra]) == 2


def test_a_separate_verifier_is_a_copy_of_the_agents_container(tmp_path):
    task, _ = read(harbor_task(tmp_path, {"task.toml": '[verifier]\nenvironment_mode = "separate"\n'}))
    assert (task.mode, task.verifier, task.has_own_tests) == ("separate", None, False)


def test_a_separate_verifier_may_have_a_dockerfile_with_its_tests(tmp_path):
    folder = harbor_task(
        tmp_path,
        {
            "task.toml": '[verifier.environment]\nworkdir = "/w"\n[verifier.environment.env]\nA = "b"\n',
            "tests/Dockerfile": "FROM python:3\nCOPY . /tests/\n",
            "tests/test.sh": None,
        },
    )
    task, _ = read(folder)
    assert (task.mode, task.has_own_tests) == ("separate", True)
    assert task.verifier.context == folder / "tests"
    assert task.verifier.dockerfile.startswith("FROM python")
    assert (task.verifier.workdir, task.verifier.env) == ("/w", {"A": "b"})
    assert read_tests(task) == {}


def test_the_image_of_a_separate_verifier_wins_over_its_dockerfile(tmp_path):
    toml = '[verifier.environment]\ndocker_image = "example/judge:1"\n'
    task, _ = read(harbor_task(tmp_path, {"task.toml": toml, "tests/Dockerfile": "FROM python:3\n"}))
    assert (task.verifier.image, task.verifier.dockerfile) == ("example/judge:1", None)


def test_a_separate_verifier_with_other_variables_gets_the_tests_put_there(tmp_path):
    toml = '[verifier.environment.env]\nMODE = "judge"\n'
    task, _ = read(harbor_task(tmp_path, {"task.toml": toml}))
    assert (task.verifier.env, task.has_own_tests) == ({"MODE": "judge"}, False)
    assert task.verifier.dockerfile == task.environment.dockerfile
    assert set(read_tests(task)) == {"test.sh"}


def test_the_compose_file_says_how_the_main_container_is_made(tmp_path):
    compose = """
services:
  main:
    build: {context: app, dockerfile: Other, target: last, args: {N: 3}}
    environment: ["A=1", "B=${B:-two}", "C"]
    working_dir: /w
    user: "1000"
    network_mode: none
    privileged: true
    volumes: ["./data:/data:ro"]
  db:
    image: postgres
"""
    folder = harbor_task(
        tmp_path,
        {
            "environment/docker-compose.yaml": compose,
            "environment/app/Other": "FROM a AS first\nRUN x\nFROM first AS last\nRUN y\nFROM b\n",
            "task.toml": '[environment.env]\nC = "c"\n',
        },
    )
    task, _ = read(folder)
    made = task.environment
    assert made.context == folder / "environment/app"
    assert made.dockerfile == "FROM a AS first\nRUN x\nFROM first AS last\nRUN y\n"
    assert (made.arguments, made.env) == ({"N": "3"}, {"A": "1", "B": "two", "C": "c"})
    assert (made.workdir, made.user) == ("/w", "1000")
    assert task.network == {"agent": False, "verifier": False}
    assert {extra.partition(" (")[0] for extra in task.extras} == {
        "a sidecar",
        "a setting of the container",
        "a mount",
    }


def test_a_compose_file_that_changes_nothing_asks_for_nothing(tmp_path):
    compose = (
        "services:\n  main:\n    init: true\n    stop_grace_period: 0s\n    command: [sleep, infinity]\n"
    )
    task, faults = read(harbor_task(tmp_path, {"environment/docker-compose.yaml": compose}))
    assert (task.extras, faults) == ((), set())


@pytest.mark.parametrize(
    ("toml", "word"),
    [
        ("[environment]\ngpus = 1\n", "GPUs (1)"),
        ('[environment.healthcheck]\ncommand = "true"\n', "a health check"),
        ('[[environment.mcp_servers]]\nname = "m"\nurl = "http://m"\n', "an MCP server (m)"),
        ('[environment.tpu]\ntype = "v4"\ntopology = "2x4"\n', "a TPU"),
    ],
)
def test_what_a_task_asks_for_beyond_a_container_is_named(tmp_path, toml, word):
    task, _ = read(harbor_task(tmp_path, {"task.toml": toml}))
    assert task.extras == (word,)


def test_comments_against_training_are_not_shown_to_the_solver():
    text = "<!-- a canary GUID 1 -->\n# Canary: 2\n\n\nDo it. # canary\n"
    assert strip_canary(text) == "Do it. # canary\n"


def test_uploads_are_what_harbor_puts_into_the_container(tmp_path):
    folder = harbor_task(
        tmp_path,
        {
            "tests/.harborignore": "*.log\n!keep.log\n/cache/\n# no pattern\n",
            "tests/a.log": "x",
            "tests/keep.log": "x",
            "tests/cache/big": "x",
            "tests/sub/cache/small": "x",
            "tests/sub/.harborignore": "keep.log\n",
            "tests/sub/keep.log": "x",
            "solution/data/a.txt": "x",
        },
    )
    (folder / "tests/link").symlink_to("test.sh")
    task, _ = read(folder)
    found = read_tests(task)
    assert set(found) == {"test.sh", "keep.log", "link", "sub", "sub/cache", "sub/cache/small"}
    assert found["test.sh"].mode & 0o111
    assert (found["link"].kind, found["link"].target) == ("link", "test.sh")
    assert set(read_solution(task)) == {"solve.sh", "data", "data/a.txt"}


def test_the_digest_changes_with_what_the_task_is_made_of(tmp_path):
    changes = [
        {},
        {"tests/test.sh": "other"},
        {"environment/numbers.txt": "1\n3\n"},
        {"instruction.md": "other"},
        {"solution/more.txt": ""},
        {"task.toml": TOML + "\n[metadata]\na = 1\n"},
    ]
    digests = [read(harbor_task(tmp_path / str(n), change))[0].digest for n, change in enumerate(changes)]
    assert len(set(digests)) == len(changes)
    assert digests[0] == read(harbor_task(tmp_path / "again", {"README.md": "no part of it"}))[0].digest


def test_the_older_layout_is_read_as_harbors_mapper_does(tmp_path):
    folder = older_task(tmp_path / "sum")
    task, faults = read(folder)
    assert faults == set()
    assert (task.name, task.layout, task.mode) == ("sum", "terminal-bench", "shared")
    assert task.instruction == "Write the sum to /app/sum.txt.\n"
    assert (task.agent_timeout_s, task.verifier_timeout_s) == (100.0, 60.0)
    assert task.environment.env == {"TEST_DIR": "/tests"}
    assert task.environment.context == folder
    assert task.extras == ()
    tests = read_tests(task)
    assert set(tests) == {"test.sh", "test_outputs.py"}
    script = tests["test.sh"].data.decode()
    assert script.startswith("pytest /tests/test_outputs.py\n")
    assert script.endswith("exit $_EXIT_CODE\n")
    assert "reward.txt" in script
    assert read_solution(task)["solve.sh"].data == b"echo 3 > /app/sum.txt\n"
    assert set(read_solution(task)) == {"solve.sh"}


def test_a_solution_of_plain_commands_becomes_a_script(tmp_path):
    steps = "- command: echo 3 > /app/sum.txt\n  block: true\n- command: serve\n  block: false\n"
    task, _ = read(older_task(tmp_path, {"solution.sh": None, "solution.yaml": steps}))
    script = read_solution(task)["solve.sh"].data.decode()
    assert script == "#!/bin/bash\necho 3 > /app/sum.txt\n{ serve\n} &\n"


def test_a_solution_of_pressed_keys_is_none(tmp_path):
    steps = "- command: vim x\n- command: ':wq'\n  append_enter: false\n"
    task, faults = read(older_task(tmp_path, {"solution.sh": None, "solution.yaml": steps}))
    assert task.solution is None
    assert faults == {"solution-interactive"}


@pytest.mark.parametrize(
    ("changes", "slug"),
    [
        ({"task.toml": "a = \n"}, "bad-toml"),
        ({"task.toml": "x = " + "[" * 5000}, "bad-toml"),
        ({"task.toml": b"\xff"}, "not-utf-8"),
        ({"task.toml": 'a = "\\d"\n'}, "bad-toml"),
        ({"task.toml": '[task]\nname = "no-organisation"\n'}, "bad-value"),
        ({"task.toml": "[task]\n"}, "bad-value"),
        ({"task.toml": "[verifier]\ntimeout_sec = [1]\n"}, "bad-value"),
        ({"task.toml": "environment = 1\n"}, "bad-value"),
        ({"task.toml": "[verifier]\nenvironment_mode = 'shared'\n[verifier.environment]\n"}, "bad-value"),
        ({"task.toml": '[environment]\nmemory = "2G"\nmemory_mb = 1024\n'}, "bad-value"),
        ({"task.toml": '[environment]\nallowed_hosts = ["example.com"]\n'}, "bad-value"),
        ({"task.toml": "[verifier.env]\nPORT = 80\n"}, "bad-value"),
        ({"task.toml": 'artifacts = ["/app/../etc", {source = "/a/../b"}]\n'}, "bad-value"),
        ({"task.toml": '[environment]\ndocker_image = "a\\nRUN b"\n'}, "bad-value"),
        ({"task.toml": '[[steps]]\nname = "one"\n'}, "multi-step"),
        (
            {"task.toml": '[[steps]]\nname = "one"\n', "instruction.md": None, "tests/test.sh": None},
            "multi-step",
        ),
        ({"task.toml": '[environment]\nos = "Windows"\n'}, "windows-task"),
        ({"tests/test.sh": None, "tests/test.bat": ""}, "windows-task"),
        ({"instruction.md": None}, "no-instruction"),
        ({"environment/Dockerfile": None}, "no-environment"),
        ({"tests/test.sh": None}, "no-test-script"),
        ({"tests/.harborignore": "*.sh\n"}, "script-left-out"),
        ({"environment/docker-compose.yaml": "services: [a]\n"}, "bad-compose"),
        ({"environment/docker-compose.yaml": "a: &a [*a]\n"}, "bad-compose"),
        ({"environment/docker-compose.yaml": "services: {main: {build: ../..}}\n"}, "context-leaves-task"),
        (
            {"environment/docker-compose.yaml": "services: {main: {build: 'https://x/y'}}\n"},
            "context-leaves-task",
        ),
    ],
)
def test_what_breaks_a_task_has_a_word_of_its_own(tmp_path, changes, slug):
    assert refused(harbor_task(tmp_path, changes)) == {slug}


@pytest.mark.parametrize(
    ("changes", "slug"),
    [
        ({"task.yaml": "a: [\n"}, "bad-yaml"),
        ({"task.yaml": "- a\n"}, "bad-yaml"),
        ({"task.yaml": "difficulty: easy\n"}, "no-instruction"),
        ({"run-tests.sh": None}, "no-test-script"),
        ({"Dockerfile": None}, "no-environment"),
        ({"docker-compose.yaml": "services:\n  client: [1]\n"}, "bad-compose"),
    ],
)
def test_what_breaks_an_older_task_has_a_word_of_its_own(tmp_path, changes, slug):
    assert refused(older_task(tmp_path, changes)) == {slug}


@pytest.mark.parametrize(
    ("changes", "slug"),
    [
        ({"task.toml": "[environment]\nmemroy_mb = 5\n"}, "unknown-key"),
        ({"task.toml": "[environment]\nmemory = 2\n"}, "ignored-value"),
        ({"task.toml": 'schema_version = "2.0"\n'}, "newer-schema"),
        ({"task.toml": "[agent]\ntimeout_sec = 0\n"}, "odd-timeout"),
        ({"task.toml": "[agent]\ntimeout_sec = nan\n"}, "odd-timeout"),
        ({"instruction.md": "<!-- canary -->\n"}, "empty-instruction"),
        ({"solution/solve.sh": None}, "no-solution"),
        ({"environment/docker-compose.yaml": "services: {main: {env_file: .env}}\n"}, "bad-compose"),
        (
            {
                "environment/Dockerfile": None,
                "environment/docker-compose.yaml": "services: {main: {image: a}}\n",
            },
            "compose-image",
        ),
    ],
)
def test_what_is_odd_is_told_and_the_task_is_read_all_the_same(tmp_path, changes, slug):
    assert read(harbor_task(tmp_path, changes))[1] == {slug}


def test_an_unknown_key_is_met_with_the_nearest_known_one(tmp_path):
    _, faults = read_foreign(harbor_task(tmp_path, {"task.toml": "[verifer]\n[agent]\ntimout_sec = 5\n"}))
    assert {fault.help for fault in faults} == {"Did you mean `verifier`?", "Did you mean `timeout_sec`?"}


def test_several_faults_are_told_at_once(tmp_path):
    folder = harbor_task(
        tmp_path, {"instruction.md": None, "tests/test.sh": None, "environment/Dockerfile": None}
    )
    assert refused(folder) == {"no-instruction", "no-test-script", "no-environment"}


def test_a_folder_that_is_no_task(tmp_path):
    assert refused(make_task(tmp_path / "a", {"x/task.toml": TOML})) == {"no-task"}
    assert refused(tmp_path / "missing") == {"no-task"}
    assert refused(make_task(tmp_path / "b", {"f": ""}) / "f") == {"no-task"}


def test_what_a_task_says_cannot_steer_a_terminal(tmp_path):
    toml = '[verifier]\n"\\u001b[2J" = 1\n'
    _, faults = read_foreign(harbor_task(tmp_path, {"task.toml": toml}))
    assert all("\x1b" not in fault.message + fault.help for fault in faults)
    assert "\\x1b[2J" in faults[0].message


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", 600.0),
        ("build_timeout_sec = 20", 20.0),
        ("build_timeout_sec = 1e300", 86_400.0),
        ("build_timeout_sec = inf", 86_400.0),
        ("build_timeout_sec = nan", 600.0),
        ("build_timeout_sec = -1", 600.0),
    ],
)
def test_a_build_has_the_time_that_the_task_gives_it(tmp_path, line, expected):
    task, _ = read_foreign(harbor_task(tmp_path, {"task.toml": f"{TOML}\n[environment]\n{line}\n"}))
    assert task.environment.build_timeout_s == expected
