"""The solver's programs: judged by what they do, ended whatever they do, without a trace."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from aespec import predicates
from aespec.model.chooser import SeededChooser
from aespec.runtime.disk import DiskState
from aespec.runtime.memory import MemoryState
from aespec.runtime.runner import Runner
from aespec.runtime.state import Trouble
from tests.runtime.places import SYSTEM_PYTHON, Verifier, account, check, document

IS_ROOT = os.geteuid() == 0
needs_root = pytest.mark.needs("root")  # without it, nothing keeps programs from what is the invoker's
HELLO = '#!/bin/sh\necho hello\necho "$1" > made.txt\ncat\n'


@pytest.fixture
def verifier(open_path):
    made = Verifier(open_path, ("command", "function", "file", "unchanged"))
    made.put("/app/run.sh", HELLO, 0o755)
    return made


def judge(verifier, *claims, **more):
    checks = [check(f"c{number}", claim) for number, claim in enumerate(claims)]
    return verifier.run(document(*checks, **more), python=SYSTEM_PYTHON)


def command(argv=("./run.sh", "x"), **args):
    return "command", {"argv": list(argv), "cwd": "/app", "timeout": 10.0, **args}


def script(verifier, text, name="/app/run.sh"):
    verifier.put(name, f"#!/bin/sh\n{text}\n", 0o755)


def python(verifier, text, name="/app/run.py"):
    verifier.put(name, text)


def test_command(verifier):
    good = {"stdin": "in\n", "stdout": "hello\nin", "creates": {"/app/made.txt": "x"}}
    judged = judge(
        verifier,
        command(**good),
        command(**{**good, "stdin": "other"}),
        command(**{**good, "status": 1}),
        command(**{**good, "creates": {"/app/made.txt": "y"}}),
        command(**{**good, "creates": {"/app/none.txt": ""}}),
        command(**{**good, "stdout": "hello"}),
        command(stdout_lines=["hello"], order="any"),
        command(stdout_matches="hel+o"),
        command(stdout_matches="hell"),
        command(stdin='{"a": 1.0}', argv=["/bin/cat"], stdout_json={"a": 1}, writes=[]),
        command(stdin='{"a": 1.0}', argv=["/bin/cat"], stdout_json={"a": 2}, writes=[]),
        command(argv=["./none.sh"]),
        ("file", {"path": "/app/made.txt", "kind": "absent"}),
    )
    expected = [
        "pass",
        "fail",
        "fail",
        "fail",
        "fail",
        "fail",
        "pass",
        "pass",
        "fail",
        "pass",
        "fail",
        "fail",
        "pass",
    ]
    assert list(judged.verdicts.values()) == expected, judged.reasons
    assert judged.details["facts"]["runs_as"] == (account() if IS_ROOT else "the invoker")


def test_an_image_without_its_tool_is_an_error(verifier):
    judged = judge(verifier, command(argv=["/usr/bin/no-such-tool"]), command(argv=["no-such-tool"]))
    assert set(judged.verdicts.values()) == {"error"}
    assert judged.reward is None


def test_a_state_in_memory_runs_nothing():
    with pytest.raises(Trouble):
        predicates.find("command").holds(MemoryState.of({}), {"argv": ["/bin/true"]})


def test_unfit_programs_fail(verifier):
    verifier.put("/app/plain", "#!/bin/sh\n")
    verifier.put("/app/odd", "#!/no/such/interpreter\n", 0o755)
    verifier.put("/app/bin", b"\x7fELF\0\0", 0o755)
    claims = [command(argv=[f"./{name}"]) for name in ("plain", "odd", "bin")]
    claims.append(command(argv=["/bin/true"], cwd="/app/nowhere"))
    assert set(judge(verifier, *claims).verdicts.values()) == {"fail"}


LOOP = "while True: pass"
WRITE = "import os\nwhile True: os.write(1, b'x' * 65536)"
EAT = "x = []\nwhile True: x.append(bytearray(50_000_000))"
BOMB = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
ORPHANS = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
print('done')
"""
HOLDS_PIPE = "import os, time\nif os.fork() == 0:\n    time.sleep(600)\nprint('done')"
DEAF = """
import signal, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
time.sleep(600)
"""


