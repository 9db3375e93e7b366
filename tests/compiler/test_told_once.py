"""What a plan tells the author of values that don't fit, and the solver of what comparators promise."""

import pytest

from aespec.model.expressions import Kind
from aespec.model.task import Script
from aespec.targets import TargetOptions, find
from tests.bundle.making import SPAN, check, claim, evaluated, example, file_step, ref, swap, text, tiny
from tests.compiler.planning import faults, planned, read


def test_an_argument_of_another_type_is_told_at_its_place():
    value = ref("answer", "gone")
    task = tiny(checks=[check("c", claim("text", path="/app/x", lines=value))])
    instance = evaluated(task, values={(Kind.ANSWER, "gone"): 42})
    plan, found = find("harbor").plan(task, instance, TargetOptions())
    assert plan is None
    assert [(item.slug, item.span is value.span) for item in found] == [("wrong-type", True)]
    assert "lines is a text or a list of at least one, not 42" in found[0].headline


@pytest.mark.parametrize(
    ("swaps", "slugs"),
    [
        ([("> /app/out", "> /app/other")], []),
        ([("echo mint", "echo no")], []),
        ([("echo sage", "echo no")], ["swap-not-once"]),
        ([("{{ p.host }}", "x")], ["swap-not-once"]),
        ([("o", "x")], ["swap-not-once"]),
        ([("echo", "printf"), ("printf mint", "true")], []),
        ([("echo", "printf"), ("echo", "true")], ["swap-not-once"]),
    ],
)
def test_swaps_are_tried_on_the_oracle_with_its_values(swaps, slugs):
    oracle = Script("sh", text("echo ", ref("p", "host"), " > /app/out\n", tag="sh"), span=SPAN)
    edits = tuple(swap(old, new) for old, new in swaps)
    task = tiny(oracle=oracle, rejects=(example("reject", "r", edits, breaks=("greeting",)),))
    assert faults(task, values={(Kind.PARAM, "host"): "mint"}) == slugs


def test_a_promise_that_holds_for_all_is_said_once():
    def one(name, **more):
        return check(name, claim("json", path=f"/app/{name}.json", equals={"a": 1}, **more))

    alike = read(planned(tiny(checks=[one("a"), one("b")])), "instruction.md")
    assert alike.count("Numbers are compared by value") == alike.count("Objects have no other keys.") == 1
    checks = [one("a"), one("b", extra_keys="allowed"), one("c")]
    mixed = read(planned(tiny(checks=checks)), "instruction.md")
    assert mixed.count("Numbers are compared by value") == mixed.count("Objects may have more keys.") == 1
    assert mixed.count("Objects have no other keys.") == 2


def test_new_files_are_spoken_of_only_where_a_folder_may_get_them():
    steps = [file_step("/app/a.txt", "x"), file_step("/app/d/b", "y"), file_step("/app/s/c", "z")]
    kept = [
        check("a", claim("unchanged", path="/app/a.txt")),
        check("d", claim("unchanged", path="/app/d")),
        check("s", claim("unchanged", path="/app/s", strict=True)),
    ]
    told = read(planned(tiny(steps=steps, checks=kept)), "instruction.md")
    assert [line.strip() for line in told.splitlines() if "ew files" in line] == [
        "- New files below `/app/d` are no change."
    ]
    assert told.count("Caches that common tools") == 1
