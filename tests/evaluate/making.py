"""Tasks put together by hand, and a stand-in sandbox that runs this repository's own test programs."""

import contextlib
import io
import subprocess
import tarfile
import tempfile
import textwrap
from pathlib import Path

from aespec.evaluate.cache import ContentCache
from aespec.evaluate.programs import ProgramRunner
from aespec.model.expressions import CallExpr, Const, Kind, Program, Ref, Text
from aespec.model.task import (
    Check,
    CheckedTask,
    Computed,
    FileStep,
    GenerateStep,
    Param,
    Script,
    Setup,
    Step,
    Task,
    Verify,
)
from aespec.sandbox.api import Abilities, Image, Outcome
from aespec.source import Source, Span

SOURCE = Source("made.aes", "made by hand\n")
SPAN = Span(SOURCE, 0, 4)


class HostSandbox:
    """Unpacks into a temporary folder and runs there, with paths rewritten: no protection whatever."""

    name = "host"

    def __init__(self, folder, digest="root-1"):
        self.folder = Path(folder)
        self.digest = digest
        self.runs = 0
        self.slots = 0

    def abilities(self):
        return Abilities("host", "full", {})

    def prepare(self, recipe, context, *, progress=None):
        return Image(self.digest, None, {}, "/", "root", is_reproducible=False)

    @contextlib.contextmanager
    def open(self, image, limits):
        self.slots += 1
        self.folder.mkdir(parents=True, exist_ok=True)
        root = Path(tempfile.mkdtemp(dir=self.folder))

        yield HostSlot(root, self)


class HostSlot:
    def __init__(self, root, sandbox):
        self.root = root
        self.sandbox = sandbox

    def put(self, archive, *, clean=()):
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(self.root, filter="tar")

    def run(self, program):
        self.sandbox.runs += 1
        argv = [str(self.root) + arg if arg.startswith("/aespec") else arg for arg in program.argv]
        done = subprocess.run(
            argv,
            env=dict(program.env),
            cwd=str(self.root) + program.cwd,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def get(self, paths, *, limit_bytes=0):
        raise NotImplementedError


def text(*parts, tag=""):
    return Text(tuple(parts), tag, span=SPAN)


def const(value):
    return Const(value, span=SPAN)


def ref(kind, name, *path):
    return Ref(Kind(kind), name, tuple(path), span=SPAN)


def call(name, **args):
    made = {key: value if hasattr(value, "span") else const(value) for key, value in args.items()}
    return CallExpr(name, tuple(made.items()), span=SPAN)


def program(source, *uses, span=SPAN):
    return Program("python", textwrap.dedent(source), tuple(uses), span=span)


def param(name, generator):
    return Param(name, generator, span=SPAN)


def computed(kind, name, body, *reads):
    return Computed(Kind(kind), name, body, tuple(text(read) for read in reads), span=SPAN)


def generate(path, body, **more):
    return GenerateStep(text(path), body, span=SPAN, **more)


def file(path, *parts, **more):
    return FileStep(text(path), text(*parts), span=SPAN, **more)


def task(*declarations, steps=(), name="made", **more):
    verify = Verify((Check("done", text("It is done."), span=SPAN),))
    step = Step(text("Do it."), Script("sh", text("true\n", tag="sh"), span=SPAN), verify)
    setup = Setup("debian:bookworm-slim", steps=tuple(steps))
    return CheckedTask(
        Task(
            name,
            "terminal",
            "",
            setup,
            (step,),
            declarations=tuple(declarations),
            source=SOURCE,
            span=SPAN,
            **more,
        )
    )


def runner(tmp_path, digest="root-1"):
    sandbox = HostSandbox(tmp_path / "slots", digest)
    return ProgramRunner(sandbox, cache=ContentCache(tmp_path / "cache")), sandbox