@needs_root
@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (LOOP, "fail"),
        (WRITE, "fail"),
        (EAT, "fail"),
        (BOMB, "fail"),
        (DEAF, "fail"),
        (ORPHANS, "pass"),
        (HOLDS_PIPE, "pass"),
    ],
    ids=["loop", "write", "eat", "bomb", "deaf", "orphans", "holds-pipe"],
)
def test_a_hostile_program_is_ended_with_all_it_started(verifier, text, verdict):
    python(verifier, text)
    started = time.monotonic()
    args = {"argv": [SYSTEM_PYTHON, "run.py"], "cwd": "/app", "timeout": 2.0, "stdout": "done"}
    runner = {"user": account(), "timeout_s": 2.0, "memory_bytes": 2**28, "processes": 32}
    judged = judge(verifier, ("command", args), runner=runner)
    assert judged.verdicts == {"c0": verdict}, judged.reasons
    assert time.monotonic() - started < 20
    found = subprocess.run(["ps", "-eo", "uid="], capture_output=True, text=True, check=True).stdout.split()
    assert account() not in found


TAMPER = """
import os, sys
for path in ("/app/kept.txt", "/app/sub/kept.txt", "/tmp/left-%(uid)s", "/dev/shm/left-%(uid)s"):
    path = path if path.startswith(("/tmp", "/dev")) else "%(root)s" + path
    try:
        open(path, "w").write("tampered")
    except OSError as error:
        print("refused", error)
for path in ("%(tests)s/checks.json", "%(logs)s/reward.json", "/etc/aespec-test"):
    for mode in ("r", "w"):
        try:
            open(path, mode)
            print("opened", path, mode)
        except OSError:
            pass
os.makedirs("new/deep")
os.symlink("/etc/passwd", "link")
os.chmod("sub", 0)
fds = sorted(os.listdir("/proc/self/fd"))
print(os.getuid() == %(uid)s, os.getgroups(), fds, os.environ.get("SECRET"))
"""


@needs_root
def test_a_program_leaves_no_trace(verifier):
    verifier.put("/app/kept.txt", "kept")
    verifier.put("/app/sub/kept.txt", "kept")
    os.utime(verifier.root / "app/kept.txt", (5, 5))
    names = {"uid": account(), "root": verifier.root, "tests": verifier.tests, "logs": verifier.logs}
    python(verifier, TAMPER % names)
    before = snapshot(verifier.root)
    argv = [SYSTEM_PYTHON, "run.py"]
    collected = {"/app/kept.txt": "tampered", "/app/sub/kept.txt": "tampered"}
    judged = judge(
        verifier,
        (
            "command",
            {"argv": argv, "cwd": "/app", "stdout": "True [] ['0', '1', '2', '3'] None", "creates": {}},
        ),
        (
            "command",
            {"argv": argv, "cwd": "/app", "stdout_matches": "True.*", "creates": {"/app/link": "root"}},
        ),
        ("file", {"path": "/app/kept.txt", "content": "kept"}),
        ("file", {"path": "/app/new", "kind": "absent"}),
    )
    assert list(judged.verdicts.values()) == ["pass", "fail", "pass", "pass"], judged.reasons
    assert snapshot(verifier.root) == before
    assert not Path(f"/tmp/left-{account()}").exists()
    assert not Path(f"/dev/shm/left-{account()}").exists()
    assert collected


def snapshot(top):
    found = {}
    for folder, names, files in os.walk(top):
        for name in [*names, *files]:
            path = Path(folder) / name
            status = path.lstat()
            data = path.read_bytes() if path.is_file() else None
            found[path] = (status.st_mode, status.st_uid, status.st_mtime_ns, data)
    return found


@needs_root
def test_a_program_without_a_folder_to_write_can_not_change_the_state(verifier):
    verifier.put("/app/kept.txt", "kept")
    script(verifier, "echo x > kept.txt")
    judged = judge(verifier, command(writes=[]), command(writes=["/app"]))
    assert judged.verdicts == {"c0": "fail", "c1": "pass"}


@needs_root
def test_no_new_privileges(verifier):
    script(verifier, "grep NoNewPrivs /proc/self/status")
    assert judge(verifier, command(stdout_matches="NoNewPrivs:\\s+1")).reward == 1.0


