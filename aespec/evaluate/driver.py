"""Runs the programs of a spec, inside the evaluator's sandbox; it ships there as one file.

Python 3.9 and newer, standard library only. It reads a job (JSON) from the file named by its argument and
writes the results (JSON) to standard output. Every program runs in a forked child of its own, in an empty
folder with the start-state files that it may read, with a fixed clock and a seeded source of draws.
"""

from __future__ import annotations

import base64
import builtins
import contextlib
import datetime
import json
import math
import os
import random
import resource
import select
import shutil
import signal
import stat
import sys
import time
from typing import Any, Dict, List, Optional, Set, Tuple

Told = Dict[str, Any]

CLEAN_ENVIRONMENT = {
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "TZ": "UTC",
}
MESSAGE_LIMIT = 500
DEPTH_LIMIT = 100
FOLDERS_LIMIT = 50
END_LIMIT_S = 10.0  # to end what a program left running
KINDS = ("emit", "ended", "failed", "files", "large", "random", "slow", "type")
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36


class RefusedError(Exception):
    """A result that can't be taken; `args[0]` is a machine's word for the kind, `args[1]` the sentence."""


def main(job_path: str, work: str) -> None:
    """Run all programs of the job in order and print their results."""
    if dict(os.environ) != CLEAN_ENVIRONMENT or sys.flags.hash_randomization:
        # The hash seed is read when the interpreter starts, and -I would ignore it.
        argv = [sys.executable, "-s", "-S", "-B", os.path.abspath(__file__), job_path, work]
        os.execve(sys.executable, argv, CLEAN_ENVIRONMENT)
    # No program may trace this process, write its memory or open its files, and orphans come to it.
    control(PR_SET_DUMPABLE, 0)
    control(PR_SET_CHILD_SUBREAPER, 1)
    with open(job_path, encoding="utf-8") as stream:
        job = json.load(stream)
    values: Told = {}
    files = {path: base64.b64decode(text) for path, text in job["files"].items()}
    results: List[Told] = []
    for number, program in enumerate(job["programs"]):
        inputs = {slot: pick(values[source], path) for slot, source, path in program["later"]}
        result = run_program(program, inputs, files, job, os.path.join(work, str(number)))
        results.append(result)
        if "error" in result:
            break
        if program["makes"] == "value":
            values[program["id"]] = result["value"]
        for path, text in result.get("files", {}).items():
            files[path] = base64.b64decode(text)
    json.dump({"python": "%d.%d.%d" % sys.version_info[:3], "results": results}, sys.stdout)
    sys.stdout.flush()


def control(option: int, value: int) -> None:
    """`prctl`, where Python came with ctypes; elsewhere programs of one spec can disturb each other."""
    with contextlib.suppress(ImportError, OSError):
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def pick(value: Any, path: List[str]) -> Any:
    """What stands at a path of keys and indices in a value."""
    for key in path:
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def run_program(program: Told, inputs: Told, files: Dict[str, bytes], job: Told, folder: str) -> Told:
    """One program in a child; its result, or `{"error": {"kind", "message", "line"}}`."""
    os.makedirs(folder)
    known = place_files(program["reads"], files, folder)
    if program["makes"] == "folder":
        os.makedirs(folder + program["path"], exist_ok=True)
    reader, writer = os.pipe()
    output = os.open(folder + ".out", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    child = os.fork()
    if child == 0:
        os.close(reader)
        status = 1
        try:
            be_child(program, inputs, job, folder=folder, writer=writer, output=output)
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    answer, how = wait_for(child, reader, job["limits"]["timeout_s"], job["limits"]["output_bytes"])
    try:
        end_descendants()
        if how is not None:
            raise RefusedError(*how)
        told = read_answer(answer, program["makes"])
        if "error" in told:
            return told
        if program["makes"] == "file":
            told["files"] = {program["path"]: encode_output(output, job["limits"]["output_bytes"])}
        elif program["makes"] == "folder":
            told["files"] = collect(folder, program["path"], known, job["limits"])
        return told
    except RefusedError as refusal:
        return {"error": {"kind": refusal.args[0], "message": refusal.args[1], "line": None}}
    except OSError as error:
        return {"error": {"kind": "files", "message": str(error)[:MESSAGE_LIMIT], "line": None}}
    finally:
        os.close(output)
        with contextlib.suppress(RecursionError):  # what is too deep goes with the whole place
            shutil.rmtree(folder, ignore_errors=True)


def read_answer(answer: bytes, makes: str) -> Told:
    """What the child told. The program shared its process, so it may have written there itself."""
    try:
        told = json.loads(answer)
    except (ValueError, RecursionError):
        told = None
    if isinstance(told, dict):
        error = told.get("error")
        if isinstance(error, dict) and error.get("kind") in KINDS:
            line = error.get("line")
            return fault(error["kind"], error.get("message"), line if isinstance(line, int) else None)
        if makes == "value" and set(told) == {"value"}:
            check_json(told["value"], "the value", 0)
            return told
        if makes != "value" and not told:
            return {}
    raise RefusedError("ended", "the program disturbed what is told of its result")


def end_descendants() -> None:
    """End all that the program started: none of it may be there when the next one runs."""
    deadline = time.monotonic() + END_LIMIT_S
    while True:
        found = descendants()
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not found:
            return
        if time.monotonic() > deadline:
            raise RefusedError("ended", "the program left processes that could not be ended")
        time.sleep(0.001)


def descendants() -> List[int]:
    """The living processes that descend from this one."""
    parents: Dict[int, int] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError), open("/proc/%s/stat" % name, "rb") as stream:
            state, parent = stream.read().rpartition(b")")[2].split()[:2]
            if state != b"Z":
                parents[int(name)] = int(parent)
    found: List[int] = []
    level = {os.getpid()}
    while level:
        level = {pid for pid, parent in parents.items() if parent in level}
        found += level
    return found


