"""Recipes as Dockerfiles: what is gathered into one layer, what must not be, and what no value can do."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aespec.bundle.dockerfile import layer_count, render_dockerfile
from aespec.bundle.quoting import UnquotableError
from aespec.bundle.recipe import AddUser, Copy, MakeFolder, Packages, Raw, Recipe, Shell
from tests.bundle.test_quoting import TEXTS, read_env

INSTRUCTIONS = {"FROM", "USER", "RUN", "ENV", "COPY", "WORKDIR"}


def lines(*steps, **more):
    """The Dockerfile's instructions, continued lines joined."""
    text = render_dockerfile(Recipe(more.pop("base", "debian:12"), steps, "environment", **more))
    joined = text.replace("\\\n", " ")
    return [re.sub(r" +", " ", line) for line in joined.split("\n") if line and not line.startswith("#")]


def copies(*steps):
    return [line for line in lines(*steps) if line.startswith("COPY")]


def copied(path, owner="", mode=0o644):
    return Copy(f"files{path}", path, mode, owner)


def test_the_order_is_base_packages_accounts_variables_fixtures():
    steps = (
        Packages("apt", ("git",)),
        Packages("pip", ("six==1",)),
        AddUser("agent", 1000, "/home/agent"),
        MakeFolder("/app", 0o755, "agent"),
        copied("/app/a", "agent"),
        Shell("setup/1-run.sh", "agent", "/app"),
    )
    found = [line.split()[0] for line in lines(*steps, env=(("A", "b"),), workdir="/app", user="agent")]
    assert found == [
        "FROM", "USER", "RUN", "RUN", "RUN", "RUN", "ENV", "COPY",
        "COPY", "USER", "WORKDIR", "RUN", "USER", "RUN", "WORKDIR", "USER",
    ]  # fmt: skip


def test_a_folder_of_the_recipe_is_copied_whole():
    steps = [MakeFolder("/app", owner="agent"), *(copied(f"/app/{n}/x", "agent") for n in range(3))]
    assert copies(*steps) == ['COPY --chown=agent ["files/app/", "/app/"]']


@pytest.mark.parametrize(
    "more",
    [
        copied("/app/z", "web"),  # another owner
        Copy("odd/1", "/app/z", owner="agent"),  # from elsewhere
    ],
)
def test_a_mixed_folder_is_not(more):
    found = copies(
        MakeFolder("/app", owner="agent"), copied("/app/a", "agent"), copied("/app/b/c", "agent"), more
    )
    assert '"files/app/"' not in " ".join(found)
    assert len(found) == 3


def test_a_folder_of_the_base_never_changes_hands():
    found = copies(copied("/home/agent/a", "agent"), copied("/home/agent/b/c", "agent"))
    assert found == [
        'COPY --chown=agent ["files/home/agent/a", "/home/agent/"]',
        'COPY --chown=agent ["files/home/agent/b/c", "/home/agent/b/"]',
    ]


def test_what_comes_after_a_build_step_is_not_copied_before_it():
    steps = [
        MakeFolder("/app", owner="agent"),
        copied("/app/a", "agent"),
        copied("/app/b", "agent"),
        Shell("setup/1.sh"),
        copied("/app/c", "agent"),
    ]
    assert copies(*steps)[0] == 'COPY --chown=agent ["files/app/a", "files/app/b", "/app/"]'


def test_a_thousand_files_take_few_layers_and_no_long_line():
    paths = [f"/srv/{'x' * 40}/{n:05}.txt" for n in range(3000)]
    recipe = Recipe("debian:12", tuple(copied(path, mode=0o600) for path in paths), "environment")
    text = render_dockerfile(recipe)
    assert layer_count(recipe) < 40
    assert max(map(len, text.splitlines())) < 60_000
    commands = text.replace("\\\n", "").split("\n")
    assert max(map(len, commands)) < 120_000
    assert all(path in text for path in paths)


def test_only_modes_that_a_context_can_t_carry_are_set():
    found = lines(copied("/a", mode=0o644), copied("/b", mode=0o755), copied("/c", mode=0o600))
    assert [line for line in found if "chmod" in line] == ["RUN chmod 0600 /c"]


def test_a_script_runs_as_its_account_and_leaves_nothing():
    found = lines(Shell("setup/1-run.sh", "web", "/srv"))
    assert found[2:] == [
        'COPY ["setup/1-run.sh", "/aespec-setup/1-run.sh"]',
        "USER web",
        "WORKDIR /srv",
        'RUN ["/bin/sh", "-eu", "/aespec-setup/1-run.sh"]',
        "USER root",
        'RUN ["/bin/rm", "-rf", "/aespec-setup"]',
        "WORKDIR /",
        "USER root",
    ]


def test_the_author_s_own_lines_stand_as_they_are():
    assert 'RUN echo "{{ x }}" $Y' in lines(Raw('RUN echo "{{ x }}" $Y\n'))


@given(st.lists(st.tuples(st.from_regex(r"[A-Z_]{1,8}", fullmatch=True), TEXTS), max_size=4))
def test_variables_stay_in_their_lines(pairs):
    try:
        found = lines(env=tuple(pairs))
    except UnquotableError:
        return
    variables = [line for line in found if line.startswith("ENV ")]
    assert [line.split()[0] for line in found if not line.startswith("ENV ")] == [
        "FROM",
        "USER",
        "WORKDIR",
        "USER",
    ]
    text = render_dockerfile(Recipe("debian:12", (), "environment", env=tuple(pairs)))
    variables = [line for line in text.split("\n") if line.startswith("ENV ")]
    assert [read_env(line.partition("=")[2]) for line in variables] == [value for _, value in pairs]


@given(TEXTS, st.integers(0, 6))
def test_any_other_value_is_plain_or_refused(value, place):
    step = [
        Packages("apt", (value,)),
        AddUser(value, 1000, "/home/x"),
        AddUser("x", 1000, value),
        MakeFolder(value),
        Copy(value, "/a"),
        Copy("a", value),
        Shell("setup/x.sh", value),
    ][place]
    try:
        found = lines(step)
    except UnquotableError:
        return
    assert {line.split()[0] for line in found} <= INSTRUCTIONS
    for line in found:
        if line.startswith("COPY ["):
            assert all(isinstance(word, str) for word in json.loads(line.removeprefix("COPY ")))


@given(TEXTS)
def test_an_image_is_one_word(value):
    try:
        found = lines(base=value)
    except UnquotableError:
        return
    assert found[0] == f"FROM {value}"
    assert found[1] == "USER root"