def test_same_output_in_every_run(verifier):
    script(verifier, "tr a-z A-Z < src.txt > out.txt; umask > /dev/null", "/app/good.sh")
    script(verifier, "date +%s > out.txt", "/app/clock.sh")
    script(verifier, "pwd > out.txt", "/app/place.sh")
    script(verifier, "date +%d > out.txt", "/app/day.sh")
    script(verifier, "stat -c %Y src.txt > out.txt", "/app/mtime.sh")
    script(verifier, "touch f; stat -c %a f > out.txt", "/app/umask.sh")
    script(verifier, "true", "/app/nothing.sh")
    verifier.put("/app/src.txt", "abc")
    base = {"cwd": "/app", "timeout": 10.0, "same": ["/app/out.txt"]}
    zones = [{"env": {"TZ": "XXX-14"}}, {"env": {"TZ": "XXX+12"}}]
    place = [{"copy_to": "/elsewhere/of/another/length"}]
    claims = [
        ("good.sh", {"variations": [*place, {"umask": "077", "mtime": 1000}, *zones]}),
        ("good.sh", {}),
        ("clock.sh", {}),
        ("place.sh", {"variations": place}),
        ("day.sh", {"variations": zones}),
        ("mtime.sh", {"variations": [{"mtime": 1000}]}),
        ("umask.sh", {"variations": [{"umask": "077"}]}),
        ("nothing.sh", {}),
    ]
    judged = judge(verifier, *[("command", {**base, "argv": [f"./{name}"], **args}) for name, args in claims])
    verdicts = list(judged.verdicts.values())
    assert verdicts == ["pass", "pass", *["fail"] * 6], judged.reasons
    assert not (verifier.root / "elsewhere").exists()


RETRY = """
import time
def retry(call, times=3, wait=1):
    for left in reversed(range(times)):
        try:
            return call()
        except ValueError:
            if not left:
                raise
            time.sleep(wait)
def swap(items):
    items[0], items[1] = items[1], items[0]
    return (items[0], {items[1]}, b"x", {1: 2.5})
def fail(kind):
    raise {"key": KeyError, "exit": SystemExit}[kind](kind)
class Tool:
    @staticmethod
    def double(n): return 2 * n
print("noise on import")
"""
DRIVER = """
slept, calls = [], []
subject.time.sleep = slept.append
def flaky():
    calls.append(1)
    if len(calls) < given:
        raise ValueError("again")
    return "ok"
emit(subject.retry(flaky, times=3, wait=2))
emit(slept)
"""


def function(name, **args):
    return "function", {"path": "/app/lib.py", "name": name, "timeout": 10.0, **args}


def test_function(verifier):
    verifier.put("/app/lib.py", RETRY)
    (verifier.tests / "hidden/driver.py").write_text(DRIVER)
    (verifier.tests / "hidden/cases.json").write_text('[{"args": [2], "returns": 4.0}]')
    swapped = {"args": [[1, 2]], "returns": [2, {"$set": [1]}, {"$bytes": "eA=="}, {"$map": [[1, 2.5]]}]}
    judged = judge(
        verifier,
        function("swap", cases=[swapped]),
        function("swap", cases=[{**swapped, "after": [[2, 1]]}], isolate=True),
        function("swap", cases=[{**swapped, "after": [[1, 2]]}]),
        function("Tool.double", cases_file="cases.json"),
        function("Tool.double", cases=[{"args": [2], "returns": "4"}]),
        function("Tool.double", cases=[{"args": [2], "returns": 5}], tolerance=1),
        function(
            "fail",
            cases=[{"args": ["key"], "raises": "LookupError"}, {"args": ["exit"], "raises": "SystemExit"}],
        ),
        function("fail", cases=[{"args": ["key"], "raises": "ValueError"}]),
        function("fail", cases=[{"args": ["key"], "returns": None}]),
        function("nothing", cases=[{"args": [], "returns": None}]),
        function("retry", driver="driver.py", given=3, emits=["ok", [2, 2]]),
        function("retry", driver="driver.py", given=4, emits=["ok", [2, 2]]),
        function("retry", driver="driver.py", given=1, emits=["ok", [2, 2]]),
        function("swap", cases=[swapped], python="/app/no-python"),
    )
    expected = [
        "pass",
        "pass",
        "fail",
        "pass",
        "fail",
        "pass",
        "pass",
        *["fail"] * 3,
        "pass",
        "fail",
        "fail",
        "fail",
    ]
    assert list(judged.verdicts.values()) == expected, judged.reasons


