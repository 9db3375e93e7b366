"""Planning a Harbor bundle: what is in it, and what is refused with which words."""

import json
from dataclasses import replace

import pytest

from aespec.bundle import write
from aespec.model.expressions import CallExpr, CheckSlot, Kind
from aespec.model.instance import Planted
from aespec.model.lock import Lock, LockedImage
from aespec.model.task import (
    Account,
    Claim,
    HiddenFile,
    Limits,
    Meta,
    PlantStep,
    ServiceStep,
    Setup,
    Twin,
    Verify,
)
from aespec.targets import TargetOptions, find, names
from tests.bundle.making import (
    SPAN,
    check,
    claim,
    commit,
    example,
    expr,
    file_step,
    ref,
    repo_step,
    rule,
    run_step,
    script,
    swap,
    text,
    tiny,
)
from tests.compiler.planning import compose, faults, planned, read, toml
from tests.compiler.schemas import validate

ANSWER = ref("answer", "a")
"""A value that the arguments of claims are written with."""


def test_the_target_is_found_by_its_name():
    assert "harbor" in names()
    with pytest.raises(LookupError, match="harbor"):
        find("harbour")


def test_every_file_of_a_bundle_is_there():
    plan = planned(tiny())
    wanted = {
        "task.toml",
        "instruction.md",
        "environment/Dockerfile",
        "environment/docker-compose.yaml",
        "tests/Dockerfile",
        "tests/docker-compose.yaml",
        "tests/test.sh",
        "tests/checks.json",
        "tests/lib/main.py",
        "tests/lib/aespec/runtime/checker.py",
        "tests/lib/aespec/predicates/text.py",
        "solution/solve.sh",
        "solution/oracle.sh",
        "aespec/spec.aes",
        "aespec/values.json",
        "aespec/examples.json",
        "aespec/recipes.json",
    }
    assert wanted <= plan.files.keys()
    assert "tests/lib/aespec/predicates/json.py" not in plan.files, "only what is used ships"
    assert {path for path, file in plan.files.items() if file.mode == 0o755} == {
        "tests/test.sh",
        "solution/solve.sh",
    }


def test_every_json_file_fits_its_schema(tmp_path):
    task = tiny(
        steps=[
            file_step("/app/in.csv", "a\n1\n", mode=0o600),
            run_step("true\n"),
            repo_step("/app/r", commit("x", ("a", "b"))),
        ],
        checks=[
            check(
                "all",
                claim("unchanged", path="/app/in.csv"),
                claim("json", path="/app/out.json", equals={"a": [1, None, True, 1.5]}),
                rules=[rule("some", "Some.", claim("file", path="/app/x")), rule("none", "None.")],
            )
        ],
        accepts=(example("accept", "other", script("exec true\n")),),
        rejects=(
            example("reject", "wrong", (swap("a", "b"), swap("1", "2", "/app/out.json")), breaks=("some",)),
        ),
    )
    plan = planned(task)
    for name, path in [
        ("checks", "tests/checks.json"),
        ("values", "aespec/values.json"),
        ("examples", "aespec/examples.json"),
        ("recipes", "aespec/recipes.json"),
    ]:
        validate(name, json.loads(read(plan, path)))
    written = write(plan, tmp_path / "bundle")
    validate("manifest", json.loads((written.path / "aespec/manifest.json").read_text()))
    examples = json.loads(read(plan, "aespec/examples.json"))["examples"]
    assert examples[1]["breaks"] == ["all.some"]
    assert examples[1]["oracle_edits"] == [{"old": "a", "new": "b"}]
    assert examples[1]["edits"][0]["path"] == "/app/out.json"