def place_files(reads: List[str], files: Dict[str, bytes], folder: str) -> Set[str]:
    """Put the start-state files at and below each path of `reads` into the folder; their relative paths."""
    placed: Set[str] = set()
    for path, data in files.items():
        if any(path == read or path.startswith(read.rstrip("/") + "/") for read in reads):
            target = folder + path
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as stream:
                stream.write(data)
            placed.add(path)
    return placed


def wait_for(
    child: int, reader: int, timeout_s: float, limit: int
) -> Tuple[bytes, Optional[Tuple[str, str]]]:
    """Read the child's answer until it ends; the answer, and why there is none as (kind, message) or None."""
    deadline = time.monotonic() + timeout_s
    parts: List[bytes] = []
    size, how = 0, None
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            how = ("slow", "the program ran longer than %g s" % timeout_s)
            break
        data = os.read(reader, 1 << 16)
        if not data:
            break
        size += len(data)
        if size > limit:
            how = ("large", "the result is larger than %d bytes" % limit)
            break
        parts.append(data)
    os.close(reader)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    answer = b"".join(parts)
    if how is None and not answer.endswith(b"\n"):
        code = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        if code in (signal.SIGXCPU, signal.SIGKILL):
            how = ("slow", "the program was ended: it used up its time or memory")
        else:
            how = ("ended", "the program ended the interpreter itself (signal %d)" % code)
    return answer, how


def be_child(program: Told, inputs: Told, job: Told, *, folder: str, writer: int, output: int) -> None:
    """In the child: confine, run the program, write the answer to the pipe."""
    control(PR_SET_DUMPABLE, 1)
    os.setsid()
    limits = job["limits"]
    stdin = os.open("/dev/null", os.O_RDONLY)
    os.dup2(stdin, 0)
    os.dup2(output, 1)
    os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
    os.chdir(folder)
    os.umask(0o022)
    for kind, amount in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits["output_bytes"]),
        (resource.RLIMIT_AS, limits["memory_bytes"]),
        (resource.RLIMIT_CPU, int(limits["timeout_s"]) + 1),
    ):
        resource.setrlimit(kind, (amount, amount))
    sys.stdout = open(1, "w", encoding="utf-8", newline="\n", closefd=False)
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    del sys.path[:1]
    told = execute(program, inputs, job)
    data = json.dumps(told).encode() + b"\n"
    while data:
        data = data[os.write(writer, data) :]


