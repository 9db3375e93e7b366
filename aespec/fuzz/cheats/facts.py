"""What cheats need to know of a task: read off its files and what its oracle left, nothing is run here."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from aespec.bundle.foreign import ForeignTask
from aespec.fuzz.cheats.commands import BUILTINS, Command, commands_of, unwrap
from aespec.fuzz.cheats.python_source import PythonFacts, read_python
from aespec.operators.kinds import kind_of, language_of, text_of
from aespec.trial.probe import Changes

PYTHONS = ("/usr/bin/python3", "/usr/local/bin/python3")
REWARDS = ("/logs/verifier/reward.txt", "/logs/verifier/reward.json")
STARTUPS = ("~/.bashrc", "~/.profile", "/etc/profile.d/zz-site.sh")
"""Files that a login shell or an interactive one reads at its start."""

_DECIDING = """
diff cmp grep egrep jq pytest python3 python curl sha256sum md5sum sqlite3 psql node npm npx go cargo make uvx
uv awk wc git wget nc
"""
DECIDING = tuple(_DECIDING.split())
"""Tools that verdicts are usually taken from; these are tried first."""

_LOADED = """
abc argparse array ast atexit base64 bdb binascii bisect builtins bz2 calendar cmd code codecs codeop
collections contextlib copy copyreg csv dataclasses datetime decimal difflib dis email encodings enum
errno faulthandler fcntl fnmatch functools gc genericpath gettext glob heapq importlib inspect io
ipaddress itertools json keyword linecache locale logging lzma marshal math ntpath numbers opcode operator
os pathlib pdb platform posix posixpath pprint pyexpat quopri random re reprlib runpy select selectors
shlex shutil signal site socket stat string struct subprocess sys tempfile textwrap threading time token
tokenize traceback types typing unicodedata unittest urllib uuid warnings weakref xml zipfile zipimport
zlib
"""
LOADED = frozenset(_LOADED.split())
"""What pytest 7 on Python 3.11 has imported before the first test file: no planted module takes its place."""

NEVER = frozenset(("bash", "env"))
"""Harbor itself starts the verifier by `env bash`: who can shadow these beats every verifier."""

_REPORT = re.compile(
    r"report|result|ctrf|junit|\blog\b|\.log$|output|score|summary|status|verdict|reward", re.IGNORECASE
)
_BARE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*\Z")
_INTERPRETERS = re.compile(r"(?:python[\d.]*|bash|sh|dash|node|perl|ruby|source|\.)\Z")
_TEST_WORDS = frozenset(("]", "]]", "=", "==", "!=", "!", "&&", "||", "=~"))
_LITERAL_LIMIT = 200
_DATA_LIMIT_BYTES = 4096


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """One task, as far as cheats go; paths are absolute and in the container, most promising first.

    `runs` names tools that the verifier runs, and `pytest` and `python` also where they are run by another
    (`python3 -m pytest`, `uvx`). `tests` are all files that go to `/tests`; `modules` are imported by them,
    `literals` compared with; `tools` are run by bare name. `outputs` are what the oracle wrote, `subjects`
    those in Python, `programs` other programs among them. `helpers` are files outside `/tests` that the
    verifier runs or reads by their path. `startups` are shell files that test scripts source, `reports` files
    that they write and read, `rewards` those that hold the verdict, `folders` where Python looks for modules.
    """

    mode: str = "shared"
    is_agent_root: bool = True
    workdir: str = "/app"
    runs: frozenset[str] = frozenset()
    tests: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    literals: tuple[str, ...] = field(default=(), repr=False)
    outputs: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()
    startups: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    rewards: tuple[str, ...] = REWARDS
    folders: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = PYTHONS


@dataclass(slots=True)
class _Found:
    """What is collected over all files of the tests, each thing once and in order."""

    tools: dict[str, None] = field(default_factory=dict)
    runs: set[str] = field(default_factory=set)
    helpers: dict[str, None] = field(default_factory=dict)
    startups: dict[str, None] = field(default_factory=dict)
    reports: dict[str, None] = field(default_factory=dict)
    rewards: dict[str, None] = field(default_factory=dict)
    folders: dict[str, None] = field(default_factory=dict)
    literals: dict[str, None] = field(default_factory=dict)
    modules: dict[str, None] = field(default_factory=dict)
    interpreters: dict[str, None] = field(default_factory=dict)


def read_facts(task: ForeignTask, tests: Mapping[str, bytes], changes: Changes | None = None) -> TaskFacts:
    """The facts of a task; `tests` are the files that go to `/tests`, by absolute path.

    Without `changes` (there is no oracle, or it can't be run) there are no outputs.
    """
    found = _Found()
    script = f"/tests/{task.test_script}"
    for path in sorted(tests, key=lambda path: (path != script, path)):
        _look_at_test(path, tests[path], found, is_script=path == script)
    outputs, subjects, programs = _sort_outputs(changes, found.modules)
    workdir = task.environment.workdir or _last(task, "WORKDIR") or "/"
    user = task.agent_user or task.environment.user or _last(task, "USER")
    own = {posixpath.splitext(posixpath.basename(path))[0] for path in (*tests, *subjects)}
    return TaskFacts(
        mode=task.mode,
        is_agent_root=user.partition(":")[0] in ("", "root", "0"),
        workdir=workdir,
        runs=frozenset(found.runs | set(found.tools)),
        tests=tuple(sorted(tests, key=lambda path: (path != script, path))),
        modules=_shadowable(
            [name for name in found.modules if name.partition(".")[0] not in own], found.runs
        ),
        tools=rank_tools(found.tools),
        literals=tuple(found.literals),
        outputs=outputs,
        subjects=subjects,
        programs=programs,
        helpers=tuple(path for path in found.helpers if path not in outputs),
        startups=tuple(found.startups),
        reports=tuple(found.reports),
        rewards=tuple(dict.fromkeys((*found.rewards, *REWARDS))),
        folders=tuple(dict.fromkeys((*found.folders, workdir))),
        interpreters=tuple(dict.fromkeys((*found.interpreters, *PYTHONS))),
    )


def rank_tools(tools: Iterable[str]) -> tuple[str, ...]:
    """Bare names of tools, those first that verdicts are taken from; what can't be shadowed fairly is out."""
    order = {name: index for index, name in enumerate(DECIDING)}
    return tuple(
        sorted(dict.fromkeys(tool for tool in tools if tool not in NEVER), key=lambda x: order.get(x, 99))
    )


def _shadowable(modules: Sequence[str], runs: Collection[str]) -> tuple[str, ...]:
    """The modules that a planted one could stand for; under pytest hardly one that it has imported itself."""
    fresh = [name for name in modules if name.partition(".")[0] not in LOADED]
    rest = [name for name in modules if name not in fresh]
    return (*fresh, *(rest[: not fresh] if "pytest" in runs else rest))


def _last(task: ForeignTask, instruction: str) -> str:
    """The last value of a Dockerfile's instruction that is plain; "" where there is none."""
    text = task.environment.dockerfile or ""
    values = re.findall(rf"^\s*{instruction}\s+(\S+)\s*$", text, re.IGNORECASE | re.MULTILINE)
    return values[-1].strip("\"'") if values and "$" not in values[-1] else ""


def _look_at_test(path: str, data: bytes, found: _Found, *, is_script: bool) -> None:
    text = text_of(data)
    if text is None:
        return
    language = language_of(path, data)
    if language == "python":
        _look_at_python(read_python(data), found)
    elif language == "shell" or is_script:
        for command in commands_of(text):
            _look_at_command(command, found)
    elif not language and 0 < len(data) <= _DATA_LIMIT_BYTES:
        _add_literal(text.rstrip("\n"), found)


def _add_literal(text: str, found: _Found) -> None:
    if text.strip() and "\0" not in text and len(text) <= _DATA_LIMIT_BYTES:
        found.literals[text] = None


def _look_at_python(facts: PythonFacts, found: _Found) -> None:
    found.runs.add("python")
    if "pytest" in facts.modules:
        found.runs.add("pytest")
    found.modules.update(dict.fromkeys(name for name in facts.modules if name != "pytest"))
    for literal in facts.literals:
        if len(literal) <= _LITERAL_LIMIT:
            _add_literal(literal, found)
    for words in facts.commands:
        _look_at_command(Command(words), found)
    for script in facts.scripts:
        for command in commands_of(script):
            _look_at_command(command, found)
    for path in facts.paths:
        if language_of(path, b"") in ("python", "shell"):
            _note_path(path, found)


def _look_at_command(outer: Command, found: _Found) -> None:
    for word in outer.words:
        if word.startswith("PYTHONPATH=") or (outer.words[0] == "export" and "PYTHONPATH=" in word):
            folders = word.partition("=")[2].split(":")
            found.folders.update(dict.fromkeys(item for item in folders if item.startswith("/")))
    for command in unwrap(outer):
        name = command.words[0]
        if name == "cd" and len(command.words) > 1 and command.words[1].startswith("/"):
            found.folders[command.words[1]] = None
        if "/" in name:
            _note_path(name, found)
            name = posixpath.basename(name)
            if name.startswith("python") and command.words[0].startswith("/"):
                found.interpreters[command.words[0]] = None
        elif _BARE.match(name) and name not in BUILTINS:
            found.tools[name] = None
        if name in ("bash", "sh", "su") and any(re.match(r"-[a-z]*[li]", word) for word in command.words[1:]):
            found.startups.update(dict.fromkeys(STARTUPS))
        found.runs.add("python" if re.fullmatch(r"python[\d.]*", name) else name)
        if any(re.fullmatch(r"pytest(==.*|\[.*)?|py\.test", word) for word in command.words):
            found.runs |= {"pytest", "python"}
        if name in ("source", ".") and len(command.words) > 1:
            found.startups[_home(command.words[1])] = None
        elif _INTERPRETERS.match(name):
            for word in command.words[1:]:
                _note_path(word, found)
    _look_at_words(outer, found)


def _look_at_words(command: Command, found: _Found) -> None:
    """Reports, rewards and literals among a command's words and redirections."""
    is_test = bool(command.words) and command.words[0] in ("[", "[[", "test")
    for word in (*command.words[1:], *command.reads, *command.writes):
        path = word.rpartition("=")[2]
        if path.startswith("/") and _BARE.match(posixpath.basename(path)):
            if re.search("reward|score|verdict", posixpath.basename(path), re.IGNORECASE):
                found.rewards[path] = None
            elif _REPORT.search(path) and not path.startswith("/tests/"):
                found.reports[path] = None
        elif is_test and "$" not in word and not word.startswith("-") and word not in _TEST_WORDS:
            _add_literal(word, found)


def _note_path(path: str, found: _Found) -> None:
    """A file outside `/tests` and the system's folders that the verifier names."""
    outside = ("/tests/", "/usr/", "/bin/", "/sbin/", "/lib", "/proc/", "/dev/", "/sys/", "/logs/", "/etc/")
    is_outside = path.startswith("/") and not path.startswith(outside)
    if is_outside and "." in posixpath.basename(path) and not re.search(r"[*?$ {]", path):
        found.helpers[path] = None


def _home(path: str) -> str:
    return re.sub(r"^(?:\$HOME|\$\{HOME\}|/root)(?=/)", "~", path)


def _sort_outputs(
    changes: Changes | None, modules: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The paths that the oracle wrote: all, programs in Python (imported ones first), other programs."""
    outputs, subjects, programs = [], [], []
    imported = {name.rpartition(".")[2] for name in modules}
    for path, node in sorted((changes.after if changes else {}).items()):
        if node is None or node.kind != "file" or "/.git/" in path or "/__pycache__/" in path or "\n" in path:
            continue
        outputs.append(path)
        if kind_of(path, node.data) == "code" or node.mode & 0o111:
            language = language_of(path, node.data)
            if language == "python":
                subjects.append(path)
            elif language == "shell" or node.mode & 0o111:
                programs.append(path)
    stem = {path: posixpath.splitext(posixpath.basename(path))[0] for path in subjects}
    subjects.sort(key=lambda path: (stem[path] not in imported, path))
    return tuple(outputs), tuple(subjects), tuple(programs)
