import pytest

from aespec.evaluate import evaluate
from aespec.model.expressions import CallExpr, Kind, ListExpr, MapExpr
from aespec.source import Source, Span
from tests.evaluate.making import (
    SPAN,
    call,
    computed,
    const,
    file,
    generate,
    param,
    program,
    ref,
    runner,
    task,
    text,
)

WORLD = computed(
    "hidden", "world", program("emit([rng.randrange(100) for _ in range(p.rows)])", ref("p", "rows"))
)
ROWS = param("rows", call("int", low=3, high=9))
LEDGER = generate("/app/ledger.csv", program("for n in world: print(n)", ref("hidden", "world")))
TOTAL = computed(
    "answer", "total", program("emit(sum(int(n) for n in open('app/ledger.csv')))"), "/app/ledger.csv"
)


def one(made):
    instance, found = made
    assert [item.headline for item in found] == []
    return instance


def refused(made):
    instance, found = made
    assert instance is None
    (item,) = found
    assert item.is_error
    assert item.why
    assert item.help
    return item


def test_a_world_its_fixture_and_its_answer_come_from_one_run(tmp_path):
    run, sandbox = runner(tmp_path)
    instance = one(evaluate(task(ROWS, WORLD, TOTAL, steps=[LEDGER]), 7, run))
    (ledger,) = instance.files
    assert ledger.path == "/app/ledger.csv"
    assert ledger.owner == "agent"
    numbers = [int(line) for line in ledger.data.split()]
    assert numbers == instance.value(Kind.HIDDEN, "world")
    assert len(numbers) == instance.params["rows"]
    assert instance.value(Kind.ANSWER, "total") == sum(numbers)
    assert sandbox.runs == 1


def test_equal_seeds_give_equal_instances_and_others_differ(tmp_path):
    first = one(evaluate(task(ROWS, WORLD, TOTAL, steps=[LEDGER]), 7, runner(tmp_path / "a")[0]))
    again = one(evaluate(task(ROWS, WORLD, TOTAL, steps=[LEDGER]), 7, runner(tmp_path / "b")[0]))
    other = one(evaluate(task(ROWS, WORLD, TOTAL, steps=[LEDGER]), 8, runner(tmp_path / "c")[0]))
    assert first == again
    assert first.digest == again.digest != other.digest


def test_kept_results_need_no_run(tmp_path):
    run, sandbox = runner(tmp_path)
    made = task(ROWS, WORLD, TOTAL, steps=[LEDGER])
    first = one(evaluate(made, 7, run))
    second = one(evaluate(made, 7, run))
    assert first == second
    assert sandbox.runs == 1
    other_root, other = runner(tmp_path, digest="root-2")
    one(evaluate(made, 7, other_root))
    assert other.runs == 1


def test_damaged_results_are_made_again(tmp_path):
    run, sandbox = runner(tmp_path)
    made = task(ROWS, WORLD, TOTAL, steps=[LEDGER])
    first = one(evaluate(made, 7, run))
    for path in (tmp_path / "cache").glob("*/*"):
        path.write_bytes(path.read_bytes()[:-3] + b"?")
    assert one(evaluate(made, 7, run)) == first
    assert sandbox.runs == 2


def test_texts_of_files_take_computed_values(tmp_path):
    run, _ = runner(tmp_path)
    total = computed("let", "total", program("emit({'cents': 3 * p.rows})", ref("p", "rows")))
    half = computed("let", "rows_again", ref("p", "rows"))
    note = file("/app/n.txt", "cents: ", ref("let", "total", "cents"), " of ", ref("let", "rows_again"), "\n")
    instance = one(evaluate(task(ROWS, total, half, steps=[note]), 1, run))
    rows = instance.params["rows"]
    assert instance.files[0].data == f"cents: {3 * rows} of {rows}\n".encode()


def test_the_last_writer_of_a_path_is_what_an_answer_reads(tmp_path):
    run, _ = runner(tmp_path)
    steps = [generate("/app/a", program("print(1)")), file("/app/a", "2\n")]
    answer = computed("answer", "read", program("emit(open('app/a').read())"), "/app/a")
    assert one(evaluate(task(answer, steps=steps), 1, run)).value(Kind.ANSWER, "read") == "2\n"


