"""What a spec comes to: the design's sample and a spec with every block, as the typed model."""

import dataclasses

from aespec.model.expressions import CallExpr, CheckSlot, Const, Kind, Program, Ref, Text
from aespec.model.task import (
    Account,
    AnyOf,
    AssetStep,
    Claim,
    DeleteEdit,
    FileStep,
    GenerateStep,
    NotOf,
    PlantStep,
    PutEdit,
    RepoStep,
    RunStep,
    ServiceStep,
    SwapEdit,
)
from tests.resolve.specs import LEDGER, resolve_text, sample


def resolved(text, folder=None):
    task, faults = resolve_text(text, folder)
    assert faults == ()
    return task


def plain(text):
    assert all(isinstance(part, str) for part in text.parts)
    return "".join(text.parts)


def test_the_sample_of_the_design():
    task = resolved(LEDGER)
    assert (task.name, task.domain, task.title) == (
        "ledger-totals",
        "professional",
        "Total a ledger by account",
    )
    assert (task.meta.difficulty, task.meta.tags, task.meta.license) == (
        "easy",
        ("csv", "accounting"),
        "CC0-1.0",
    )
    limits = task.limits
    assert (limits.cpu, limits.memory_bytes, limits.agent_time_s, limits.network) == (
        1.0,
        2**30,
        600.0,
        "none",
    )
    rows, totals = task.declarations
    assert [(name, arg.value) for name, arg in rows.generator.args] == [("low", 80), ("high", 400)]
    assert (totals.kind, totals.name, [plain(path) for path in totals.reads]) == (
        Kind.ANSWER,
        "totals",
        ["/app/ledger.csv"],
    )
    (step,) = task.setup.steps
    assert isinstance(step, GenerateStep)
    assert [(ref.kind, ref.name) for ref in step.program.uses] == [(Kind.PARAM, "rows")]
    assert task.setup.accounts == (Account("agent", 1000, "/home/agent"),)
    checks = task.step.verify.checks
    assert [check.name for check in checks] == ["totals", "ledger_kept"]
    assert [rule.name for rule in checks[0].rules] == ["refunds", "duplicates"]
    (claim,) = checks[0].conditions
    assert claim.predicate == "json"
    assert dict(claim.args)["equals"] == Ref(Kind.ANSWER, "totals", span=claim.span)
    assert [example.breaks for example in task.step.rejects] == [("totals.duplicates",), ("totals.refunds",)]
    assert task.step.rejects[0].body[0].path is None


FULL = """\
aes = 1
use web = "web.aes"
fragment keeps (path, why) {
  check kept {
    says = "Leave `{{ path }}` as it is: {{ why }}."
    unchanged(path)
  }
}
task "full-house" {
  domain = swe
  title = "All of it"
  meta { tags = [x-y]  authors = ["A"]  source = synthetic  expert_time = 25m }
  limits { cpu = 0.5  disk = 1GB  network = ["example.org"] }
  param rows = log_int(80, 400)
  param name = choice("anna", "bert")
  param many = list(int(1, p.rows), 5)
  let who = "Mr {{ p.name }}"
  let table (from = [p.rows]) <<<python
    emit({"n": p.rows, "who": let.who, "x": rows})
  >>>
  hidden world <<<python
    emit([rng.random() for _ in range(p["rows"])])
  >>>
  answer sum (from = [hidden.world, "/app/data/"]) <<<python
    emit(sum(world))
  >>>
  secret token = hex(32)
  setup {
    base = "python:3.12-slim"
    apt = ["git", "python3=3.11.2-1"]
    pip = ["pytest==8.3.4"]
    env = { LANG = "C.UTF-8"  WHO = let.who }
    workdir = "/srv/app"
    agent = "dev"
    user "web" (uid = 1100, home = "/srv/web")
    user "db"
    file "/app/a.txt" (mode = "0755", owner = "web", newline = crlf, encoding = latin-1) <<<sh
      echo {{ p.name }} {{ github.ref }} {{ let.table.n }}
    >>>
    file "/app/b.txt" (verbatim = true) <<<text
      {{ p.nothing }}
    >>>
    generate "/app/data/" (from = [hidden.world]) <<<python
      open("app/data/x", "w").write(str(world))
    >>>
    asset "/app/logo.png" (from = "files/logo.png", mode = "0600")
    repo "/srv/repo" (owner = dev) {
      commit "first" (author = "A <a@b.c>", date = "2024-01-01T10:00:00+00:00") {
        file "a.py" <<<python
          x = {{ p.rows }}
        >>>
      }
      commit "second" (branch = wip) { delete("a.py") }
      delete_branch = ["wip"]
    }
    service api (run = "python3 /srv/api.py {{ p.rows }}", port = 8080, user = "web", health = "true")
    run (network = true) <<<sh
      echo hi
    >>>
    plant secret.token (how = append("/app/.env"))
    each x (in = ["u", "v"]) {
      file "/app/{{ x }}.md" <<<md
        I am {{ x }}
      >>>
    }
    dockerfile <<<dockerfile
      RUN true
    >>>
  }
  instruction <<<md
    Do it, {{ p.name }}. {{ checks }} {{ check.totals }}
  >>>
  oracle <<<sh
    echo {{ p.rows }} > /app/out
  >>>
  verify {
    hidden "cases/a.json" <<<json
      {"a": {{ answer.sum }}}
    >>>
    check totals (weight = 2, gate = true) {
      says = "Write `/app/out`"
      rule r1 "Rule {{ p.rows }}." { file("/app/out") }
      any { file("/app/a") file("/app/b") }
      not { file("/app/core") }
      json("/app/out#/n", equals = answer.sum, tolerance = 1%)
      file("/app/out", max_size = 10KiB)
    }
    use keeps (path = "/app/a.txt", why = "{{ p.name }} needs it")
    use web.served (path = "/app/out")
    twin other { seed = fresh }
    free("/app/out#3", because = "left open")
    artifacts = ["/app/extra"]
    score { }
  }
  accept "one" (instance = 3) <<<sh
    oracle
  >>>
  reject "two" (breaks = [r1, totals]) {
    put("/app/out") <<<text
      3
    >>>
    delete("/app/x")
    swap("/app/out", "a", "b")
  }
  partial "three" (reward = 0.5) <<<sh
    true
  >>>
  allow(network-open, because = "it is needed")
}
"""
WEB = """\
aes = 1
fragment served (path) { use inner (path = path) }
fragment inner (path) { check served { file(path, kind = folder) } }
"""


