"""A small spec compiled for real, and a stand-in sandbox for what no real one does on demand."""

import contextlib
import io
import tarfile
from pathlib import Path

from aespec.bundle import write
from aespec.compiler import compile_instance, load
from aespec.evaluate import ProgramRunner, evaluate
from aespec.sandbox.api import Abilities, Image, Outcome

SPEC = """\
aes = 1
task "sum-up" {
  domain = terminal
  title  = "Add numbers up"
  meta   { difficulty = easy  license = "CC0-1.0" }
  param count = int(20, 40)
  setup {
    base = "debian:bookworm-slim"
    apt  = ["python3"]
    generate "/app/numbers.txt" <<<python
      for _ in range(p.count): print(rng.randrange(-50, 100))
    >>>
  }
  answer total (from = "/app/numbers.txt") <<<python
    emit(sum(n for n in map(int, open("app/numbers.txt")) if n >= 0))
  >>>
  instruction <<<md
    `/app/numbers.txt` holds one number per line.
  >>>
  oracle <<<python
    import json
    total = 0
    for n in map(int, open("/app/numbers.txt")):
        if n < 0: continue
        total += n
    json.dump({"total": total}, open("/app/sum.json", "w"))
    print("done")
  >>>
  verify {
    check sum {
      says = "Write the sum to `/app/sum.json` as `{\\"total\\": N}`."
      rule positive "Negative numbers don't count."
      json("/app/sum.json", equals = { total = answer.total })
    }
    check kept { unchanged("/app/numbers.txt") }
  }
  accept "written by a shell" <<<sh
    oracle > /dev/null
    printf '{ "total" : %s }' "$(sed 's/[^0-9]//g' /app/sum.json)" > /app/sum.json
  >>>
  accept "written anew" <<<python
    oracle()
    text = open("/app/sum.json").read()
    open("/app/sum.json", "w").write("\\n" + text + "\\n")
  >>>
  reject "counts all" (breaks = positive) { swap(oracle, "if n < 0: continue", "pass") }
  reject "spoils the input" (breaks = kept) { put("/app/numbers.txt") <<<text
      1
    >>>
  }
  reject "no file" (breaks = sum) { delete("/app/sum.json") }
}
"""


def compile_text(text, folder, sandbox, seed=3):
    """The bundle of an instance; asserts that there is no error on the way."""
    path = Path(folder) / "spec.aes"
    path.write_text(text)
    task, found = load(path)
    assert not [item.headline for item in found if item.is_error]
    instance, found = evaluate(task, seed, ProgramRunner(sandbox))
    assert not [item.headline for item in found if item.is_error]
    plan, found = compile_instance(task, instance)
    assert not [item.headline for item in found if item.is_error]
    return write(plan, Path(folder) / f"bundle-{seed}")


class FakeSandbox:
    """Slots are dictionaries of files; `act(program, files)` is what a program does, and its outcome."""

    name = "fake"

    def __init__(self, act, prepare=None):
        self.act = act
        self.prepared = prepare

    def abilities(self):
        return Abilities("fake", "full", {})

    def prepare(self, recipe, context, *, progress=None):
        if self.prepared is not None:
            raise self.prepared
        return Image("sha256:0", None, {}, "/app", recipe.user)

    @contextlib.contextmanager
    def open(self, image, limits):
        yield FakeSlot(self.act)


class FakeSlot:
    def __init__(self, act):
        self.act = act
        self.files = {}

    def put(self, archive, *, clean=()):
        for path in clean:
            self.files = {
                name: data for name, data in self.files.items() if not (name + "/").startswith(path + "/")
            }
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            for member in tar:
                if member.isreg():
                    self.files["/" + member.name] = tar.extractfile(member).read()

    def run(self, program):
        return self.act(program, self.files) or Outcome(0, b"", b"")

    def get(self, paths, *, limit_bytes=0):
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w") as tar:
            for name, data in sorted(self.files.items()):
                if any((name + "/").startswith(path.rstrip("/") + "/") for path in paths):
                    member = tarfile.TarInfo(name.lstrip("/"))
                    member.size = len(data)
                    tar.addfile(member, io.BytesIO(data))
        return stream.getvalue()
