"""What is read off bundles without running anything: leaks, what is stated, the oracle's text."""

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from aespec.bundle import Bundle, Recipe
from aespec.fuzz.bench import Bench, Rung
from aespec.fuzz.certificate import PROPERTIES, Property
from aespec.fuzz.decisions import DECIDED_BY, PROPERTIES_OF, read_decisions
from aespec.fuzz.journal import Journal
from aespec.fuzz.properties import builds, family, leak_free, nop_fails, solvable, stated
from aespec.fuzz.study import Repeats, Study
from aespec.fuzz.subject import read_subject
from aespec.rules.registry import ALLOWED_LATER, all_rules
from aespec.sandbox.api import SandboxError
from aespec.sandbox.tars import Entry, pack
from aespec.trial import EndState
from aespec.trial.archives import digest_of
from tests.trial.making import FakeSandbox

CHECK = {
    "id": "sum",
    "says": "Write the sum to `/app/sum.json`.",
    "when": {"all": [{"id": "sum/0", "predicate": "json", "args": {"path": "/app/sum.json", "equals": 3}}]},
    "rules": [],
}
INSTRUCTION = "Numbers are in `/app/n.txt`.\n\n- Write the sum to `/app/sum.json`.\n"


@pytest.fixture
def subject(tmp_path):
    numbers = itertools.count()

    def make(*, values=None, oracle="sort /app/n.txt", stated=(), planted=(), env=(), **files):
        number = next(numbers)
        folder = tmp_path / str(number)
        written = {
            "instruction.md": INSTRUCTION,
            "aespec/values.json": json.dumps({"answer": {}, "secret": {}, "hidden": {}, **(values or {})}),
            "aespec/examples.json": json.dumps(
                {"schema": 1, "oracle": {"interpreter": "sh", "text": oracle}, "examples": []}
            ),
            "aespec/spec.aes": "",
            "tests/checks.json": json.dumps({"checks": [CHECK]}),
            "environment/n.txt": "1\n2\n",
            **{name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()},
        }
        for name, text in written.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        manifest = {
            "task": "t",
            "instance": {"seed": number},
            "stated": [{"name": name, "text": text} for name, text in stated],
            "planted": list(planted),
        }
        environment = Recipe("base", (), "environment", env=env)
        bundle = Bundle(folder, "t", "harbor", "0" * 64, manifest, environment, Recipe("base", (), "tests"))
        return read_subject(bundle)

    return make


def study(*subjects, act=lambda *_: None):
    rung = Rung("fake", FakeSandbox(act))
    return Study(subjects, Bench(Journal(None), workers=1), rung, rung, "t.aes", Repeats())


def slugs(made):
    return {item.slug for item in made.findings}


def test_a_clean_bundle_leaks_nothing(subject):
    values = {"answer": {"total": 83719204}, "secret": {"key": "f00dfeed1234"}}
    made = study(subject(values=values), subject(values={"answer": {"total": 11112222}}))
    assert leak_free.measure(made).verdict == "holds"
    assert made.findings == []


@pytest.mark.parametrize(
    ("values", "files"),
    [
        ({"secret": {"key": "f00dfeed1234"}}, {"environment__history": "x f00dfeed1234"}),
        ({"secret": {"key": "f00dfeed1234"}}, {"instruction_dot_md": INSTRUCTION + "f00dfeed1234"}),
        ({"secret": {"key": "f00dfeed1234"}}, {"env": (("TOKEN", "f00dfeed1234"),)}),
        ({"answer": {"t": {"rent": 12, "food": 7}}}, {"environment__x": '..{"rent": 12, "food": 7}..'}),
        ({"answer": {"t": {"rent": 12, "food": 7}}}, {"environment__x": '{"food":7,"rent":12}'}),
        (
            {},
            {
                "tests__hidden__c.json": "the hidden cases, all of them",
                "environment__y": "the hidden cases, all of them",
            },
        ),
    ],
)
def test_what_lies_in_sight_is_a_leak(subject, values, files):
    made = study(subject(values=values, **files))
    found = leak_free.measure(made)
    assert (found.verdict, found.bad > 0) == ("violated", True)
    assert slugs(made) == {"leak"}


def test_a_planted_secret_may_be_found_but_not_told(subject):
    values = {"secret": {"key": "f00dfeed1234"}}
    there = {"environment__env": "f00dfeed1234"}
    assert leak_free.measure(study(subject(values=values, planted=["key"], **there))).verdict == "holds"
    # What the text of the spec says of it counts for nothing.
    spec = 'setup { plant secret.key (how = append("/app/.env")) }'
    claimed = subject(values=values, aespec__spec_dot_aes=spec, **there)
    assert leak_free.measure(study(claimed)).verdict == "violated"
    told = subject(values=values, planted=["key"], instruction_dot_md=INSTRUCTION + "f00dfeed1234", **there)
    assert leak_free.measure(study(told)).verdict == "violated"