def test_a_folder_is_generated_and_read(tmp_path):
    run, _ = runner(tmp_path)
    body = program("""
        for n in range(3):
            open(f"app/data/{n}.txt", "w").write(str(n))
    """)
    answer = computed(
        "answer",
        "names",
        program("import os\nemit(sorted(os.listdir('app/data')))"),
        "/app/data/",
    )
    instance = one(evaluate(task(answer, steps=[generate("/app/data/", body)]), 1, run))
    assert [item.path for item in instance.files] == ["/app/data/0.txt", "/app/data/1.txt", "/app/data/2.txt"]
    assert instance.value(Kind.ANSWER, "names") == ["0.txt", "1.txt", "2.txt"]


def test_a_program_sees_only_the_files_that_it_names(tmp_path):
    run, _ = runner(tmp_path)
    look = program("import os\nemit(sorted(os.path.join(a, n)[2:] for a, _, b in os.walk('.') for n in b))")
    made = task(computed("answer", "seen", look, "/app/a"), steps=[file("/app/a", "1"), file("/app/b", "2")])
    assert one(evaluate(made, 1, run)).value(Kind.ANSWER, "seen") == ["app/a"]


GROWING = {
    "texts": lambda ref: text(ref, ref, ref, ref),
    "lists": lambda ref: ListExpr((ref, ref, ref, ref), span=SPAN),
    "maps": lambda ref: MapExpr((("a", ref), ("b", ref), ("c", ref)), span=SPAN),
}


@pytest.mark.parametrize("form", GROWING)
def test_values_that_grow_as_a_product_are_cut(tmp_path, form):
    items = [computed("let", "v0", const("0123456789"))]
    items += [computed("let", f"v{n}", GROWING[form](ref("let", f"v{n - 1}"))) for n in range(1, 40)]
    assert refused(evaluate(task(*items), 1, runner(tmp_path)[0])).slug == "oversized-value"


def test_draws_that_grow_as_a_product_are_cut(tmp_path):
    items = [param("v0", call("list", generator=call("int", low=0, high=9), length=5000))]
    for n in range(1, 6):
        again = CallExpr("choice", (("items", ref("p", f"v{n - 1}")),), span=SPAN)
        items.append(param(f"v{n}", call("list", generator=again, length=5000)))
    assert refused(evaluate(task(*items), 1, runner(tmp_path)[0])).slug == "empty-generator"


def test_a_large_value_named_too_often_is_cut(tmp_path):
    large = computed("let", "v", program("emit('x' * 10_000_000)"))
    steps = [file(f"/app/f{n}", ref("let", "v")) for n in range(20)]
    assert refused(evaluate(task(large, steps=steps), 1, runner(tmp_path)[0])).slug == "oversized-value"
    assert one(evaluate(task(large, steps=steps[:5]), 1, runner(tmp_path)[0]))


@pytest.mark.parametrize(
    ("source", "slug", "words"),
    [
        ("emit(nothing)", "failing-program", "NameError"),
        ("def f(:", "failing-program", "SyntaxError"),
        ("x = 1", "missing-emit", "without calling emit"),
        ("emit(1)\nemit(2)", "missing-emit", "second time"),
        ("emit(float('nan'))", "untyped-result", "nan"),
        ("emit({1: 2})", "untyped-result", "keys are text"),
        ("emit({'a': {2}})", "untyped-result", "set"),
        ("emit('\\ud800')", "untyped-result", "surrogate"),
        ("import os\nemit(list(os.urandom(3)))", "unseeded-draw", "rng"),
        ("import uuid\nemit(str(uuid.uuid4()))", "unseeded-draw", "rng"),
        ("import os\nos._exit(0)", "failing-program", "ended"),
        ("emit('x' * (40 << 20))", "oversized-output", "larger"),
        ("emit(len(bytearray(3 << 30)))", "oversized-output", "memory"),
        ("emit(p.rowz)", "failing-program", "known: none"),
        ("import os\nemit(os.listdir('/app/backups'))", "failing-program", "open `app/backups`"),
    ],
)
def test_a_program_that_fails_is_a_diagnostic(tmp_path, source, slug, words):
    item = refused(evaluate(task(computed("let", "x", program(source))), 1, runner(tmp_path)[0]))
    assert item.slug == slug
    assert words in item.headline + item.help
    assert str(tmp_path) not in item.headline


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import os\nos.symlink('/etc/passwd', 'app/d/link')", "links and devices"),
        ("import os\nos.mkfifo('app/d/pipe')", "links and devices"),
        ("open('elsewhere', 'w').write('x')", "outside"),
    ],
)
def test_a_folder_holds_plain_files_only(tmp_path, source, words):
    item = refused(evaluate(task(steps=[generate("/app/d/", program(source))]), 1, runner(tmp_path)[0]))
    assert item.slug == "irregular-files"
    assert words in item.headline


