"""Small tasks and instances built by hand, as the resolver and the evaluator would give them."""

from dataclasses import replace

from aespec.model.expressions import Const, Kind, ListExpr, MapExpr, Program, Ref, Text
from aespec.model.instance import FixtureFile, Instance, RepoFiles
from aespec.model.task import (
    Account,
    AllOf,
    Check,
    CheckedTask,
    Claim,
    CommitStep,
    Example,
    FileStep,
    GenerateStep,
    Limits,
    Meta,
    RepoStep,
    Rule,
    RunStep,
    Script,
    Setup,
    Step,
    SwapEdit,
    Task,
    Verify,
)
from aespec.source import Source, Span

SOURCE = Source("tiny.aes", 'aes = 1\ntask "tiny" { }\n')
SPAN = Span(SOURCE, 0, 7)


def text(*parts, tag=""):
    return Text(tuple(parts), tag, span=SPAN)


def ref(kind, name, *path):
    return Ref(Kind(kind), name, path, span=SPAN)


def expr(value):
    """A literal as an expression."""
    if isinstance(value, list):
        return ListExpr(tuple(map(expr, value)), span=SPAN)
    if isinstance(value, dict):
        return MapExpr(tuple((key, expr(item)) for key, item in value.items()), span=SPAN)
    if isinstance(value, str):
        return text(value)
    return value if isinstance(value, Ref | Text) else Const(value, span=SPAN)


def claim(predicate, **args):
    return Claim(predicate, tuple((name, expr(value)) for name, value in args.items()), span=SPAN)


def check(name, *conditions, says="Do it.", rules=(), **more):
    return Check(name, text(says) if says is not None else None, tuple(rules), conditions, span=SPAN, **more)


def rule(name, sentence, *conditions):
    return Rule(name, text(sentence), conditions, span=SPAN)


def all_of(*items):
    return AllOf(items, span=SPAN)


def file_step(path, content="", **more):
    return FileStep(text(path), text(content), span=SPAN, **more)


def generate_step(path, **more):
    return GenerateStep(text(path), Program("python", "print()", span=SPAN), span=SPAN, **more)


def run_step(script, **more):
    return RunStep(text(script, tag="sh"), span=SPAN, **more)


def commit(message, *puts, deletes=(), **more):
    files = tuple(file_step(path, content) for path, content in puts)
    return CommitStep(text(message), files, tuple(map(text, deletes)), span=SPAN, **more)


def repo_step(path, *commits, **more):
    return RepoStep(text(path), commits, span=SPAN, **more)


def script(source, interpreter="sh"):
    return Script(interpreter, text(source, tag=interpreter), span=SPAN)


def swap(old, new, path=None):
    return SwapEdit(None if path is None else text(path), text(old), text(new), span=SPAN)


def example(kind, name, body, **more):
    return Example(kind, name, body, span=SPAN, **more)


def tiny(
    *,
    steps=(),
    checks=None,
    instruction=("Write a greeting.\n",),
    oracle=None,
    setup=None,
    verify=None,
    limits=None,
    meta=None,
    **more,
):
    """A checked task: one file to write unless told otherwise."""
    checks = (
        (check("greeting", claim("text", path="/app/greeting.txt", equals="hello\n")),)
        if checks is None
        else checks
    )
    oracle = oracle or script("printf 'hello\\n' > /app/greeting.txt\n")
    step_names = {"accepts", "rejects", "partials"}
    step = Step(
        text(*instruction),
        oracle,
        replace(verify or Verify(()), checks=tuple(checks)),
        **{name: more.pop(name) for name in step_names & more.keys()},
    )
    base = setup or Setup("debian:bookworm-slim", apt=("python3",))
    if base.agent != "root" and base.agent not in [account.name for account in base.accounts]:
        # As the resolver does.
        base = replace(base, accounts=(Account(base.agent, 1000, f"/home/{base.agent}"), *base.accounts))
    task = Task(
        name=more.pop("name", "tiny"),
        domain="terminal",
        title=more.pop("title", "Write a greeting"),
        setup=replace(base, steps=tuple(steps)),
        steps=(step,),
        limits=limits or Limits(),
        meta=meta or Meta(license="CC0-1.0", tags=("files",)),
        source=more.pop("source", SOURCE),
        span=SPAN,
        **more,
    )
    return CheckedTask(task)


def evaluated(task, *, seed=0, values=None, files=(), planted=(), params=None):
    """An instance: the files of `file` steps are taken from their texts, others are given as they are."""
    known = list(files)
    repos = []
    for at, step in enumerate(task.setup.steps):
        if isinstance(step, FileStep):
            known.append(fixture(step, at, task))
        elif isinstance(step, RepoStep):
            commits = tuple(
                tuple(
                    FixtureFile(plain(put.path), plain(put.content).encode(), put.mode) for put in one.files
                )
                for one in step.commits
            )
            repos.append(RepoFiles(plain(step.path), commits, step.owner or task.setup.agent, at))
    return Instance(
        task=task.name,
        seed=seed,
        params=params or {},
        values=values or {},
        files=tuple(known),
        repos=tuple(repos),
        planted=tuple(planted),
    )


def fixture(step, at, task):
    path = plain(step.path)
    owner = step.owner or ("agent" if path.startswith(f"{task.setup.workdir}/") else "root")
    return FixtureFile(path, plain(step.content).encode(), step.mode, owner, at)


def plain(written):
    """The text of a text without references."""
    return "".join(written.parts)
