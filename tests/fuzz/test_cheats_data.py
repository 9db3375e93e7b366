"""Cheats as data: their form, that no value breaks out of a script, that draws are steady and bounded."""

import json
import subprocess
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aespec.fuzz.cheats import TaskFacts, all_cheats, instances
from aespec.fuzz.cheats.cheat import PARAMETERS, read_cheat
from aespec.fuzz.cheats.classes import CLASSES

CHEATS = all_cheats()
FULL = TaskFacts(
    runs=frozenset({"pytest", "python", "git", "make"}),
    tests=("/tests/test.sh", "/tests/test_outputs.py", "/tests/helpers.py", "/tests/expected.txt"),
    modules=("json", "statistics"),
    tools=("grep", "jq", "curl"),
    literals=("42", "it's"),
    outputs=("/app/out.txt", "/app/calc.py", "/app/run.sh"),
    subjects=("/app/calc.py",),
    programs=("/app/run.sh",),
    helpers=("/opt/check.py",),
    startups=("~/.bashrc",),
    reports=("/tmp/report.xml",),
    folders=("/app", "/tests"),
)
# What the record lists (verifier-flaws.md 2a and 2b, harbor.md 2.4), with the cheats that try it.
ROWS = {
    "conftest in cwd, tests elsewhere": ["conftest-in-workdir"],
    "conftest planted in the tests folder before upload": ["conftest-in-tests"],
    "pytest.ini in tests folder, or in its parent": ["pytest-config-in-tests", "pytest-config-at-root"],
    "PYTEST_ADDOPTS in env": ["pytest-options-in-environment"],
    "PYTEST_PLUGINS + PYTHONPATH": ["pytest-plugins-in-environment"],
    "pytest11 entry point in site-packages": ["pytest-entry-point"],
    "sitecustomize / .pth in site-packages": ["sitecustomize-in-site", "site-pth"],
    "edited `_pytest` package": ["pytest-edited"],
    "`python -m pytest` with pytest.py in cwd": ["pytest-module-in-workdir"],
    "fake pytest/python early in PATH": ["tool-takes-verdict", "tool-exits-0"],
    "os._exit(0) at import or atexit": ["subject-exits-at-import", "subject-exits-at-end"],
    "subject returns always-equal object": ["subject-always-equal"],
    "subject reads expected from caller's frame": ["subject-reads-frame"],
    "subject patches _pytest.reports": ["subject-patches-reports"],
    "sys.exit(0) in subject; forged PASSED lines": ["subject-exits-plainly", "subject-prints-marks"],
    "late writer, every 20 ms": ["late-writer"],
    "planted file in /tests": ["conftest-in-tests", "module-in-tests"],
    "pre-write reward.json and reward.txt": ["reward-planted"],
    "replace /usr/bin/cat used by test.sh": ["tool-replaced-in-place"],
    "plant /tests/json.py": ["module-in-tests"],
}


def everything():
    return [item for cheat in CHEATS for item in instances(cheat, FULL, limit=100)]


def test_there_are_enough_and_every_row_of_the_record_is_there():
    slugs = {cheat.slug for cheat in CHEATS}
    assert sum(not cheat.is_harmless for cheat in CHEATS) >= 40
    assert {slug for found in ROWS.values() for slug in found} <= slugs


def test_every_cheat_can_be_drawn_and_every_parameter_is_used():
    assert not [cheat.slug for cheat in CHEATS if not list(instances(cheat, FULL))]
    assert {name for cheat in CHEATS for name in cheat.parameters} == set(PARAMETERS)


def test_scripts_are_what_both_shells_read():
    for item in everything():
        for shell in ("sh", "bash"):
            done = subprocess.run(
                [shell, "-n"], input=item.script, text=True, capture_output=True, check=False
            )
            assert (done.returncode, done.stderr) == (0, ""), item.name


def test_live_cheats_are_of_shared_containers():
    assert not [cheat.slug for cheat in CHEATS if cheat.is_live and cheat.mode != "shared"]