def test_the_clock_stands_still_and_the_world_is_the_same_everywhere(tmp_path):
    source = """
        import datetime, time, random, os, locale
        emit([time.time(), time.strftime("%F %T"), str(datetime.datetime.now()), str(datetime.date.today()),
              time.localtime().tm_hour, random.random(), random.Random().random(), str(now), hash("x"),
              os.environ.get("LC_ALL"), list({"a", "b", "c", "d"}), rng.random()])
    """
    made = task(computed("let", "x", program(source)))
    first = one(evaluate(made, 1, runner(tmp_path / "a")[0])).value(Kind.LET, "x")
    again = one(evaluate(made, 1, runner(tmp_path / "b")[0])).value(Kind.LET, "x")
    assert first == again
    assert first[:5] == [1736931600.0, "2025-01-15 09:00:00", "2025-01-15 09:00:00", "2025-01-15", 9]


def test_programs_do_not_disturb_each_other(tmp_path):
    wild = program("import builtins, json\nbuiltins.sum = None\njson.dumps = None\nemit(1)")
    calm = program("emit(sum([1, 2]))")
    made = task(computed("let", "a", wild), computed("let", "b", calm))
    instance, found = evaluate(made, 1, runner(tmp_path)[0])
    if instance is None:  # the wild one may break its own answer, and nothing else
        assert found[0].slug == "failing-program"
    else:
        assert instance.value(Kind.LET, "b") == 3


def test_a_failure_points_at_its_line_in_the_spec(tmp_path):
    source = Source("t.aes", "let x <<<python\n    a = 1\n    if a:\n        boom()\n    emit(a)\n>>>\n")
    body = program("a = 1\nif a:\n    boom()\nemit(a)\n", span=Span(source, 0, len(source.text)))
    item = refused(evaluate(task(computed("let", "x", body)), 1, runner(tmp_path)[0]))
    assert item.span.text == "boom()"
    assert item.span.position == (4, 9)


def test_what_needs_itself_is_a_cycle(tmp_path):
    made = task(
        computed("let", "a", program("emit(let.b)", ref("let", "b"))),
        computed("let", "b", program("emit(let.a)", ref("let", "a"))),
    )
    assert refused(evaluate(made, 1, runner(tmp_path)[0])).slug == "value-cycle"


def test_a_part_that_was_not_computed_is_a_diagnostic(tmp_path):
    made = task(computed("let", "a", program("emit({'x': 1})")), steps=[file("/app/f", ref("let", "a", "y"))])
    item = refused(evaluate(made, 1, runner(tmp_path)[0]))
    assert item.slug == "missing-part"
    assert "'y'" in item.headline


def test_what_a_build_step_makes_cannot_be_read(tmp_path):
    made = task(computed("answer", "a", program("emit(1)"), "/app/made-by-run"))
    assert refused(evaluate(made, 1, runner(tmp_path)[0])).slug == "unreadable-start-state"


@pytest.mark.parametrize("path", ["/app/../etc/x", "/app//x", "app/x", "/", "/app/\0"])
def test_a_drawn_path_stays_plain(tmp_path, path):
    made = task(param("where", call("choice", a=path)), steps=[])
    made = task(*made.declarations, steps=[file_at(text(ref("p", "where")))])
    assert refused(evaluate(made, 1, runner(tmp_path)[0])).slug == "invalid-path"


def file_at(path):
    from dataclasses import replace

    return replace(file("/x", "1"), path=path)


def test_an_empty_generator_is_a_diagnostic(tmp_path):
    made = task(param("n", call("int", low=5, high=4)))
    assert refused(evaluate(made, 1, runner(tmp_path)[0])).slug == "empty-generator"


def test_constants_become_json(tmp_path):
    made = task(computed("let", "a", const(0.5)))
    assert one(evaluate(made, 1, runner(tmp_path)[0])).value(Kind.LET, "a") == 0.5