def test_task_toml_says_what_harbor_wants():
    limits = Limits(
        cpu=2.0, memory_bytes=3 * 1024**3 + 1, disk_bytes=1024**3, agent_time_s=60.0, verify_time_s=30.0
    )
    meta = Meta(
        difficulty="hard", tags=("csv", "hard"), authors=("Ann", 'B "q"'), license="MIT", expert_time_s=600.0
    )
    found = toml(planned(tiny(limits=limits, meta=meta, title='A "title"\nof two lines')))
    assert found["schema_version"] == "1.4"
    assert found["artifacts"] == ["/app"]
    assert found["task"] == {
        "name": "aespec/tiny",
        "description": 'A "title"\nof two lines',
        "keywords": ["terminal", "hard", "csv"],
        "authors": [{"name": "Ann"}, {"name": 'B "q"'}],
    }
    assert found["agent"] == {"timeout_sec": 60.0, "user": "agent"}
    assert found["verifier"] == {"environment_mode": "separate", "timeout_sec": 30.0}
    assert found["environment"] == {
        "build_timeout_sec": 600.0,
        "cpus": 2,
        "memory_mb": 3073,
        "storage_mb": 1024,
        "network_mode": "public",
    }
    assert found["metadata"]["expert_time_s"] == 600.0
    assert "source" not in found["metadata"]


def test_instances_have_names_of_their_own():
    assert toml(planned(tiny(), seed=7))["task"]["name"] == "aespec/tiny-7"
    assert (
        toml(planned(tiny(), seed=7, options=TargetOptions(org="acme", name="x")))["task"]["name"] == "acme/x"
    )


@pytest.mark.parametrize(
    ("network", "by", "agent", "agent_mode", "task_network", "compose_network"),
    [
        ("none", "compose", "task", None, "public", "none"),
        ("open", "compose", "task", None, "public", None),
        ("none", "compose", "open", None, "public", None),
        ("none", "harbor", "task", None, "no-network", None),
        ("none", "harbor", "open", "public", "no-network", None),
        ("none", "harbor", ("api.example.com",), "allowlist", "no-network", None),
        (("files.example.org",), "harbor", "task", None, "allowlist", None),
    ],
)
def test_networks(network, by, agent, agent_mode, task_network, compose_network):
    options = TargetOptions(network=by, agent_network=agent)
    plan = planned(tiny(limits=Limits(network=network)), options=options)
    found = toml(plan)
    assert found["environment"]["network_mode"] == task_network
    assert found["environment"].get("allowed_hosts") == (
        ["files.example.org"] if task_network == "allowlist" else None
    )
    assert found["agent"].get("network_mode") == agent_mode
    assert found["agent"].get("allowed_hosts") == (["api.example.com"] if agent_mode == "allowlist" else None)
    assert compose(plan, "environment").get("network_mode") == compose_network
    assert compose(plan, "tests").get("network_mode") == ("none" if by == "compose" else None)
    assert found["verifier"].get("environment", {}).get("network_mode") == (
        "no-network" if by == "harbor" else None
    )
    for folder in ("environment", "tests"):
        assert compose(plan, folder)["init"] is True
        assert compose(plan, folder)["stop_grace_period"] == "0s"


def test_a_list_of_hosts_is_not_promised_where_compose_can_t_hold_it():
    assert faults(tiny(limits=Limits(network=("files.example.org",)))) == ["network-not-held"]


def test_the_instruction_holds_sentences_rules_and_promises():
    task = tiny(
        checks=[
            check(
                "totals",
                claim("json", path="/app/t.json", equals={"a": 1}),
                says="Write `/app/t.json`.",
                rules=[rule("refunds", "Refunds count\nnegative.")],
            ),
            check("frame", claim("unchanged", path="/app/in"), says=None),
        ],
        steps=[file_step("/app/in", "x")],
        instruction=("Sum up ", ref("p", "what"), ".\n"),
    )
    lines = read(
        planned(task, values={(Kind.PARAM, "what"): "the {{ checks }}"}), "instruction.md"
    ).splitlines()
    assert lines[:5] == [
        "Sum up the {{ checks }}.",
        "",
        "- Write `/app/t.json`.",
        "  - Refunds count",
        "    negative.",
    ]
    assert any(line.startswith("  - ") for line in lines[5:]), "the comparator's promises"
    assert any("`/app/in` stays as it is" in line for line in lines)