@pytest.mark.needs("userns")
def test_a_namespace_with_one_account_runs_programs_as_it(verifier):
    """The embedded sandbox's lower tier; the details say so, and the claim is judged all the same."""
    (verifier.tests / "checks.json").write_text(
        json.dumps(document(check("c", command(argv=["/bin/id", "-u"], stdout="0"))))
    )
    places = ["--root", verifier.root, "--tests", verifier.tests, "--logs", verifier.logs]
    main = [SYSTEM_PYTHON, "-I", "-S", "-B", verifier.tests / "lib/main.py", *places]
    subprocess.run(["unshare", "--user", "--map-root-user", *main], check=True, capture_output=True)
    details = json.loads((verifier.logs / "reward-details.json").read_text())
    assert details["reward"] == 1.0
    assert details["facts"]["runs_as"] == "the invoker"


def test_a_function_of_a_package(verifier):
    verifier.put("/app/src/tool/__init__.py", "")
    verifier.put("/app/src/tool/base.py", "N = 2\n")
    verifier.put(
        "/app/src/tool/json.py", "from .base import N\nfrom tool import base\ndef f(x): return x * N\n"
    )
    args = {"path": "/app/src/tool/json.py", "name": "f", "cases": [{"args": [2], "returns": 4}]}
    verifier.put("/app/json.py", "def f(x): return x * 2\n")
    judged = judge(
        verifier, ("function", {**args, "root": "/app/src"}), ("function", {**args, "path": "/app/json.py"})
    )
    assert judged.reward == 1.0, judged.reasons


HOSTILE = {
    "exits at import": "import os; os._exit(0)",
    "exits": "import sys; sys.exit(0)",
    "always equal": "class E(int):\n  def __eq__(s, o): return True\ndef f(n): return E(7)",
    "object": "class E:\n  def __eq__(s, o): return True\ndef f(n): return E()",
    "prints": "import os\nprint('{\"results\": [{\"returned\": 1}]}')\ndef f(n): os.write(1, b'{}')",
    "patches json": "import json\njson.dumps = lambda *a, **k: ''\ndef f(n): return 0",
    "atexit": "import atexit\natexit.register(lambda: print('x'))\ndef f(n): return 0",
    "deep": "def f(n):\n  x = []\n  for _ in range(10**5): x = [x]\n  return x",
    "endless": "def f(n):\n  x = []; x.append(x); return x",
    "huge": "def f(n): return 'x' * 10**8",
    "huge number": "def f(n): return 10**10000",
    "nan": "def f(n): return float('nan')",
    "sleeps": "import time\ndef f(n): time.sleep(600)",
    "kills": "import os, signal\ndef f(n): os.kill(0, signal.SIGKILL)",
    "syntax": "def f(n: return 1",
    "binary": "\0\0",
    "true": "def f(n): return True",
    "frames": (
        "import sys\ndef f(n):\n  frame = sys._getframe()\n  while frame:\n"
        "    for value in frame.f_locals.values():\n"
        "      if isinstance(value, dict) and 'returns' in value: return value['returns']\n"
        "    frame = frame.f_back"
    ),
    "reads the tests": (
        "import json, os\ndef f(n):\n  for folder in ('/tests', %r):\n    try:\n"
        "      text = open(folder + '/checks.json').read()\n"
        "      return json.loads(text)['checks'][0]['when']['all'][0]['args']['cases'][0]['returns']\n"
        "    except OSError: pass"
    ),
}


@needs_root
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_functions_fail(verifier, name):
    text = HOSTILE[name]
    verifier.put("/app/lib.py", text % str(verifier.tests) if "%r" in text else text)
    runner = {"user": account(), "timeout_s": 3.0, "memory_bytes": 2**30, "processes": 32}
    judged = judge(verifier, function("f", cases=[{"args": [1], "returns": 1}]), runner=runner)
    assert judged.verdicts == {"c0": "fail"}, judged.reasons
    judged.reasons["c0"].encode()


LAWS = [
    command(argv=["./run.sh", "x"], stdin="in", stdout="hello\nin", creates={"/app/made.txt": "x"}),
    function("double", cases=[{"args": [2], "returns": 4}, {"args": ["x"], "returns": "xx"}]),
    function("check", cases=[{"args": [2], "raises": "ValueError"}, {"args": [0], "returns": None}]),
]
LIBRARY = "def double(n):\n    return n + n\ndef check(n):\n    if n:\n        raise ValueError(n)\n"