def execute(program: Told, inputs: Told, job: Told) -> Told:
    """Run the text with its names bound; `{"value": …}`, `{}` or `{"error": …}`."""
    emitted: List[Any] = []

    def emit(value: Any) -> None:
        """Hand over the result of this program: once, JSON."""
        if program["makes"] != "value":
            raise RefusedError("emit", "this program makes a file: it prints or writes, it doesn't emit")
        if emitted:
            raise RefusedError("emit", "emit was called a second time; one program makes one value")
        check_json(value, "the value", 0)
        emitted.append(json.loads(json.dumps(value, allow_nan=False)))

    name = "<%s>" % program["id"]
    scope = bind(program, inputs)
    scope.update(emit=emit, __name__="__main__", __builtins__=builtins, __file__=name)
    freeze_world(job["now"], program["rng"])
    scope["rng"] = random.Random(program["rng"])
    scope["now"] = datetime.datetime.fromisoformat(job["now"])
    try:
        exec(compile(program["text"], name, "exec", dont_inherit=True), scope)
        sys.stdout.flush()
    except RefusedError as refusal:
        return fault(refusal.args[0], refusal.args[1], line_of(refusal, name))
    except MemoryError as error:
        return fault("large", "the program used more memory than it may", line_of(error, name))
    except SyntaxError as error:
        line = error.lineno if error.filename == name else line_of(error, name)
        return fault("failed", "SyntaxError: %s" % error.msg, line)
    except SystemExit as error:
        if error.code not in (None, 0):
            return fault("failed", "the program left with status %r" % (error.code,), line_of(error, name))
    except BaseException as error:
        return fault("failed", "%s: %s" % (type(error).__name__, error), line_of(error, name))
    if program["makes"] == "value":
        if not emitted:
            return fault("emit", "the program ended without calling emit(value)", None)
        return {"value": emitted[0]}
    return {}


def fault(kind: str, message: object, line: Optional[int]) -> Told:
    """An error as data, its message bounded."""
    message = "".join(char if char.isprintable() else " " for char in str(message))[:MESSAGE_LIMIT]
    return {"error": {"kind": kind, "message": message, "line": line}}


def line_of(error: BaseException, name: str) -> Optional[int]:
    """The last line of the program in the traceback, counted from 1, or None."""
    line, frame = None, error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == name:
            line = frame.tb_lineno
        frame = frame.tb_next
    return line


def bind(program: Told, inputs: Told) -> Told:
    """The names that the program finds: `p`, `let` and its `from` values."""
    scope: Told = {"p": Names("p"), "let": Names("let")}
    for slot, value in list(program["binds"].items()) + list(inputs.items()):
        kind, _, name = slot.partition(".")
        if kind in ("p", "let"):
            dict.__setitem__(scope[kind], name, value)
        if kind != "p" and not (kind == "let" and hasattr(builtins, name)):
            scope[name] = value
    return scope


class Names(Dict[str, Any]):
    """Values by key or attribute; an unknown one says which there are."""

    def __init__(self, prefix: str) -> None:
        dict.__init__(self)
        dict.__setattr__(self, "_prefix", prefix)

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        known = ", ".join(sorted(self)) or "none"
        raise AttributeError("%s.%s is not known to this program; known: %s" % (self._prefix, name, known))