def test_slots_put_checks_where_the_text_wants_them():
    slot = CheckSlot("second", span=SPAN)
    checks = [
        check("first", claim("file", path="/app/a"), says="One."),
        check("second", claim("file", path="/app/b"), says="Two."),
    ]
    for rest, expected in [
        ((), "Do: Two.\nAnd.\n\n- One."),
        ((CheckSlot("", span=SPAN),), "Do: Two.\nAnd.\n- One."),
    ]:
        found = read(
            planned(tiny(checks=checks, instruction=("Do: ", slot, "\nAnd.\n", *rest))), "instruction.md"
        )
        assert without_promises(found) == expected + "\n"


def without_promises(found):
    return "".join(line for line in found.splitlines(keepends=True) if not line.startswith("  - "))


def test_ids_of_claims_follow_the_reading_order():
    from aespec.model.task import AnyOf, NotOf

    inner = AnyOf(
        (claim("file", path="/app/b"), NotOf((claim("file", path="/app/c"),), span=SPAN)), span=SPAN
    )
    task = tiny(
        checks=[
            check(
                "c",
                claim("file", path="/app/a"),
                inner,
                rules=[rule("r", "R.", claim("file", path="/app/d"))],
            )
        ]
    )
    (found,) = json.loads(read(planned(task), "tests/checks.json"))["checks"]
    assert found["when"] == {
        "all": [
            {"id": "c/0", "predicate": "file", "args": {"path": "/app/a"}},
            {
                "any": [
                    {"id": "c/1", "predicate": "file", "args": {"path": "/app/b"}},
                    {"not": {"all": [{"id": "c/2", "predicate": "file", "args": {"path": "/app/c"}}]}},
                ]
            },
        ]
    }
    assert found["rules"][0]["when"]["all"][0]["id"] == "c.r/0"


@pytest.mark.parametrize(
    ("task", "slug"),
    [
        (tiny(checks=[check("c", claim("file", path="/app/a", mode="0600"))]), "target-lacks-need"),
        (tiny(steps=[ServiceStep("api", text("x"), span=SPAN)]), "target-lacks-service"),
        (tiny(verify=Verify((), twins=(Twin("t", None, span=SPAN),))), "target-lacks-twin"),
        (tiny(oracle=script("click", "ui")), "target-lacks-interpreter"),
        (tiny(checks=[check("c", claim("unchanged", path="/app/a"))]), "unchanged-unknown-start"),
        (tiny(checks=[check("c", claim("unchanged", path="/usr/bin"))]), "unchanged-outside-artifacts"),
        (tiny(setup=Setup("debian bookworm")), "image-name"),
        (tiny(setup=Setup("debian\nRUN id")), "image-name"),
        (tiny(setup=Setup("debian", apt=("git && id",))), "package-name"),
        (tiny(setup=Setup("debian", pip=("--index-url=http://x",))), "package-name"),
        (tiny(setup=Setup("debian", pip=("a==1\nRUN id",))), "package-name"),
        (tiny(setup=Setup("debian", workdir="/my app")), "workdir-form"),
        (tiny(setup=Setup("debian", workdir="app")), "workdir-form"),
        (tiny(setup=Setup("debian", agent="a b")), "account-name"),
        (tiny(setup=Setup("debian", accounts=(Account("x", 1, "/a b"),))), "account-home"),
        (tiny(setup=Setup("debian", env=(("A", text("x\ny")),))), "env-value"),
        (tiny(setup=Setup("debian", env=(("A B", text("x")),))), "env-name"),
        (tiny(instruction=(ref("p", "x"),)), "value-missing"),
        (tiny(instruction=("\ud800",)), "text-not-unicode"),
        (tiny(rejects=(example("reject", "r", script("x"), breaks=("nothing",)),)), "breaks-unknown"),
        (tiny(verify=Verify((), hidden_files=(HiddenFile("../x", text(""), span=SPAN),))), "hidden-name"),
        (tiny(verify=Verify((), hidden_files=(HiddenFile("a b", text(""), span=SPAN),))), "hidden-name"),
        (tiny(steps=[repo_step("/app", commit("x", ("../a", "")))]), "commit-path"),
        (tiny(steps=[file_step(f"/{n}/x", owner="root") for n in range(130)]), "too-many-layers"),
    ],
)  # fmt: skip
def test_what_can_t_be_carried_is_refused(task, slug):
    assert slug in faults(task)