@pytest.mark.parametrize("claim", LAWS, ids=["command", "returns", "raises"])
def test_laws(verifier, claim):
    """On disk, where programs run: each violation fails, each variant holds."""
    name, args = claim
    verifier.put("/app/lib.py", LIBRARY)
    user = account()
    runner = Runner(user, timeout_s=20.0, memory_bytes=2**31, processes=64)
    predicate = predicates.find(name)
    args = {**args, "python": SYSTEM_PYTHON} if name == "function" else args
    state = DiskState(str(verifier.root), runner=runner)
    assert predicate.holds(state, args).is_held
    files = {f"/app/{path.name}": path for path in (verifier.root / "app").iterdir()}
    kept = {path: (place.read_bytes(), place.stat().st_mode) for path, place in files.items()}
    count = 0
    for edits, is_held in [
        *((edits, False) for edits in predicate.laws.violations(args, state, SeededChooser(1))),
        *((edits, True) for edits in predicate.laws.variants(args, state, SeededChooser(1))),
    ]:
        for edit in edits:
            if edit.operation == "delete":
                files[edit.path].unlink()
            else:
                files[edit.path].write_text(edit.value["text"])
        changed = DiskState(str(verifier.root), runner=runner)
        verdict = predicate.holds(changed, args)
        assert verdict.is_held is is_held, (edits, verdict.reason)
        count += 1
        for path, (data, mode) in kept.items():
            files[path].write_bytes(data)
            files[path].chmod(mode)
    assert count >= 3


def test_words():
    for name, args in LAWS:
        laws = predicates.laws(name)
        assert laws.says(args).endswith(".")
        assert laws.promises(args)
        assert laws.reads(args)
        assert laws.literals(args)
        assert laws.needs(args) == ("bytes", "program")
        assert laws.faults(args) == ()
    assert predicates.laws("command").reads({"argv": ["make", "all"], "cwd": "/app"}) == ("/app",)
    assert predicates.laws("command").reads({"argv": ["python3", "/app/a.py", "--x"]}) == ("/app/a.py",)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("command", {"argv": ["/a"], "same": ["/b"], "repeat": 1}),
        ("command", {"argv": ["/a"], "variations": [{"x": 1}]}),
        ("command", {"argv": ["/a"], "same": ["/b"], "variations": [{"copy_to": "/c"}]}),
        ("command", {"argv": []}),
        ("command", {"argv": ["/a"], "variations": [{"env": {}}]}),
        ("function", {"path": "/a.py", "name": "f", "cases": []}),
        ("function", {"path": "/a.py", "name": "f", "cases": [{"args": [1]}]}),
        ("function", {"path": "/a.py", "name": "f", "cases": [{"returns": 1, "raises": "E"}]}),
        ("function", {"path": "/a.py", "name": "f", "driver": "d.py"}),
        ("function", {"path": "/a.py", "name": "f", "cases": [{"returns": 1}], "emits": 1}),
        ("json", {"path": "/a", "equals": 1, "free": [""]}),
        ("json", {"path": "/a", "type": "object", "unordered": ["/a"]}),
        ("json", {"path": "/a#b", "equals": 1}),
        ("json", {"path": "/a", "equals": 1, "unordered": ["a"]}),
        ("table", {"path": "/a", "equals": []}),
        ("table", {"path": "/a", "equals": [[1]]}),
        ("table", {"path": "/a", "equals": [{"a": 1}, {"a": "x"}]}),
        ("table", {"path": "/a", "equals": [{"a": 1}], "columns": ["b"]}),
        ("table", {"path": "/a", "columns": ["a"], "delimiter": ";;"}),
        ("table", {"path": "/a", "equals": [{"a": "x"}], "types": {"a": "date"}}),
        ("text", {"path": "/a", "lacks_line": ["x"]}),
        ("text", {"path": "/a", "lines": ["a\nb"]}),
        ("text", {"path": "/a", "matches": "("}),
        ("file", {"path": "/a", "kind": "folder", "content": ""}),
        ("file", {"path": "/a", "mode": "rwx"}),
        ("file", {"path": "/a", "min_size": 2, "max_size": 1}),
        ("unchanged", {"path": "/app", "except": ["*"]}),
        ("unchanged", {"path": "/app", "except": ["/app"]}),
    ],
)
def test_arguments_that_claim_nothing_or_nonsense_are_faults(name, args):
    assert predicates.laws(name).faults(args)