def check_json(value: Any, where: str, depth: int) -> None:
    """Refuse what JSON can't hold as it is: other types, keys that aren't text, NaN, half surrogates."""
    if depth > DEPTH_LIMIT:
        raise RefusedError("type", "%s is nested deeper than %d" % (where, DEPTH_LIMIT))
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, int):
        if value.bit_length() > 2000:
            raise RefusedError("type", "%s is an integer of more than 2000 bits" % where)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise RefusedError("type", "%s is %r, which JSON doesn't have" % (where, value))
    elif isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise RefusedError("type", "%s is text with half a surrogate pair" % where) from None
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            check_json(item, "%s[%d]" % (where, index), depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                message = "%s has the key %r, but keys are text; write str(key)" % (where, key)
                raise RefusedError("type", message)
            check_json(key, "a key of %s" % where, depth + 1)
            check_json(item, "%s[%r]" % (where, key), depth + 1)
    else:
        message = "%s is a %s, which JSON doesn't have" % (where, type(value).__name__)
        raise RefusedError("type", message)


def freeze_world(now_text: str, seed: str) -> None:
    """A clock that stands still and no source of draws but the seeded one, so that runs repeat."""
    now = datetime.datetime.fromisoformat(now_text)
    stamp = (now - datetime.datetime(1970, 1, 1)).total_seconds()

    class FixedDatetime(datetime.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(stamp, tz) if tz else cls.fromisoformat(now_text)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.fromisoformat(now_text)

        @classmethod
        def today(cls) -> Any:
            return cls.fromisoformat(now_text)

    class FixedDate(datetime.date):
        @classmethod
        def today(cls) -> Any:
            return cls(now.year, now.month, now.day)

    class SeededRandom(random.Random):
        def __init__(self, x: Any = None) -> None:
            super().__init__(seed if x is None else x)

        def seed(self, a: Any = None, version: int = 2) -> None:
            super().seed(seed if a is None else a, version)

    def urandom(size: int) -> bytes:
        raise RefusedError("random", "a draw that can't be repeated; draw from rng instead")

    def getrandom(size: int, flags: int = 0) -> bytes:
        return urandom(size)

    replaced: List[Tuple[Any, Told]] = [
        (datetime, {"datetime": FixedDatetime, "date": FixedDate}),
        (random, {"Random": SeededRandom, "_urandom": urandom}),
        (os, {"urandom": urandom, "getrandom": getrandom}),
        (time, frozen_time(stamp)),
    ]
    for module, names in replaced:
        for name, made in names.items():
            setattr(module, name, made)
    random.seed(seed)


def frozen_time(stamp: float) -> Told:
    """What replaces the functions of `time` that read the clock; those that only measure stay."""
    strftime, asctime, gmtime = time.strftime, time.asctime, time.gmtime
    localtime, ctime = time.localtime, time.ctime

    def at(seconds: Optional[float]) -> float:
        return stamp if seconds is None else seconds

    def moment(told: Any) -> Any:
        return gmtime(stamp) if told is None else told

    return {
        "time": lambda: stamp,
        "time_ns": lambda: int(stamp) * 10**9,
        "gmtime": lambda seconds=None: gmtime(at(seconds)),
        "localtime": lambda seconds=None: localtime(at(seconds)),
        "ctime": lambda seconds=None: ctime(at(seconds)),
        "strftime": lambda form, told=None: strftime(form, moment(told)),
        "asctime": lambda told=None: asctime(moment(told)),
    }


def encode_output(descriptor: int, limit: int) -> str:
    """An open regular file in base64; refused when it is larger than the limit in bytes."""
    size = os.fstat(descriptor).st_size
    if size > limit:
        raise RefusedError("large", "the output is larger than %d bytes" % limit)
    return base64.b64encode(os.pread(descriptor, size, 0)).decode()


def collect(folder: str, path: str, known: Set[str], limits: Told) -> Dict[str, str]:
    """The regular files that the program left below its folder, by absolute path."""
    found: Dict[str, str] = {}
    total = 0
    top = folder + path.rstrip("/")
    queue = [(folder, 0)]
    while queue:
        here, level = queue.pop()
        if level > FOLDERS_LIMIT:
            raise RefusedError("files", "folders lie more than %d deep in each other" % FOLDERS_LIMIT)
        for full in [os.path.join(here, name) for name in os.listdir(here)]:
            shown = full[len(folder) :]
            mode = os.lstat(full).st_mode
            if stat.S_ISDIR(mode):
                queue.append((full, level + 1))
                continue
            if shown in known:
                continue
            demand_plain(shown, mode, path, is_below=full.startswith(top + "/"))
            total += os.path.getsize(full)
            if total > limits["output_bytes"] or len(found) >= limits["files"]:
                message = "more than %d bytes or %d files" % (limits["output_bytes"], limits["files"])
                raise RefusedError("large", message)
            descriptor = os.open(full, os.O_RDONLY | os.O_NOFOLLOW)
            found[shown] = encode_output(descriptor, limits["output_bytes"])
            os.close(descriptor)
    return dict(sorted(found.items()))


def demand_plain(shown: str, mode: int, path: str, *, is_below: bool) -> None:
    """Refuse what is no plain file with a plain name in the folder of the step."""
    told = ascii(shown)[1:-1]
    if not stat.S_ISREG(mode):
        raise RefusedError("files", "%s is neither a file nor a folder; links and devices are refused" % told)
    if not is_below:
        raise RefusedError("files", "%s lies outside %s, the folder of this step" % (told, path))
    try:
        shown.encode("utf-8")
    except UnicodeEncodeError:
        raise RefusedError("files", "the name %s is not UTF-8" % told) from None


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