def test_a_value_never_becomes_a_line_of_a_dockerfile():
    setup = Setup("debian", dockerfile=text("RUN echo ", ref("p", "x"), "\n", tag="dockerfile"))
    for value, expected in [
        ("plain-word", []),
        ("a\nUSER root", ["dockerfile-value"]),
        ("a b", ["dockerfile-value"]),
    ]:
        assert faults(tiny(setup=setup), values={(Kind.PARAM, "x"): value}) == expected


def test_what_is_wrong_only_once_values_are_in():
    excepted = replace(
        claim("unchanged", path="/app"), args=(("path", text("/app")), ("except", expr(["*"])))
    )
    assert "claim-fault" in faults(tiny(steps=[file_step("/app/a")], checks=[check("c", excepted)]))
    call = CallExpr("int", (), span=SPAN)
    called = Claim("json", (("path", text("/app/a")), ("equals", call)), span=SPAN)
    assert "call-in-value" in faults(tiny(checks=[check("c", called)]))
    assert faults(tiny(instruction=(CheckSlot("nothing", span=SPAN),))) == ["check-unknown"]
    assert faults(tiny(), options=TargetOptions(network="off")) == ["network-option"]
    assert faults(tiny(steps=[file_step("/app/a\0b")])) == ["value-unquotable"]


@pytest.mark.parametrize(
    ("predicate", "args", "value"),
    [
        ("text", {"equals": ANSWER}, 3),
        ("text", {"lines": ANSWER}, [1, 2]),
        ("text", {"count": ANSWER}, "three"),
        ("text", {"matches": ANSWER}, "("),
        ("table", {"equals": ANSWER}, 3),
        ("table", {"equals": ANSWER}, [1]),
        ("table", {"columns": ["a"], "equals": ANSWER}, {"a": 1}),
        ("function", {"name": "f", "cases": ANSWER}, [1]),
        ("function", {"name": "f", "cases": ANSWER}, {"args": []}),
        ("file", {"min_size": ANSWER}, "1"),
        ("json", {"equals": 1, "unordered": ANSWER}, ["rows"]),
    ],
)
@pytest.mark.parametrize("says", ["Write it.", None])
def test_arguments_that_turn_out_as_something_else_are_refused(predicate, args, value, says):
    claimed = claim(predicate, path="/app/x", **args)
    task = tiny(checks=[check("c", claimed, says=says)])
    is_other_type = predicate in ("text", "file")
    wanted = "wrong-type" if is_other_type else "claim-fault"
    assert faults(task, values={(Kind.ANSWER, "a"): value}) == [wanted]


@pytest.mark.parametrize("path", ["app/x", "/app/../etc/shadow", "/app//x", "/app/./x", 3, None])
def test_a_path_that_turns_out_as_none_is_refused(path):
    task = tiny(checks=[check("c", claim("file", path=ref("let", "where")))])
    assert faults(task, values={(Kind.LET, "where"): path}) == ["wrong-type"]


def test_a_claim_that_makes_no_sense_hides_no_fault_of_setup():
    task = tiny(
        setup=Setup("a b"), checks=[check("c", claim("text", path="/app/x", equals=ref("answer", "a")))]
    )
    assert faults(task, values={(Kind.ANSWER, "a"): 3}) == ["image-name", "wrong-type"]


def test_several_faults_are_told_at_once():
    task = tiny(setup=Setup("a b", apt=("c d",), workdir="x"))
    assert faults(task) == ["image-name", "package-name", "workdir-form"]