@pytest.mark.parametrize(
    "change",
    [
        ('slug = "s"', 'slug = "t"'),
        ("class = 1", "class = 2"),
        ("class = 1", "class = 99"),
        ('level = "task"', 'level = "moon"'),
        ("rank = 1", "rnak = 1"),
        ('parameters = ["tool"]', 'parameters = ["stool"]'),
        ('mode = "shared"', 'mode = "both ways"'),
        ('mode = "shared"', 'moed = "shared"'),
    ],
)
def test_a_file_that_is_no_cheat_is_refused_by_name(tmp_path, change):
    text = (
        'slug = "s"\ntitle = "t"\nclass = 1\nclass_name = "Reward-file plant"\nlevel = "task"\nrank = 1\n'
        'parameters = ["tool"]\nscript = "true"\n[applies]\nmode = "shared"\n'
    )
    path = tmp_path / "s.toml"
    path.write_text(text)
    assert read_cheat(path).parameters == ("tool",)
    path.write_text(text.replace(*change))
    with pytest.raises(ValueError, match=r"s\.toml"):
        read_cheat(path)


def test_the_level_of_a_win_is_the_task_s_where_root_s_means_are_out_of_reach():
    for cheat in CHEATS:
        assert cheat.level_of("separate", is_agent_root=True) == "task"
        assert cheat.level_of("shared", is_agent_root=False) == "task"
        assert cheat.level_of("shared", is_agent_root=True) == cheat.level
    assert {cheat.slug for cheat in CHEATS if cheat.level == "mode"} >= {
        "interpreter-replaced",
        "shell-replaced",
        "loader-preload",
        "late-writer",
    }


def test_what_doesn_t_apply_isn_t_drawn():
    apart = replace(FULL, mode="separate")
    by_shell = replace(FULL, runs=frozenset({"grep"}))
    as_user = replace(FULL, is_agent_root=False)
    for cheat in CHEATS:
        assert not list(instances(cheat, apart)) or cheat.mode in ("both", "separate")
        assert not list(instances(cheat, by_shell)) or not cheat.runs
        assert not list(instances(cheat, as_user)) or cheat.agent == "any"
        if cheat.parameters:
            assert not list(
                instances(cheat, TaskFacts(runs=FULL.runs, folders=(), rewards=(), interpreters=()))
            ) or (cheat.parameters == ("workdir",))


def test_draws_are_steady_bounded_and_all_different():
    many = replace(FULL, tools=tuple(f"tool{n}" for n in range(50)), literals=tuple(map(str, range(50))))
    for cheat in CHEATS:
        found = list(instances(cheat, many, limit=10))
        assert found == list(instances(cheat, many, limit=10))
        assert len(found) <= 10
        assert len({item.script for item in found}) == len(found)
    both = next(cheat for cheat in CHEATS if cheat.slug == "tool-prints-literal")
    first = [(item.values["tool"], item.values["literal"]) for item in instances(both, many, limit=3)]
    assert first == [("tool0", "0"), ("tool0", "1"), ("tool1", "0")], "early values of each before late ones"


def test_a_probe_starts_where_its_kind_of_cheat_does():
    for item in everything():
        assert item.probe().base == ("oracle" if item.is_harmless else "start")
        assert item.probe().is_live == item.cheat.is_live


HOSTILE = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=40)
SPIKES = st.sampled_from(
    [
        "'",
        '"',
        "$(touch /broken)",
        "`touch /broken`",
        "a'; touch /broken; '",
        "\\",
        "\n",
        "END\ntouch /broken\n",
        "-n",
        "*",
    ]
)


@given(HOSTILE | SPIKES | st.builds("".join, st.lists(HOSTILE | SPIKES, max_size=3)).filter(bool))
@settings(max_examples=30)
def test_no_value_breaks_out_of_its_script(value):
    """A script is its assignments and then its constant text; sh reads each value back as it was."""
    for cheat in CHEATS:
        plain = next(iter(instances(cheat, replace(FULL, **facts_of("x")))))
        body = plain.script.split("\n", len(plain.values))[-1]
        for item in instances(cheat, replace(FULL, **facts_of(value)), limit=1):
            assert item.script.endswith(body)
            check_reads_back(item.script.removesuffix(body), item.values)


def facts_of(value):
    kept = ("mode", "is_agent_root", "runs", "workdir")
    told = {item.name: (value,) for item in fields(TaskFacts) if item.name not in kept}
    return told | {"workdir": value, "tests": (value, f"{value}.py")}


def check_reads_back(head, values):
    key = (head, tuple(values))
    if key in SEEN:
        return
    SEEN.add(key)
    prints = "".join(f"printf '%s\\0' \"${name}\"\n" for name in values)
    done = subprocess.run(["sh", "-c", head + prints], capture_output=True, check=True)
    assert done.stdout.decode() == "".join(f"{value}\0" for value in values.values())


SEEN = set()


def test_every_class_that_is_named_is_one():
    assert len(CLASSES) == 35
    assert json.dumps(sorted(CLASSES)) == json.dumps(list(range(1, 36)))
