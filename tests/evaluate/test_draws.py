"""Draws from generators: typed, within bounds, and the same on every Python."""

import subprocess

import pytest

from aespec.evaluate import draw_params, instance_seed, instance_seeds
from aespec.evaluate.draws import Draw, GeneratorError, generate
from aespec.evaluate.words import WORDS
from aespec.model.expressions import CallExpr, ListExpr
from tests import components
from tests.evaluate.making import SPAN, call, const, param, ref, task


def choices(*values):
    items = ListExpr(tuple(const(value) for value in values), span=SPAN)
    return CallExpr("choice", (("values", items),), span=SPAN)


def draws(generator, count=300):
    return [generate(generator, Draw(f"seed {number}"), {}) for number in range(count)]


def test_each_generator_keeps_to_its_type_and_bounds():
    assert set(draws(call("int", low=-1, high=2))) == {-1, 0, 1, 2}
    assert set(draws(call("float", low=0.1, high=0.3, digits=1))) == {0.1, 0.2, 0.3}
    sizes = [len(str(value)) for value in draws(call("log_int", low=1, high=999_999))]
    assert min(sizes) == 1
    assert max(sizes) == 6
    assert set(draws(call("bool"))) == {True, False}
    assert set(draws(choices("a", 2, None))) == {"a", 2, None}
    assert all(len(set(text.split())) == 3 for text in draws(call("words", count=3)))
    days = draws(call("date", first="2024-02-28", last="2024-03-01"))
    assert set(days) == {"2024-02-28", "2024-02-29", "2024-03-01"}
    assert all(len(text) == 12 and int(text, 16) >= 0 for text in draws(call("hex", length=12)))
    lists = draws(call("list", generator=call("int", low=0, high=9), length=call("int", low=0, high=2)))
    assert {len(value) for value in lists} == {0, 1, 2}


@pytest.mark.parametrize(
    "generator",
    [
        call("int", low=2, high=1),
        call("int", low=1.5, high=2),
        call("int", low=True, high=2),
        call("log_int", low=0, high=5),
        call("float", low=0.11, high=0.19, digits=1),
        call("float", low="a", high=2),
        call("float", low=0, high=1, digits=40),
        choices(),
        call("words", count=0),
        call("words", count=len(WORDS) + 1),
        call("date", first="2024-02-30", last="2024-03-01"),
        call("date", first="2024-03-02", last="2024-03-01"),
        call("hex", length=0),
        call("list", generator=const(1), length=2),
        call("list", generator=call("bool"), length=-1),
        call("dice"),
    ],
)
def test_a_generator_that_leaves_nothing_says_so(generator):
    with pytest.raises(GeneratorError):
        generate(generator, Draw("x"), {})


def test_no_draw_influences_another():
    first = draw_params(task(param("a", call("int", low=0, high=10**9))), 5)
    both = draw_params(task(param("z", call("hex", length=4)), param("a", call("int", low=0, high=10**9))), 5)
    assert both["a"] == first["a"]
    assert draw_params(task(param("a", call("int", low=0, high=10**9))), 6) != first


def test_a_parameter_may_bound_another():
    made = task(param("b", call("int", low=ref("p", "a"), high=20)), param("a", call("int", low=15, high=20)))
    found = draw_params(made, 1)
    assert 15 <= found["a"] <= found["b"] <= 20


def test_known_values_of_a_seed():
    made = task(
        param("n", call("int", low=80, high=400)),
        param("rate", call("float", low=0.0, high=1.0)),
        param("who", call("words", count=2)),
        param("day", call("date", first="2024-01-01", last="2024-12-31")),
        param("id", call("hex", length=8)),
        param("size", call("log_int", low=1, high=1_000_000)),
    )
    assert draw_params(made, 7) == KNOWN


KNOWN = {
    "n": 93,
    "rate": 0.32,
    "who": "yard spice",
    "day": "2024-07-05",
    "id": "32692307",
    "size": 6177,
}


def test_instances_of_a_family_have_seeds_of_their_own():
    assert instance_seed(7, 0) == 7
    seeds = instance_seeds(7, 100)
    assert seeds[0] == 7
    assert len(set(seeds)) == 100
    assert not set(seeds[1:]) & set(instance_seeds(8, 100)[1:])
    assert seeds[:4] == (7, *(instance_seed(7, index) for index in (1, 2, 3)))


@pytest.mark.needs("python3.9")
def test_the_source_of_draws_is_the_same_on_another_python():
    python = components.find_python("3.9")
    text = "import random; r = random.Random('made/7/p.n'); print([r.getrandbits(9) for _ in range(50)])"
    other = subprocess.run([str(python), "-c", text], capture_output=True, text=True, check=True).stdout
    draw = Draw("made/7/p.n")
    assert other.strip() == str([draw._random.getrandbits(9) for _ in range(50)])
