"""What a verifier reads and runs, seen by running it once: its tamper points and its shadow points.

Python is watched by an audit hook that `sitecustomize` starts, bash by `BASH_ENV` and its trace, and whatever
looks programs up on PATH by shims that write down the call and become the real program. None of it may change
the verdict: it is compared, and where it does change, less is watched, at last nothing.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from aespec.fuzz.audit.hook import FIELD, LOG, RECORD
from aespec.fuzz.cheats.commands import BUILTINS, Command, commands_of, unwrap
from aespec.fuzz.cheats.facts import DECIDING, TaskFacts, rank_tools
from aespec.sandbox.tars import Entry
from aespec.trial.judging import Perturbation
from aespec.trial.probe import Harness, Judgement, Probe

FOLDER = "/aespec-trace"
XTRACE = f"{FOLDER}/xtrace"
_COMMON = """
apt-get basename cat chmod chown cp cut date dirname find file g++ gcc gunzip gzip head hostname id java javac
killall ln ls mkdir mktemp mv mysql nproc openssl perl pgrep php pip pip3 pkill ps psql ruby rm rustc sed seq
sha1sum sleep sort ss stat su tail tar tee timeout touch tr true uniq unzip xargs yes zip
"""
SHIMMED = tuple(sorted({*DECIDING, *_COMMON.split()}))
"""Names that get a shim, where the verifier's PATH has them; with them those that its scripts name."""

_SITES = (
    "/usr/lib/python3/dist-packages",
    *(f"/usr/local/lib/python3.{minor}/site-packages" for minor in range(8, 16)),
)
_PTH = "import sys; exec(open('/aespec-trace/sitecustomize.py').read(), {'__name__': 'aespec_trace'})\n"
_CHAIN = f"""
start()


def _next():
    # Only one sitecustomize is imported: the one that would have been is run behind this one.
    folder = {FOLDER!r}
    for place in sys.path:
        path = os.path.join(place or ".", "sitecustomize.py")
        if place != folder and os.path.isfile(path):
            with open(path) as stream:
                text = stream.read()
            exec(compile(text, path, "exec"), {{"__name__": "sitecustomize", "__file__": path}})
            return


if __name__ == "sitecustomize":
    _next()
"""
_SHIM = f"""#!/bin/sh
set -f
name=${{0##*/}}
real=
before=$IFS
IFS=:
for folder in $PATH; do
    [ "$folder" = {FOLDER}/bin ] && continue
    if [ -f "$folder/$name" ] && [ -x "$folder/$name" ]; then real=$folder/$name; break; fi
done
IFS=$before
text="run{FIELD}$PWD{FIELD}$real{FIELD}$name"
for word; do text="$text{FIELD}$word"; done
{{ printf '%s{RECORD}' "$text" >> {LOG}; }} 2> /dev/null
[ -n "$real" ] && exec "$real" "$@"
echo "$name: not found" >&2
exit 127
"""
_BASH_HEAD = f"""\
case ":$PATH:" in
    *:{FOLDER}/bin:*) ;;
    *)
        if [ -d {FOLDER}/bin ]; then
            if [ ! -e {FOLDER}/ready ]; then
                for _aespec_name in {FOLDER}/bin/*; do
                    type -P "${{_aespec_name##*/}}" > /dev/null || _aespec_gone+=("$_aespec_name")
                done
                : > {FOLDER}/ready
                [ -z "${{_aespec_gone[*]}}" ] || rm -f "${{_aespec_gone[@]}}"
                unset _aespec_name _aespec_gone
            fi
            export PATH="{FOLDER}/bin:$PATH"
        fi
        export PYTHONPATH="{FOLDER}${{PYTHONPATH:+:$PYTHONPATH}}"
        ;;
esac
"""
_BASH_TRACE = f"""\
if [ -w {XTRACE} ]; then
    exec {{BASH_XTRACEFD}}>> {XTRACE}
    PS4='{RECORD}'
    set -x
fi
"""

_HOME = "/root"
OUTSIDE = (
    *(
        "/tests/",
        "/usr/",
        "/lib/",
        "/lib64/",
        "/bin/",
        "/sbin/",
        "/proc/",
        "/sys/",
        "/dev/",
        "/etc/",
        "/run/",
    ),
    *(f"{FOLDER}/", "/logs/", f"{_HOME}/.cache/", f"{_HOME}/.local/", "/var/lib/"),
)
"""Where files are the verifier's own, the image's system, or nobody's: no tamper points."""


@dataclass(frozen=True, slots=True)
class TamperPoint:
    """A file or folder outside `/tests` and the system that the verifier used: how, and first how."""

    path: str
    is_read: bool
    is_written: bool
    is_listed: bool = False


@dataclass(frozen=True, slots=True)
class ShadowPoint:
    """A program that the verifier ran by its bare name: with which words first, and which file that was."""

    name: str
    words: tuple[str, ...] = field(default=(), repr=False)
    path: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """What was seen, in the order of the first time. `problem` says why nothing, or not all, could be seen.

    `programs` are absolute paths outside the system's folders that were run.
    """

    tampers: tuple[TamperPoint, ...] = ()
    shadows: tuple[ShadowPoint, ...] = ()
    programs: tuple[str, ...] = ()
    problem: str = ""
    judgement: Judgement | None = field(default=None, repr=False, compare=False)


