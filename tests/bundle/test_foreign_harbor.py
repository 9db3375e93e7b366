"""What is read of a task of others is what Harbor itself reads of it, whatever stands in its `task.toml`."""

import itertools
import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aespec.bundle.foreign import read_foreign
from aespec.bundle.foreign.ignoring import Rules
from aespec.bundle.foreign.schema import TASK, Items, Table
from tests import components
from tests.bundle.foreign_making import HARBOR, harbor_task, make_task

pytestmark = pytest.mark.needs("harbor")


@pytest.fixture(scope="module")
def ask_harbor():
    """What Harbor makes of a folder; one process answers them all."""
    python = components.harbor().parent / "python"
    script = Path(__file__).with_name("harbor_reader.py")
    with subprocess.Popen(
        [python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def ask(folder):
            process.stdin.write(json.dumps(str(folder)) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()


def compare(folder, theirs):
    """Fails where Harbor's reading and ours differ in what both say."""
    task, faults = read_foreign(folder)
    fatal = {fault.slug for fault in faults if fault.is_fatal}
    if "refused" in theirs:
        assert fatal, theirs["refused"]
        return
    beyond_us = {"multi-step": theirs["steps"], "windows-task": theirs["windows"]}
    assert fatal == {slug for slug, is_so in beyond_us.items() if is_so}, (theirs, faults)
    if task is None:
        return
    ours = {
        "name": task.name,
        "schema": task.schema,
        "instruction": task.instruction,
        "mode": task.mode,
        "own_tests": task.has_own_tests,
        "workdir": task.environment.workdir,
        "agent_user": task.agent_user,
        "verifier_user": task.verifier_user,
        "collect": list(task.collect),
    }
    assert ours == {name: theirs[name] for name in ours}
    assert task.network == {name: mode != "no-network" for name, mode in theirs["network"].items()}
    for name in ("agent_timeout_s", "verifier_timeout_s"):
        if theirs[name] is not None and 0 < theirs[name] < 86_400:
            assert getattr(task, name) == theirs[name]
    for ours_b, theirs_mb in ((task.memory_bytes, "memory_mb"), (task.disk_bytes, "disk_mb")):
        if (theirs[theirs_mb] or 0) > 0:
            assert ours_b == theirs[theirs_mb] * 1024**2
    if (theirs["cpu"] or 0) > 0:
        assert task.cpu == theirs["cpu"]
    for ours_env, theirs_env in ((task.verifier_env, "verifier_env"), (task.solution_env, "solution_env")):
        plain = {key: value for key, value in theirs[theirs_env].items() if not value.startswith("${")}
        assert plain.items() <= dict(ours_env).items()
    assert len(task.artifacts) == len(theirs["artifacts"])
    for mine, (source, exclude) in zip(task.artifacts, theirs["artifacts"], strict=True):
        assert (
            mine.path.strip("/").endswith(source.strip("/").removeprefix("./").strip("/")) or "//" in source
        )
        assert list(mine.exclude) == exclude


LAYOUTS = [
    {},
    {"task.toml": '[verifier]\nenvironment_mode = "separate"\n'},
    {"task.toml": '[verifier]\nenvironment_mode = "separate"\n', "tests/Dockerfile": "FROM a\n"},
    {
        "task.toml": '[verifier]\nenvironment_mode = "separate"\n',
        "tests/docker-compose.yaml": "",
        "tests/Dockerfile": "FROM a\n",
    },
    {"task.toml": '[verifier.environment]\ndocker_image = "a"\n', "tests/test.sh": None},
    {"task.toml": '[verifier.environment]\nworkdir = "/"\n', "tests/test.sh": None},
    {"task.toml": '[environment]\ndocker_image = "a"\n', "environment/Dockerfile": None},
    {"task.toml": '[[steps]]\nname = "a"\n', "steps/a/instruction.md": "x"},
    {"tests/test.sh": None},
    {"tests/test.sh": None, "tests/test.bat": ""},
    {"instruction.md": None},
    {"instruction.md": "<!-- canary -->\n\n# canary x\n\n\nDo.\n"},
    {"environment/Dockerfile": None},
    {"environment/Dockerfile": None, "environment/numbers.txt": None},
    {"tests/.harborignore": "*.sh\n"},
    {"tests/.harborignore": "*.sh\n!test.sh\n"},
    {"solution/solve.sh": None},
    {"task.toml": 'version = "1.0"\nschema_version = "1.2"\n'},
    {"task.toml": "version = 1.0\n"},
]


@pytest.mark.parametrize("changes", LAYOUTS, ids=range(len(LAYOUTS)))
def test_layouts(tmp_path, ask_harbor, changes):
    folder = harbor_task(tmp_path / "sum", changes)
    compare(folder, ask_harbor(folder))


@pytest.mark.parametrize(
    "links",
    [
        {"tests/l": "test.sh"},
        {"tests/l": "/etc/passwd"},
        {"tests/l": "../environment"},
        {"tests/l": ".."},
        {"tests/l": "missing"},
        {"tests/l": "l"},
        {"tests/a/x": "../b", "tests/b/y": "../a"},
        {"solution/l": "../../.."},
        {"environment/l": "/usr"},
    ],
)
def test_links(tmp_path, ask_harbor, links):
    folder = harbor_task(tmp_path / "sum")
    for name, target in links.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(target)
    compare(folder, ask_harbor(folder))


def places(table=TASK, before=()):
    """Every key that may stand in a task.toml, as a path; lists of tables have one item."""
    for name, kind in table.keys.items():
        if name == "headers":
            continue  # Harbor refuses credentials written out there; here no header is ever sent.
        yield (*before, name)
        if isinstance(kind, Table):
            yield from places(kind, (*before, name))
        elif isinstance(kind, Items) and name != "steps":
            yield from places(kind.item, (*before, name, 0))


# Words that are right somewhere, and wrong almost everywhere else.
WORDS = """
/app 600 1.0 2.5 nan inf 2G 512m x1G true no linux WINDOWS public no-network allowlist shared separate
example.com *.a.b 10.0.0.0/8 1.2.3.4 http://a a:80 ::1 a a/b a/../b manifest.json ./ . main db 2x4 stdio http
mean 1.4 Root ${A:-b} a..b/c -1 1e3 0
"""
TEXTS = st.sampled_from(["", " 5 ", *WORDS.split()])
SCALARS = st.one_of(
    TEXTS, st.integers(-2, 4096), st.booleans(), st.sampled_from([0.0, 1.0, 1.5, -1.0, 1e300])
)
VALUES = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=3),
    st.dictionaries(st.sampled_from(["a", "name", "source", "command"]), SCALARS, max_size=2),
    st.sampled_from([float("inf"), float("nan"), [{}], [[]]]),
)
PLACES = sorted(set(places()), key=str)


def put(data, path, value):
    """Set a value in a tree of tables and lists; what stands in the way stays."""
    for name, after in itertools.pairwise(path):
        fresh = [] if after == 0 else {}
        if isinstance(data, dict):
            data = data.setdefault(name, fresh)
        elif isinstance(data, list):
            if not data:
                data.append(fresh)
            data = data[0]
        else:
            return
    if isinstance(data, dict):
        data[path[-1]] = value
    elif isinstance(data, list) and not data:
        data.append(value)


def toml(value):
    """A value as TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {toml(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return str(value) if isinstance(value, float) else json.dumps(value)


@given(edits=st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=1, max_size=4))
def test_any_settings(tmp_path_factory, ask_harbor, edits):
    data = {}
    for path, value in edits:
        put(data, path, value)
    text = "".join(f"{json.dumps(name)} = {toml(value)}\n" for name, value in data.items())
    folder = make_task(tmp_path_factory.mktemp("task") / "sum", {**HARBOR, "task.toml": text})
    compare(folder, ask_harbor(folder))


PATTERNS = st.lists(
    st.text(alphabet="ab*/?![]\\ #.-", min_size=1, max_size=8).filter(lambda text: "\n" not in text),
    max_size=4,
)
PATHS = st.lists(st.sampled_from(["a", "b", "ab", "ba", "a.b", "aab", "a b", "#a"]), min_size=1, max_size=3)


@pytest.fixture(scope="module")
def ask_git():
    """What the library that Harbor uses for `.harborignore` says of a path."""
    python = components.harbor().parent / "python"
    program = """
import json, sys
from pathspec import GitIgnoreSpec
for line in sys.stdin:
    patterns, path = json.loads(line)
    try:
        print(json.dumps(GitIgnoreSpec.from_lines(patterns).check_file(path).include), flush=True)
    except Exception as error:
        print(json.dumps("error"), flush=True)
"""
    with subprocess.Popen(
        [python, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def ask(patterns, path):
            process.stdin.write(json.dumps([patterns, path]) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()


@given(patterns=PATTERNS, parts=PATHS, is_folder=st.booleans())
def test_what_is_left_out_is_what_harbor_leaves_out(ask_git, patterns, parts, is_folder):
    """Harbor asks for each folder on the way down in turn, and so does the reader."""
    path = "/".join(parts)
    # A folder above that is left out decides before its content is asked for.
    above = ["/".join(parts[:n]) + "/" for n in range(1, len(parts))]
    theirs = [ask_git(patterns, name) for name in [*above, path + ("/" if is_folder else "")]]
    if "error" in theirs or True in theirs[:-1]:
        return
    assert bool(Rules("\n".join(patterns)).decide(path, is_folder=is_folder)) == bool(theirs[-1]), theirs