def test_every_block(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "logo.png").write_bytes(b"\x89PNG\0")
    (tmp_path / "web.aes").write_text(WEB)
    task = resolved(FULL, tmp_path)
    setup = task.setup
    kinds = [
        FileStep,
        FileStep,
        GenerateStep,
        AssetStep,
        RepoStep,
        ServiceStep,
        RunStep,
        PlantStep,
        FileStep,
        FileStep,
    ]
    assert [type(step) for step in setup.steps] == kinds
    assert (setup.workdir, setup.agent, setup.apt) == ("/srv/app", "dev", ("git", "python3=3.11.2-1"))
    assert [(account.name, account.uid, account.home) for account in setup.accounts] == [
        ("dev", 1000, "/home/dev"),
        ("web", 1100, "/srv/web"),
        ("db", 1101, "/home/db"),
    ]
    first, second, _, asset, repo, service, run, plant, *repeated = setup.steps
    assert (first.mode, first.owner, first.newline, first.encoding) == (0o755, "web", "crlf", "latin-1")
    assert [type(part) for part in first.content.parts] == [str, Ref, str, Ref, str]
    assert first.content.parts[3].path == ("n",)
    assert plain(second.content) == "{{ p.nothing }}\n"
    assert (asset.data, asset.mode, asset.origin) == (b"\x89PNG\0", 0o600, "files/logo.png")
    assert (repo.owner, repo.deleted_branches, [commit.branch for commit in repo.commits]) == (
        "dev",
        ("wip",),
        ["main", "wip"],
    )
    assert (service.port, service.user, run.has_network) == (8080, "web", True)
    assert plant.how == CallExpr(
        "append", (("path", Text(("/app/.env",), span=plant.span)),), span=plant.span
    )
    assert [plain(step.content) for step in repeated] == ["I am u\n", "I am v\n"]
    assert [part.check for part in task.step.instruction.parts if isinstance(part, CheckSlot)] == [
        "",
        "totals",
    ]


def test_values_and_verify_of_every_block(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "logo.png").write_bytes(b"")
    (tmp_path / "web.aes").write_text(WEB)
    task = resolved(FULL, tmp_path)
    table = {item.name: item for item in task.declarations}
    assert isinstance(table["who"].body, Text)
    assert isinstance(table["table"].body, Program)
    uses = {(ref.kind.value, ref.name) for ref in table["table"].body.uses}
    assert uses == {("p", "rows"), ("let", "who")}
    verify = task.step.verify
    totals, kept, served = verify.checks
    assert [type(item) for item in totals.conditions] == [AnyOf, NotOf, Claim, Claim]
    assert dict(totals.conditions[2].args)["tolerance"] == Const(0.01, span=task.span)
    assert (totals.weight, totals.is_gate) == (2.0, True)
    assert [type(part) for part in kept.says.parts] == [str, Ref, str]
    assert served.conditions[0].predicate == "file"
    assert (verify.is_scored, plain(verify.artifacts[0]), verify.hidden_files[0].name) == (
        True,
        "/app/extra",
        "cases/a.json",
    )
    (reject,) = task.step.rejects
    assert reject.breaks == ("totals.r1", "totals")
    assert [type(edit) for edit in reject.body] == [PutEdit, DeleteEdit, SwapEdit]
    assert (task.step.accepts[0].instance, task.step.partials[0].reward) == (3, 0.5)
    assert task.limits.network == ("example.org",)


def test_equal_texts_give_equal_tasks_whatever_their_layout():
    spread = LEDGER.replace("\n  limits", "\n\n  # a comment\n  limits").replace("cpu = 1 ", "cpu   =   1 ")
    assert resolved(LEDGER) == dataclasses.replace(resolved(spread), source=resolved(LEDGER).source)


def test_an_argument_of_a_fragment_is_quoted_by_its_place():
    text = sample(setup='use greet (who = "Anna\'s", n = 3)').replace(
        "aes = 1",
        "aes = 1\nfragment greet (who, n) {\n  run <<<sh\n    echo {{ who }} {{ n }}\n  >>>\n  "
        'file "/app/{{ n }}" <<<python\n    x = {{ who }}\n  >>>\n}',
    )
    run, file = resolved(text).setup.steps
    assert plain(run.script) == "echo 'Anna'\"'\"'s' 3\n"
    assert (plain(file.path), plain(file.content)) == ("/app/3", 'x = "Anna\'s"\n')


def test_a_spec_without_setup_takes_the_image_of_its_domain():
    lines = [line for line in sample().splitlines() if not line.startswith(("  setup", "    base", "    \n"))]
    text = "\n".join(lines).replace("  \n    \n  }\n", "\n")
    assert resolved(text.replace("\n    \n  }", "", 1)).setup.base == "debian:bookworm-slim"
