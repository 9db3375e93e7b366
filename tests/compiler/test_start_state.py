"""Planning what the agent starts from, what is carried to the verifier, and what must stay as it was."""

import json
from dataclasses import replace

import pytest

from aespec.model.instance import FixtureFile, Planted
from aespec.model.lock import Lock, LockedImage
from aespec.model.task import (
    Free,
    HiddenFile,
    PlantStep,
    Setup,
    Verify,
)
from aespec.targets import TargetOptions
from tests.bundle.making import (
    SPAN,
    check,
    claim,
    commit,
    expr,
    file_step,
    generate_step,
    ref,
    repo_step,
    run_step,
    text,
    tiny,
)
from tests.compiler.planning import faults, planned, read, toml


@pytest.mark.parametrize(
    ("paths", "extra", "workdir", "expected"),
    [
        (["/app/a", "/app/b/c#/x"], [], "/app", ["/app"]),
        (["/app/a", "/srv/out/a", "/srv/out/a/b"], [], "/app", ["/app", "/srv/out/a"]),
        (["/srv/a"], ["/srv/"], "/app", None),
        (["/srv/a"], ["/srv/more"], "/app", ["/srv/a", "/srv/more"]),
        (["/home/agent/a"], [], "/home/agent", ["/home/agent"]),
        (["/root/a"], [], "/root", ["/root/a"]),
        (["/a"], [], "/", ["/a"]),
        (["/etc/motd"], [], "/app", ["/etc/motd"]),
        (["/applet/x"], [], "/app", ["/applet/x"]),
        (["/etc"], [], "/app", None),
        (["/etc/passwd"], [], "/app", None),
        (["/tests/x"], [], "/app", None),
        (["/logs/verifier/reward.json"], [], "/app", None),
        (["/usr/bin/python3"], [], "/app", None),
        (["/proc/1"], [], "/app", None),
        (["/"], [], "/app", None),
    ],
)
def test_artifacts_are_few_and_never_the_verifier_s_own(paths, extra, workdir, expected):
    task = tiny(
        checks=[
            check(
                "c",
                *(
                    claim(
                        "json" if "#" in path else "file", path=path, **({"equals": 1} if "#" in path else {})
                    )
                    for path in paths
                ),
            )
        ],
        setup=Setup("debian:bookworm-slim", workdir=workdir),
        verify=Verify((), artifacts=tuple(map(text, extra))),
    )
    if expected is None:
        assert faults(task) == ["artifact-forbidden"]
    else:
        assert toml(planned(task))["artifacts"] == expected


def test_a_program_brings_its_folder():
    task = tiny(checks=[check("c", claim("command", argv=["/bin/true"], cwd="/"))])
    assert toml(planned(task))["artifacts"] == ["/app"]


def test_the_baseline_holds_what_the_plan_knows():
    steps = [
        file_step("/app/a", "1"),
        file_step("/app/d/b", "2", mode=0o755),
        file_step("/app/d/e/c", "3"),
        file_step("/app/a", "again"),
        file_step("/elsewhere", "x"),
        repo_step(
            "/app/r", commit("one", ("x", "old"), ("y", "y")), commit("two", ("x", "new"), deletes=["y"])
        ),
    ]
    checks = [
        check("keep", claim("unchanged", path="/app")),
        check("work", claim("text", path="/app/d/b", equals="z")),
    ]
    task = tiny(
        steps=steps, checks=checks, verify=Verify((), frees=(Free(text("/app/d/e/c"), "free", span=SPAN),))
    )
    baseline = json.loads(read(planned(task), "tests/checks.json"))["baseline"]
    files = {path: entry for path, entry in baseline.items() if entry["kind"] == "file"}
    assert files.keys() == {"/app/a", "/app/r/x"}, "what another check judges and what is freed is left out"
    import hashlib

    assert files["/app/a"]["sha256"] == hashlib.sha256(b"again").hexdigest()
    assert files["/app/r/x"]["sha256"] == hashlib.sha256(b"new").hexdigest()


def test_what_lies_in_a_freed_folder_or_holds_a_freed_leaf_is_left_out():
    steps = [file_step(path, "1") for path in ("/app/a", "/app/d/b", "/app/d/e/c", "/app/dd", "/app/x.json")]
    frees = tuple(Free(text(leaf), "free", span=SPAN) for leaf in ("/app/d/", "/app/x.json#/made_on"))
    task = tiny(
        steps=steps, checks=[check("keep", claim("unchanged", path="/app"))], verify=Verify((), frees=frees)
    )
    baseline = json.loads(read(planned(task), "tests/checks.json"))["baseline"]
    assert sorted(baseline) == ["/app/a", "/app/dd"]


def test_a_file_that_is_named_is_protected_though_another_check_reads_it():
    checks = [check("k", claim("unchanged", path="/app/a"), claim("text", path="/app/a", equals="1"))]
    baseline = json.loads(
        read(planned(tiny(steps=[file_step("/app/a", "1")], checks=checks)), "tests/checks.json")
    )
    assert "/app/a" in baseline["baseline"]


def test_a_folder_that_build_steps_may_have_filled_is_told():
    steps = [file_step("/app/a", "1"), run_step("make data\n")]
    assert faults(tiny(steps=steps, checks=[check("k", claim("unchanged", path="/app"))])) == [
        "unchanged-partly-known"
    ]
    assert faults(tiny(steps=steps, checks=[check("k", claim("unchanged", path="/app/a"))])) == []