def test_an_answer_that_varies_and_is_always_told_is_a_leak(subject):
    def one(total):
        text = f"{INSTRUCTION} It is {total}."
        return subject(values={"answer": {"total": total}}, instruction_dot_md=text)

    varying = study(one(83719204), one(11112222))
    assert leak_free.measure(varying).verdict == "violated"
    same = study(one(83719204), one(83719204))
    assert leak_free.measure(same).verdict == "holds"
    assert slugs(same) == {"answer-in-sight"}


def test_the_built_image_is_searched(subject):
    from aespec.sandbox.api import Outcome

    values = {"secret": {"key": "f00dfeed1234"}}
    made = study(subject(values=values), act=lambda *_: Outcome(0, b"opt/made-by-run\n", b""))
    assert leak_free.measure(made).verdict == "violated"
    assert "/opt/made-by-run" in made.findings[0].message


def test_an_image_that_no_instance_gets_is_one_finding(subject):
    made = study(*(subject() for _ in range(3)))
    made.fast = Rung("fake", FakeSandbox(None, prepare=SandboxError("no package x\nlog", boundary="image")))
    found = builds.measure(made)
    assert (found.verdict, found.tried, found.bad) == ("violated", 6, 6)
    # Images are told apart, and so are instances whose images fail otherwise.
    assert [item.message for item in made.findings] == [
        f"the {what} of instance 0 and 2 others isn't built: no package x\nlog"
        for what in ("environment", "verifier")
    ]
    assert found.missing.count("instance") == 2


def test_what_checks_read_is_told(subject):
    assert stated.measure(study(subject())).verdict == "holds"
    untold = study(subject(instruction_dot_md="Write the sum.\n"))
    found = stated.measure(untold)
    assert (found.verdict, found.bad) == ("violated", 2)
    assert slugs(untold) == {"untold-path"}


def test_paths_below_a_told_folder_are_told():
    assert stated._is_told("/app/src/a.py", "Mend `src/a.py` below /app.")
    assert stated._is_told("/app/a.py", "Everything in /app counts.")
    assert stated._is_told("/app/a.py", "Everything in `/app/` counts.")
    assert not stated._is_told("/app/a.py", "Everything in /apparatus counts.")
    assert not stated._is_told("/app/a.py", "Numbers are in `/app/n.txt`.")
    assert not stated._is_told("/app/deep/er/a.py", "Look in /app.")


def test_an_oracle_that_knows_the_answer_is_told(subject):
    values = {"answer": {"total": 83719204}}
    assert solvable._text_faults(study(subject(values=values))) == []
    (fault,) = solvable._text_faults(study(subject(values=values, oracle="echo 83719204")))
    assert "answer.total" in fault[0]
    text = INSTRUCTION + "83719204"
    told = subject(values=values, oracle="echo 83719204", instruction_dot_md=text)
    assert solvable._text_faults(study(told)) == []


def test_an_oracle_may_differ_by_what_is_stated_only(subject):
    pair = [subject(oracle=f"head -n {n}", stated=[("p.n", str(n))]) for n in (3, 7)]
    assert solvable._text_faults(study(*pair)) == []
    other = [subject(oracle=f"head -n {n}") for n in (3, 7)]
    assert "differs between instances" in solvable._text_faults(study(*other))[0][0]


def given(made, item, start, oracle):
    def state(name, files):
        archive = pack([Entry(path, data) for path, data in files.items()])
        return EndState(name, archive, digest_of(archive), status=0)

    made._starts[item.seed] = state("nop", start)
    made._oracles[item.seed] = state("oracle", oracle)


def test_blind_policies_are_made_from_what_the_oracle_wrote(subject):
    item = subject()
    made = study(item)
    start = {"/app/n.txt": b"17\n", "/app/empty": b""}
    given(made, item, start, {**start, "/app/sum.json": b"3"})
    found = {state.agent: state for state in nop_fails.blind_states(made, item)}
    assert "policy:outputs emptied" in found
    assert "policy:/app/n.txt copied" in found
    assert "policy:instruction echoed" in found
    # Taking a new output away is doing nothing; an empty input copied is an output emptied: each state once.
    assert "policy:outputs deleted" not in found
    assert "policy:/app/empty copied" not in found


def test_a_transplant_takes_outputs_only(subject):
    from aespec.fuzz.states import files_of

    donor, other = subject(values={"answer": {"a": 1}}), subject(values={"answer": {"a": 2}})
    made = study(donor, other)
    given(made, donor, {"/app/n": b"1"}, {"/app/n": b"1", "/app/out": b"x"})
    given(made, other, {"/app/n": b"2"}, {"/app/n": b"2", "/app/out": b"y"})
    assert files_of(family.transplant(made, donor, other)) == {"/app/n": b"2", "/app/out": b"x"}
    given(made, other, {"/app/n": b"2"}, {"/app/n": b"2", "/app/out": b"x"})
    assert family.transplant(made, donor, other) is None
    assert family.what_varies(made) == "answer"