def trace_verifier(
    harness: Harness, *, tools: Sequence[str] = (), baseline: Judgement | None = None, base: str = "oracle"
) -> Trace:
    """Run the verifier once on a state under observation. `baseline` is its verdict without, judged if None.

    Where observation changes the verdict it is tried again with Python alone; then there is no trace.
    """
    probe = Probe("the verifier under observation", base)
    known = baseline or harness.judge(probe)
    if known.outcome == "error":
        return Trace(problem=f"there is no verdict to compare with: {known.message}")
    for is_full in (True, False):
        told = harness.judge(probe, _watching(tools, is_full=is_full))
        if _signature(told) == _signature(known):
            problem = "" if is_full else "only Python was watched: watching the shell changed the verdict"
            return replace(read_trace(told), problem=problem)
    return Trace(problem="watching the verifier changed its verdict, so it wasn't traced")


def _signature(judgement: Judgement) -> tuple[object, ...]:
    return judgement.outcome, judgement.reward, judgement.failed


def _watching(tools: Sequence[str], *, is_full: bool) -> Perturbation:
    hook = Path(__file__).with_name("hook.py").read_text(encoding="utf-8") + _CHAIN
    entries = [
        Entry(FOLDER, None, 0o777),
        Entry(LOG, b"", 0o666),
        Entry(f"{FOLDER}/sitecustomize.py", hook.encode()),
        *(Entry(f"{site}/aespec-trace.pth", _PTH.encode()) for site in _SITES),
    ]
    shell = _BASH_HEAD
    if is_full:
        names = sorted({name for name in (*SHIMMED, *tools) if "/" not in name and name not in BUILTINS})
        entries += [Entry(XTRACE, b"", 0o666), Entry(f"{FOLDER}/shim", _SHIM.encode(), 0o755)]
        entries += [Entry(f"{FOLDER}/bin", None, 0o777)]
        entries += [Entry(f"{FOLDER}/bin/{name}", target="../shim") for name in names]
        shell += _BASH_TRACE
    entries.append(Entry(f"{FOLDER}/bash.sh", shell.encode()))
    return Perturbation(
        f"watched{'' if is_full else ' in Python'}",
        env={"BASH_ENV": f"{FOLDER}/bash.sh"},
        entries=tuple(entries),
        keep=(LOG, XTRACE),
    )


def read_trace(judgement: Judgement) -> Trace:
    """The trace that a judgement under observation brought back; what isn't well-formed is passed over."""
    uses: dict[str, list[str]] = {}
    calls: list[tuple[str, str, Command]] = []
    for kind, *words in _records(judgement.files.get(LOG, b"")):
        if kind in ("read", "write", "list") and len(words) == 1:
            uses.setdefault(posixpath.normpath(words[0]), []).append(kind)
        elif kind == "run" and len(words) > 2:
            calls.append((words[0], words[1], Command(tuple(words[2:]))))
        elif kind == "shell" and words:
            calls += [("/", "", command) for command in commands_of(words[0])]
    for line in judgement.files.get(XTRACE, b"").decode("utf-8", "replace").split(RECORD):
        calls += [("/", "", command) for command in commands_of(line.strip())]
    for cwd, _, command in calls:
        for path in _named_files(cwd, command):
            uses.setdefault(path, []).append("read")
    return Trace(
        tuple(_tamper_points(uses)),
        tuple(_shadow_points(calls)),
        tuple(_programs(calls)),
        judgement=judgement,
    )


def _records(log: bytes) -> Iterator[list[str]]:
    for record in log.decode("utf-8", "surrogateescape").split(RECORD):
        if record:
            yield record.split(FIELD)


def _named_files(cwd: str, command: Command) -> Iterator[str]:
    """Words of a command that look like paths: what a tool was given, it most likely read."""
    for word in (*command.words[1:], *command.reads):
        path = word.rpartition("=")[2] if word.startswith("-") else word
        if path.startswith("/") or (
            cwd != "/" and "/" not in path and "." in path.strip(".") and len(path) < 64
        ):
            yield posixpath.normpath(posixpath.join(cwd, path))


def _tamper_points(uses: dict[str, list[str]]) -> Iterator[TamperPoint]:
    for path, kinds in uses.items():
        if path == "/" or f"{path}/".startswith(OUTSIDE) or "/__pycache__/" in path or "/.git/" in path:
            continue
        is_made = kinds[0] == "write"
        yield TamperPoint(path, "read" in kinds and not is_made, "write" in kinds, "list" in kinds)


def _shadow_points(calls: Iterable[tuple[str, str, Command]]) -> Iterator[ShadowPoint]:
    found: dict[str, ShadowPoint] = {}
    for _, path, outer in calls:
        for command in unwrap(outer):
            name = command.words[0]
            if name and "/" not in name and name not in BUILTINS and "$" not in name:
                known = found.get(name)
                if known is None or (path and not known.path):
                    found[name] = ShadowPoint(name, command.words[1:], path)
    yield from found.values()


def _programs(calls: Iterable[tuple[str, str, Command]]) -> Iterator[str]:
    seen: set[str] = set()
    for cwd, _, outer in calls:
        for command in unwrap(outer):
            name = command.words[0]
            path = posixpath.normpath(posixpath.join(cwd, name)) if "/" in name else ""
            if path and path not in seen and not path.startswith(OUTSIDE):
                seen.add(path)
                yield path


def with_trace(facts: TaskFacts, trace: Trace) -> TaskFacts:
    """The facts with what was really run and read before what was only read off the files."""
    run = [point.name for point in trace.shadows]
    read = [point.path for point in trace.tampers if point.is_read and point.path not in facts.outputs]
    imported = [path for path in read if path.endswith(".py")]
    helpers = [path for path in (*trace.programs, *read) if path not in facts.outputs]
    return replace(
        facts,
        tools=rank_tools((*run, *facts.tools)) if run else facts.tools,
        runs=facts.runs | set(run),
        subjects=facts.subjects or tuple(imported[:20]),
        helpers=tuple(dict.fromkeys((*(path for path in helpers if path not in imported), *facts.helpers))),
    )