def test_strict_wants_git_excepted():
    steps = [repo_step("/app", commit("x", ("a", "b")))]
    strict = check("k", claim("unchanged", path="/app", strict=True))
    assert faults(tiny(steps=steps, checks=[strict])) == ["unchanged-unknown-start"]
    excepted = claim("unchanged", path="/app", strict=True)
    excepted = replace(excepted, args=(*excepted.args, ("except", expr([".git"]))))
    assert faults(tiny(steps=steps, checks=[check("k", excepted)])) == []


def test_a_lock_pins_the_base_and_the_packages():
    lock = Lock(
        "tiny.aes",
        {"debian:bookworm-slim": LockedImage("sha256:" + "a" * 64)},
        {"git": "1:2.39", "python3": "3.11.2-1", "python3-pip": "23"},
        {"pytest": "8.3.4"},
    )
    task = tiny(setup=Setup("debian:bookworm-slim", apt=("git",), pip=("pytest",)))
    plan = planned(task, options=TargetOptions(lock=lock))
    for folder in ("environment", "tests"):
        dockerfile = read(plan, f"{folder}/Dockerfile")
        assert f"FROM debian:bookworm-slim@sha256:{'a' * 64}\n" in dockerfile
        assert "git=1:2.39" in dockerfile
        assert "pytest==8.3.4" in dockerfile
    assert plan.manifest["is_pinned"] is True
    assert planned(task).manifest["is_pinned"] is False
    local = replace(lock, images={"debian:bookworm-slim": LockedImage("sha256:" + "a" * 64, "engine")})
    unpullable = planned(task, options=TargetOptions(lock=local))
    assert "FROM debian:bookworm-slim\n" in read(unpullable, "environment/Dockerfile"), (
        "an image id can't be pulled"
    )


def test_a_mapped_image_is_taken_as_it_is():
    options = TargetOptions(images={"debian:bookworm-slim": "local/debian:1"})
    plan = planned(tiny(), options=options)
    assert read(plan, "environment/Dockerfile").startswith("FROM local/debian:1\n")
    assert plan.verifier.base == "local/debian:1"


def test_a_python_image_brings_its_own_python():
    plan = planned(tiny(setup=Setup("python:3.12-slim", pip=("pytest==8",))))
    for folder in ("environment", "tests"):
        assert "apt-get" not in read(plan, f"{folder}/Dockerfile")


def test_planted_secrets_go_where_they_are_to_be_found():
    plants = [PlantStep(ref("secret", name), None, span=SPAN) for name in ("a", "b", "c")]
    task = tiny(steps=plants)
    planted = [
        Planted("a", "s3cret'\n$x", "append", "/tmp/log", False, 0),
        Planted("b", "value $b", "env", "TOKEN", False, 1),
        Planted("c", "file", "file", "/app/.env", True, 2),
    ]
    plan = planned(task, planted=planted, files=[FixtureFile("/app/.env", b"file", 0o600, "agent", 2)])
    assert 'ENV TOKEN="value \\$b"\n' in read(plan, "environment/Dockerfile")
    assert "'s3cret'\"'\"'\n$x' >> /tmp/log" in read(plan, "environment/setup/0-plant.sh")
    assert plan.files["environment/files/app/.env"].data == b"file"


def test_a_later_file_of_the_same_path_wins():
    plan = planned(tiny(steps=[file_step("/app/a", "one"), file_step("/app/a", "two")]))
    copies = [step for step in plan.environment.steps if getattr(step, "path", "") == "/app/a"]
    assert len(copies) == 1
    assert plan.files[f"environment/{copies[0].source}"].data == b"two"
    between = planned(
        tiny(steps=[file_step("/app/a", "one"), run_step("cat /app/a\n"), file_step("/app/a", "two")])
    )
    copies = [step.source for step in between.environment.steps if getattr(step, "path", "") == "/app/a"]
    assert [between.files[f"environment/{source}"].data for source in copies] == [b"one", b"two"]


def test_a_file_is_not_there_before_its_step():
    steps = [file_step("/app/a", "1"), file_step("/app/b", "1"), run_step("ls\n"), file_step("/app/c", "1")]
    before, after = read(planned(tiny(steps=steps)), "environment/Dockerfile").split("setup/2-run.sh", 1)
    assert "files/app/a" in before
    assert '"files/app/"' not in before
    assert "files/app/c" in after


def test_instances_share_all_layers_but_the_last():
    first, second = (
        read(
            planned(
                tiny(steps=[file_step("/app/a", "same"), generate_step("/app/data/")]), files=files, seed=seed
            ),
            "environment/Dockerfile",
        )
        for seed, files in [
            (
                1,
                [
                    FixtureFile("/app/data/x", b"1", 0o644, "agent", 1),
                    FixtureFile("/app/data/y", b"1", 0o644, "agent", 1),
                ],
            ),
            (
                2,
                [
                    FixtureFile("/app/data/x", b"2", 0o644, "agent", 1),
                    FixtureFile("/app/data/z", b"2", 0o644, "agent", 1),
                ],
            ),
        ]
    )
    assert first == second, "a generated folder is one copy whatever it holds"


def test_hidden_files_are_the_verifier_s_alone():
    task = tiny(verify=Verify((), hidden_files=(HiddenFile("cases.json", text("[41]"), span=SPAN),)))
    plan = planned(task)
    assert [path for path, file in plan.files.items() if b"[41]" in file.data] == ["tests/hidden/cases.json"]
    assert "/tests/hidden/" in read(plan, "tests/Dockerfile")