def test_what_varies_is_derived(subject):
    assert family.what_varies(study(subject(), subject())) == "nothing"
    assert family.what_varies(study(subject(), subject(environment__n_dot_txt="9\n"))) == "fixture"
    assert family.what_varies(study(subject(), subject(instruction_dot_md=INSTRUCTION + "x"))) == "text"


def allowing(made, **reasons):
    told = [{"slug": slug.replace("_", "-"), "because": because} for slug, because in reasons.items()]
    made.decisions = read_decisions({"allowed": told})
    return made


def test_what_the_spec_decided_on_is_no_finding_and_is_told_with_its_reason(subject):
    text = f"{INSTRUCTION} It is 83719204."
    made = study(*(subject(values={"answer": {"t": 83719204}}, instruction_dot_md=text) for _ in range(2)))
    (found,) = allowing(made, answer_in_sight="it is a number of the trade").decisions.tell(
        [leak_free.measure(made)]
    )
    assert (found.verdict, made.findings) == ("holds", [])
    (told,) = [line for line in found.evidence if "allowed" in line]
    assert told.startswith(
        "allowed by `answer-in-sight`, because it is a number of the trade: answer.t of instance 0 stands in"
    )


def test_an_error_stands_whatever_is_allowed(subject):
    made = study(subject(values={"secret": {"key": "f00dfeed1234"}}, environment__x="f00dfeed1234"))
    assert leak_free.measure(allowing(made, leak="so", answer_in_sight="so")).verdict == "violated"
    assert slugs(made) == {"leak"}


def test_an_error_that_a_rule_lets_be_allowed_is_allowed_here_too(subject):
    checks = json.dumps({"checks": [{**CHECK, "says": "Write the sum."}]})
    made = study(subject(instruction_dot_md="- Write the sum.\n", tests__checks_dot_json=checks))
    assert stated.measure(made).bad == 1
    made.findings.clear()
    found = stated.measure(allowing(made, unstated_path="there is one place for it"))
    assert (found.verdict, found.bad, made.findings) == ("holds", 0, [])
    # Not so a sentence that the solver never gets to see: that is no matter of opinion.
    unsaid = allowing(study(subject(instruction_dot_md="Write the sum.\n")), unstated_path="so")
    assert (stated.measure(unsaid).bad, slugs(unsaid)) == (1, {"untold-path"})


def test_an_oracle_may_know_an_allowed_answer_and_never_a_secret(subject):
    values = {"answer": {"total": 83719204}, "secret": {"key": "f00dfeed1234"}}
    made = study(subject(values=values, oracle="echo 83719204 f00dfeed1234"))
    assert [may for _, may in solvable._text_faults(made)] == [True, False]


def test_several_findings_under_one_allow_are_counted(subject):
    made = allowing(study(subject()), untold_literal="the keys follow")
    for name in ("a", "b", "c", "a"):
        assert not made.report("untold-literal", "warning", "stated", f"{name} isn't told")
    (found,) = made.decisions.tell([Property("stated", "holds")])
    assert found.evidence == (
        "allowed by `untold-literal`, because the keys follow: a isn't told, and 2 others",
    )
    assert made.report("leak", "error", "leak-free", "x")


def test_an_allow_without_a_finding_is_told_once_it_was_looked_for():
    measured = [Property(name, "holds", evidence=("seen",)) for name in PROPERTIES]
    made = allowing(study(), answer_in_sight="so", unclean_ending="so", network_open="so")
    assert made.decisions.idle(measured) == [("answer-in-sight", "leak-free"), ("unclean-ending", "solvable")]
    out_of_time = [
        replace(item, evidence=()) if item.name in ("complete", "leak-free") else item for item in measured
    ]
    assert made.decisions.idle(out_of_time) == []


def test_lint_takes_an_allow_for_every_warning_of_certification():
    folder = Path(leak_free.__file__).parent
    texts = "".join(path.read_text() for path in folder.glob("*.py"))
    warnings = set(re.findall(r'"([a-z-]+)", "(?:warning|advice)"', texts))
    assert {"answer-in-sight", "untold-literal", "unclean-ending"} <= warnings
    assert warnings == set(PROPERTIES_OF) <= ALLOWED_LATER
    assert warnings <= set(DECIDED_BY)
    for by in (slug for names in DECIDED_BY.values() for slug in names if slug not in ALLOWED_LATER):
        assert all_rules()[by].rule.may_be_allowed