def test_what_the_instruction_shows_is_stated():
    task = tiny(instruction=("Use ", ref("p", "n"), " and ", ref("let", "who", "name"), "."))
    values = {(Kind.PARAM, "n"): 3, (Kind.LET, "who"): {"name": "Ann"}, (Kind.ANSWER, "x"): 9}
    plan = planned(task, values=values, params={"n": 3})
    assert plan.manifest["stated"] == [{"name": "let.who.name", "text": "Ann"}, {"name": "p.n", "text": "3"}]
    found = json.loads(read(plan, "aespec/values.json"))
    assert (found["params"], found["answer"]) == ({"n": 3}, {"x": 9})
    outside = [path for path, file in plan.files.items() if b'"x": 9' in file.data]
    assert outside == ["aespec/values.json"]


def test_what_predicates_say_themselves_is_stated_too():
    where = text("/app/", ref("p", "month"), ".txt")
    values = {(Kind.PARAM, "month"): "march", (Kind.PARAM, "off"): 0.25, (Kind.LET, "x"): "unseen"}
    silent = check(
        "a", claim("text", path=where, equals=ref("let", "x")), claim("file", path=where), says=None
    )
    told = check(
        "b", claim("json", path=where, equals=1, tolerance=ref("p", "off")), says="Write the result."
    )
    shown = planned(tiny(checks=[silent, told]), values=values).manifest["stated"]
    assert shown == [{"name": "p.month", "text": "march"}, {"name": "p.off", "text": "0.25"}]
    shown = planned(tiny(checks=[told]), values=values).manifest["stated"]
    assert shown == [{"name": "p.off", "text": "0.25"}], "a sentence of the author's stands for the path"


def test_planted_secrets_are_named():
    there = Planted("key", "s3cret", "env", "KEY")
    plant = PlantStep(ref("secret", "key"), CallExpr("env", (("name", expr("KEY")),), span=SPAN), span=SPAN)
    plan = planned(tiny(steps=[plant]), planted=[there], values={(Kind.SECRET, "key"): "s3cret"})
    assert plan.manifest["planted"] == ["key"]
    assert planned(tiny()).manifest["planted"] == []


PINS = Lock(
    "t.aes",
    {"debian:bookworm-slim": LockedImage("sha256:" + "a" * 64)},
    {"python3": "3.11.2-1+b1", "python3-pip": "23.0", "git": "1:2.39"},
    {"pytest": "8.3.4", "requests": "2.32"},
)


@pytest.mark.parametrize(
    ("apt", "pip", "words", "is_pinned"),
    [
        (("git",), (), ["git=1:2.39", "python3=3.11.2-1+b1"], True),
        (("git=1:2.40",), (), ["git=1:2.40", "python3=3.11.2-1+b1"], True),
        (("make",), (), ["make", "python3=3.11.2-1+b1"], False),
        ((), ("pytest",), ["pytest==8.3.4"], True),
        ((), ("pytest>=8",), ["pytest==8.3.4"], True),
        ((), ("requests[socks]<3",), ["requests[socks]==2.32"], True),
        ((), ("pytest==7.0.0",), ["pytest==7.0.0"], True),
        ((), ("pytest==7.*",), ["pytest==8.3.4"], True),
        ((), ("six>=1",), ["six>=1"], False),
    ],
)
def test_a_lock_pins_what_names_no_version_of_its_own(apt, pip, words, is_pinned):
    plan = planned(
        tiny(setup=Setup("debian:bookworm-slim", apt=apt, pip=pip)), options=TargetOptions(lock=PINS)
    )
    names = [name for step in plan.verifier.steps for name in getattr(step, "names", ())]
    assert set(words) <= set(names)
    assert plan.manifest["is_pinned"] is is_pinned


def test_a_verifier_whose_python_is_not_pinned_is_not_pinned():
    loose = replace(PINS, apt={})
    setup = Setup("debian:bookworm-slim")
    plan = planned(tiny(setup=setup), options=TargetOptions(lock=loose))
    assert plan.manifest["is_pinned"] is False
