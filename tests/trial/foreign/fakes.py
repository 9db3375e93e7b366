"""A sandbox of dictionaries, for what no real one does on demand: `act(program, files)` is a program."""

import contextlib
import io
import tarfile
from dataclasses import replace

from aespec.sandbox.api import Abilities, Difference, Image, Outcome, UncarriableError
from aespec.sandbox.tars import Entry, pack

BASE_FILES = {"/etc/passwd": b"root:x:0:0::/root:/bin/sh\n", "/app/a.txt": b"2\n"}


class FakeBuilder:
    """Images are dictionaries of files; `fault` is raised by building, where it is given."""

    name = "fake"

    def __init__(self, act, *, fault=None, files=BASE_FILES):
        self.act = act
        self.fault = fault
        self.files = dict(files)
        self.too_large = ()
        self.programs = []
        self.frozen = 0

    def abilities(self):
        return Abilities("fake", "full", {})

    def build(self, build, *, progress=None):
        if self.fault is not None:
            raise self.fault
        return Image("sha256:0", dict(self.files), {"PATH": "/bin"}, "/app", "root")

    def freeze(self, image, difference):
        self.frozen += 1
        files = {path: data for path, data in image.reference.items() if path not in difference.deleted}
        return replace(image, reference=files | files_of(difference.archive))

    @contextlib.contextmanager
    def open(self, image, limits):
        yield FakeSlot(self, dict(image.reference))


class FakeSlot:
    """Files by absolute path; folders are not kept."""

    def __init__(self, builder, files):
        self.builder = builder
        self.files = files
        self.before = dict(files)

    def put(self, archive, *, clean=()):
        for path in clean:
            self.files = {
                name: data for name, data in self.files.items() if not (name + "/").startswith(path + "/")
            }
        self.files |= files_of(archive)

    def run(self, program):
        self.builder.programs.append(program)
        return self.builder.act(program, self.files) or Outcome(0, b"", b"")

    def get(self, paths, *, limit_bytes=1 << 30):
        found = {
            name: data
            for name, data in self.files.items()
            if any((name + "/").startswith(path.rstrip("/") + "/") for path in paths)
        }
        if any(name in self.builder.too_large for name in found):
            raise UncarriableError("too large", boundary="spec")
        folders = [Entry("/logs/verifier", None, 0o777)] if "/logs/verifier" in paths else []
        return pack([*folders, *(Entry(name, data) for name, data in sorted(found.items()))])

    def difference(self, *, limit_bytes=1 << 30):
        changed = {name: data for name, data in self.files.items() if self.before.get(name) != data}
        if any(name in self.builder.too_large for name in changed):
            raise UncarriableError("too large", boundary="spec")
        gone = tuple(sorted(set(self.before) - set(self.files)))
        return Difference(pack([Entry(name, data) for name, data in sorted(changed.items())]), gone)


def files_of(archive):
    """The regular files of a tar by absolute path."""
    if not archive:
        return {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {"/" + member.name: tar.extractfile(member).read() for member in tar if member.isreg()}


def is_solution(program):
    """Whether a program is the task's solution."""
    return program.argv[-1].startswith("(/solution/")


def is_verifier(program):
    """Whether a program is the task's verifier."""
    return program.argv[-1].startswith("(/tests/")


def acting(solve=None, verify=None, script=None):
    """An `act` of parts: each gets the program and the files; None does nothing."""

    def act(program, files):
        part = solve if is_solution(program) else verify if is_verifier(program) else script
        return part(program, files) if part is not None else None

    return act


def writing(files_written, outcome=None):
    """A part that writes files and ends with an outcome."""

    def part(program, files):
        files.update(files_written)
        return outcome

    return part
