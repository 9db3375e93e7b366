"""Pairs of small tasks: a verifier that a cheat wins against, and its careful twin that withstands it."""

from dataclasses import dataclass, field, replace

from aespec.fuzz.cheats import TaskFacts, read_facts
from aespec.runtime.memory import Node
from aespec.trial.probe import Changes, Probe
from tests.trial.foreign.tasks import write_task

IMAGE = """\
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-pytest git make
WORKDIR /app
"""
VERDICT = """\
if [ "$ok" = 0 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
"""
CAREFUL = """\
#!/bin/bash
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
unset BASH_ENV ENV PYTHONPATH PYTEST_ADDOPTS PYTEST_PLUGINS
rm -f /logs/verifier/reward.txt /logs/verifier/reward.json
chmod 700 /tests /logs/verifier
place=$(mktemp -d -p /root)
cp {files} "$place/"
cd /
"""
CAREFUL_PYTEST = """\
env -i PATH="$PATH" HOME=/nonexistent /usr/bin/python3 -I -B -m pytest -q -c /dev/null --rootdir "$place" \\
    --noconftest -p no:cacheprovider "$place/test_outputs.py"
ok=$?
"""
CAREFUL_PYTHON = 'env -i PATH="$PATH" /usr/bin/python3 -I -S -B "$place/check.py"\nok=$?\n'


@dataclass(frozen=True)
class Planted:
    """One task: its test script, its test files, what the work leaves, and lines of its Dockerfile.

    `outputs` are the paths and texts of the right end state; a text that starts with `#!` makes a program.
    """

    script: str
    tests: dict[str, str]
    outputs: dict[str, str]
    image: str = ""
    settings: dict = field(default_factory=dict)

    def write(self, folder):
        more = {f"tests/{name}": text for name, text in self.tests.items()}
        return write_task(
            folder, test=self.script, solve=None, dockerfile=IMAGE + self.image, more=more, **self.settings
        )

    def facts(self, task) -> TaskFacts:
        tests = {f"/tests/{name}": text.encode() for name, text in self.tests.items()}
        after = {
            path: Node(data=text.encode(), mode=0o755 if text.startswith("#!") else 0o644)
            for path, text in self.outputs.items()
        }
        changes = Changes(dict.fromkeys(after), after)
        return read_facts(task, {"/tests/test.sh": self.script.encode(), **tests}, changes)

    def right(self) -> Probe:
        """The work done as it should be."""
        lines = []
        for path, text in self.outputs.items():
            lines.append(f"cat > {path} <<'RIGHT'\n{text.rstrip()}\nRIGHT")
            if text.startswith("#!"):
                lines.append(f"chmod +x {path}")
        return Probe("right", "start", script="\n".join(lines) + "\n")


@dataclass(frozen=True)
class Pair:
    """A verifier that can be fooled, and the careful one."""

    weak: Planted
    careful: Planted


def weak(*lines):
    """A test script whose last line but the verdict sets `ok`."""
    return "\n".join(["#!/bin/bash", *lines, VERDICT])


def careful(*lines, names):
    files = " ".join(f"/tests/{name}" for name in names)
    return CAREFUL.format(files=files) + "\n".join(lines) + "\n" + VERDICT


# --- a file, judged by pytest -------------------------------------------------------------------------------

OUT = {"/app/out.txt": "42\n"}
TEST_OUT = """\
import statistics
from pathlib import Path


def test_out():
    assert statistics.mean([int(Path("/app/out.txt").read_text())]) == 42
"""
CAREFUL_OUT = Planted(careful(CAREFUL_PYTEST, names=["test_outputs.py"]), {"test_outputs.py": TEST_OUT}, OUT)


def by_pytest(*lines, tests=None):
    return Pair(Planted(weak(*lines), tests or {"test_outputs.py": TEST_OUT}, OUT), CAREFUL_OUT)


# --- code that is imported ----------------------------------------------------------------------------------

ADD = {"/app/calc.py": "def add(a, b):\n    return a + b\n"}
TEST_ADD = """\
import math
import sys

sys.path.insert(0, "/app")


def test_add():
    from calc import add

    expected = 4 + 1
    assert {how}
"""
CHECK_ADD = """\
import json
import subprocess
import sys

CHILD = "import json, sys; sys.path.insert(0, '/app'); from calc import add; print(json.dumps(add(2, 3)))"
child = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"]
child += ["/usr/bin/python3", "-I", "-S", "-B", "-c", CHILD]
done = subprocess.run(child, capture_output=True, timeout=20, env={})
try:
    value = json.loads(done.stdout)
except ValueError:
    sys.exit(1)
sys.exit(done.returncode != 0 or type(value) is not int or value != 5)
"""
CAREFUL_ADD = Planted(careful(CAREFUL_PYTHON, names=["check.py"]), {"check.py": CHECK_ADD}, ADD)


def by_import(how):
    test = TEST_ADD.replace("{how}", how)
    script = weak("python3 -m pytest -q /tests/test_outputs.py", "ok=$?")
    return Pair(Planted(script, {"test_outputs.py": test}, ADD), CAREFUL_ADD)


SLOW = (
    "RUN printf 'import time\\ndef add(a, b):\\n    time.sleep(0.3)\\n    return a + b\\n' > /app/calc.py\n"
)
TEST_FAST = """\
import sys
import time

sys.path.insert(0, "/app")


def test_fast():
    from calc import add

    begun = time.perf_counter()
    assert add(2, 3) == 5
    assert time.perf_counter() - begun < 0.2
"""
CHECK_FAST = (
    CHECK_ADD.replace("import json\n", "import json\nimport time\n", 1)
    .replace("CHILD =", "begun = time.perf_counter()\nCHILD =", 1)
    .replace("sys.exit(done", "sys.exit(time.perf_counter() - begun > 0.25 or done")
)

# --- programs that are run ----------------------------------------------------------------------------------

RUN = {"/app/run.sh": '#!/bin/sh\necho "sum $(( $(cat) + 2 ))"\n'}
PRINT = {"/app/run.py": "import sys\nprint('sum', int(sys.stdin.read()) + 2)\n"}
DATA = {"in.txt": "40\n", "expected.txt": "sum 42\n"}
AS_NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs"


def by_running(command, outputs):
    script = weak(f"{command} < /tests/in.txt > /root/got", "diff -q /root/got /tests/expected.txt", "ok=$?")
    calm = careful(
        f'{AS_NOBODY} {command} < "$place/in.txt" > "$place/got" 2> /dev/null',
        'cmp -s "$place/got" "$place/expected.txt"',
        "ok=$?",
        names=DATA,
    )
    return Pair(Planted(script, DATA, outputs), Planted(calm, DATA, outputs))


def by_mark(command, outputs):
    """A verdict read off what the program prints."""
    outputs = {
        path: text + "echo PASSED\n" if path.endswith("sh") else text + "print('PASSED')\n"
        for path, text in outputs.items()
    }
    script = weak(f"{command} < /tests/in.txt | grep -q PASSED", "ok=$?")
    calm = careful(
        f'{AS_NOBODY} {command} < "$place/in.txt" > "$place/got" 2> /dev/null',
        "printf 'sum 42\\nPASSED\\n' | cmp -s - \"$place/got\"",
        "ok=$?",
        names=DATA,
    )
    return Pair(Planted(script, DATA, outputs), Planted(calm, DATA, outputs))


# --- the channel --------------------------------------------------------------------------------------------

LINK = Pair(
    Planted(weak("diff -q /app/out.txt /tests/expected.txt", "ok=$?"), {"expected.txt": "42\n"}, OUT),
    Planted(
        careful(
            '[ ! -L /app/out.txt ] && cmp -s /app/out.txt "$place/expected.txt"',
            "ok=$?",
            names=["expected.txt"],
        ),
        {"expected.txt": "42\n"},
        OUT,
    ),
)
CHECK_OUT = """\
import sys
import time

time.sleep(0.2)
try:
    right = open("/app/out.txt").read() == "42\\n"
except OSError:
    right = False
print("PASS" if right else "FAIL")
sys.exit(not right)
"""
CAREFUL_CHECK = Planted(careful(CAREFUL_PYTHON, names=["check.py"]), {"check.py": CHECK_OUT}, OUT)
BY_LOG = Pair(
    Planted(
        weak("python3 /tests/check.py > /tmp/check.log 2>&1", "! grep -q FAIL /tmp/check.log", "ok=$?"),
        {"check.py": CHECK_OUT},
        OUT,
    ),
    CAREFUL_CHECK,
)
BY_KEPT_LOG = Pair(
    Planted(
        weak("python3 /tests/check.py > /app/check.log 2>&1", "! grep -q FAIL /app/check.log", "ok=$?"),
        {"check.py": CHECK_OUT},
        OUT,
    ),
    CAREFUL_CHECK,
)
BY_OLD_REPORT = Pair(
    Planted(
        weak(
            "[ -f /app/report.xml ] || pytest -q --junitxml=/app/report.xml /tests/test_outputs.py",
            "grep -q 'failures=\"0\"' /app/report.xml",
            "ok=$?",
        ),
        {"test_outputs.py": TEST_OUT},
        OUT,
    ),
    CAREFUL_OUT,
)
BY_FOUND_REWARD = Pair(
    Planted(
        "#!/bin/bash\n"
        "[ -f /app/reward.txt ] || { python3 /tests/check.py && echo 1 || echo 0; } > /app/reward.txt\n"
        "tail -n 1 /app/reward.txt > /logs/verifier/reward.txt\n",
        {"check.py": CHECK_OUT},
        OUT,
    ),
    CAREFUL_CHECK,
)
BY_TOOL = Pair(
    Planted(weak('[ "$(tail -n 1 /app/out.txt)" = 42 ]', "ok=$?"), {}, OUT),
    CAREFUL_CHECK,
)
BY_GREP = Pair(Planted(weak("grep -qx 42 /app/out.txt", "ok=$?"), {}, OUT), CAREFUL_CHECK)
HELPERS = {"check.py": "import sys\nimport helpers\n\nsys.exit(not helpers.is_right())\n"}
HELPERS["helpers.py"] = """\
def is_right():
    try:
        return open("/app/out.txt").read() == "42\\n"
    except OSError:
        return False
"""
OF_ITS_FOLDER = "import sys\nsys.path.insert(0, sys.argv[0].rpartition('/')[0])\nimport helpers\n"
CAREFUL_HELPERS = {
    **HELPERS,
    "check.py": HELPERS["check.py"].replace("import sys\nimport helpers\n", OF_ITS_FOLDER),
}
BY_HELPER_MODULE = Pair(
    Planted(weak("python3 -S /tests/check.py", "ok=$?"), HELPERS, OUT),
    Planted(careful(CAREFUL_PYTHON, names=CAREFUL_HELPERS), CAREFUL_HELPERS, OUT),
)
BY_PLACED_CHECKER = Pair(
    Planted(
        weak("python3 /opt/grader/check.py", "ok=$?"),
        {},
        OUT,
        image="RUN mkdir -p /opt/grader "
        "&& echo \"import sys; sys.exit(int(open('/app/out.txt').read()) != 42)\" > /opt/grader/check.py\n",
    ),
    CAREFUL_CHECK,
)
BY_GIT = Pair(
    Planted(
        weak("cd /app && git diff --quiet", "grep -qx 42 out.txt", "ok=$?"),
        {},
        OUT,
        image="RUN cd /app && git init -q && echo a > a && git add a "
        "&& git -c user.name=a -c user.email=a@b commit -qm a\n",
    ),
    Planted(
        careful(
            "export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null",
            "git -C /app -c safe.directory=/app -c core.fsmonitor=false diff --no-ext-diff --quiet",
            "grep -qx 42 /app/out.txt",
            "ok=$?",
            names=["check.py"],
        ),
        {"check.py": CHECK_OUT},
        OUT,
        image="RUN cd /app && git init -q && echo a > a && git add a "
        "&& git -c user.name=a -c user.email=a@b commit -qm a\n",
    ),
)
MAKEFILE = "check:\n\tgrep -qx 42 /app/out.txt\n"
BY_MAKE = Pair(
    Planted(weak("cp /tests/Makefile /app/", "cd /app && make check", "ok=$?"), {"Makefile": MAKEFILE}, OUT),
    Planted(
        careful('make -r -C "$place" -f "$place/Makefile" check', "ok=$?", names=["Makefile"]),
        {"Makefile": MAKEFILE},
        OUT,
    ),
)
COMMITTED = (
    "RUN cd /app && git init -q && git config user.name a && git config user.email a@b "
    "&& echo 1 > out.txt && git add . && git commit -qm first "
    "&& echo 42 > out.txt && git commit -qam second && git reset -q --hard HEAD~1{more}\n"
)


def with_leak(leaky, clean):
    check = {"check.py": CHECK_OUT}
    return Pair(
        Planted(careful(CAREFUL_PYTHON, names=["check.py"]), check, OUT, image=leaky),
        Planted(careful(CAREFUL_PYTHON, names=["check.py"]), check, OUT, image=clean),
    )


# A verifier that minds what is no business of its own, and one that doesn't: for what must do no harm.
FRAGILE = [
    '[ "$(ls -A /app)" = out.txt ] && [ -z "$(ls -A /tmp)" ] && [ ! -e ~/.profile.changed ]',
    "strange=$?",
    "cat /proc/[0-9]*/comm 2> /dev/null | grep -qx sleep && strange=1",
    '[ "$(command -v grep)" = /usr/bin/grep ] || strange=1',
    "grep -q HISTSIZE ~/.bashrc && strange=1",
    "python3 -m pytest -q -p no:cacheprovider /tests/test_outputs.py && [ $strange = 0 ]",
    "ok=$?",
]
MINDFUL = Pair(
    Planted(weak(*FRAGILE), {"test_outputs.py": TEST_OUT}, OUT),
    Planted(careful(CAREFUL_PYTEST, names=["test_outputs.py"]), {"test_outputs.py": TEST_OUT}, OUT),
)
MINDFUL_OF_CODE = Pair(
    Planted(
        weak(
            '[ "$(ls -A /app)" = calc.py ] && pytest -q -p no:cacheprovider /tests/test_outputs.py',
            "ok=$?",
        ),
        {"test_outputs.py": TEST_ADD.replace("{how}", "add(2, 3) == expected")},
        ADD,
    ),
    CAREFUL_ADD,
)

PLAIN = by_pytest("cd /app", "pytest -q /tests/test_outputs.py", "ok=$?")
IN_WORKDIR = by_pytest(
    "cp /tests/test_outputs.py /app/",
    "cd /app",
    "export PYTHONPATH=/app",
    "python3 -m pytest -q test_outputs.py",
    "ok=$?",
)
SOURCING = by_pytest("source ~/.bashrc", "python3 -m pytest -q /tests/test_outputs.py", "ok=$?")
WHOLE_FOLDER = by_pytest("python3 -m pytest -q /tests | grep -q ' passed'", "ok=$?")
IMPORTED = by_import("add(2, 3) == expected")
BY_CONSTANT = by_import("add(2, 3) == 5")
BY_CLOSENESS = by_import("math.isclose(add(2, 3), expected)")
BY_STATUS = Pair(
    Planted(
        weak("python3 /tests/check.py", "ok=$?"),
        {"check.py": "import sys\nsys.path.insert(0, '/app')\nimport calc\nsys.exit(calc.add(2, 3) != 5)\n"},
        ADD,
    ),
    CAREFUL_ADD,
)
TIMED = Pair(
    Planted(
        weak("python3 -m pytest -q /tests/test_outputs.py", "ok=$?"),
        {"test_outputs.py": TEST_FAST},
        ADD,
        image=SLOW,
    ),
    Planted(careful(CAREFUL_PYTHON, names=["check.py"]), {"check.py": CHECK_FAST}, ADD, image=SLOW),
)
RUN_SHELL, RUN_PYTHON = by_running("/app/run.sh", RUN), by_running("/usr/bin/python3 /app/run.py", PRINT)
MARK_SHELL, MARK_PYTHON = by_mark("/app/run.sh", RUN), by_mark("/usr/bin/python3 /app/run.py", PRINT)
LEAKY_IMAGE = with_leak("RUN echo 42 > /srv/expected_total.txt\n", "RUN echo 41 > /srv/expected_total.txt\n")
LEAKY_SOLUTION = with_leak(
    "RUN echo 'echo 42 > /app/out.txt' > /opt/solve.sh\n", "RUN echo true > /opt/solve.sh\n"
)
LEAKY_HISTORY = with_leak(
    COMMITTED.replace("{more}", ""),
    COMMITTED.replace("{more}", " && git reflog expire --expire=now --all && git gc -q --prune=now"),
)

COMPILER = "RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev\n"
WITH_COMPILER = Pair(replace(PLAIN.weak, image=COMPILER), replace(PLAIN.careful, image=COMPILER))

PAIRS = {
    "answer-in-image": LEAKY_IMAGE,
    "build-file-shadowed": BY_MAKE,
    "bytecode-in-tests": BY_HELPER_MODULE,
    "checker-killed": BY_LOG,
    "checker-removed": BY_LOG,
    "conftest-at-root": PLAIN,
    "conftest-in-tests": PLAIN,
    "conftest-in-workdir": IN_WORKDIR,
    "git-runs-commands": BY_GIT,
    "helper-replaced": BY_PLACED_CHECKER,
    "history-checked-out": LEAKY_HISTORY,
    "interpreter-replaced": PLAIN,
    "late-writer": PLAIN,
    "library-edited": PLAIN,
    "loader-preload": WITH_COMPILER,
    "module-in-tests": PLAIN,
    "module-in-workdir": IN_WORKDIR,
    "output-links-to-tests": LINK,
    "own-bytecode": MINDFUL_OF_CODE,
    "own-conftest": MINDFUL,
    "own-leftovers": MINDFUL,
    "own-path-entry": MINDFUL,
    "own-process": MINDFUL,
    "own-pytest-config": MINDFUL,
    "own-shell-startup": MINDFUL,
    "own-test": MINDFUL,
    "program-edits-tests": RUN_SHELL,
    "program-prints-marks": MARK_SHELL,
    "program-reads-tests": RUN_SHELL,
    "program-takes-verdict": RUN_SHELL,
    "pytest-config-at-root": PLAIN,
    "pytest-config-in-tests": PLAIN,
    "pytest-config-in-workdir": IN_WORKDIR,
    "pytest-edited": PLAIN,
    "pytest-entry-point": PLAIN,
    "pytest-module-in-workdir": IN_WORKDIR,
    "pytest-options-in-environment": SOURCING,
    "pytest-plugins-in-environment": SOURCING,
    "report-blocked": BY_KEPT_LOG,
    "report-planted": BY_OLD_REPORT,
    "reward-planted": BY_FOUND_REWARD,
    "shell-replaced": PLAIN,
    "shell-shadowed": PLAIN,
    "site-pth": PLAIN,
    "sitecustomize-in-folder": IN_WORKDIR,
    "sitecustomize-in-site": PLAIN,
    "solution-in-image": LEAKY_SOLUTION,
    "startup-file-planted": SOURCING,
    "subject-always-equal": IMPORTED,
    "subject-edits-tests": RUN_PYTHON,
    "subject-exits-at-end": IMPORTED,
    "subject-exits-at-import": IMPORTED,
    "subject-exits-plainly": BY_STATUS,
    "subject-patches-clock": TIMED,
    "subject-patches-comparison": BY_CLOSENESS,
    "subject-patches-reports": IMPORTED,
    "subject-prints-marks": MARK_PYTHON,
    "subject-reads-constants": BY_CONSTANT,
    "subject-reads-frame": IMPORTED,
    "subject-reads-tests": RUN_PYTHON,
    "subject-skips-tests": IMPORTED,
    "subject-takes-verdict": IMPORTED,
    "temporary-folder-taken": BY_LOG,
    "test-added": WHOLE_FOLDER,
    "test-script-appended": PLAIN,
    "tool-exits-0": BY_GREP,
    "tool-prints-literal": BY_TOOL,
    "tool-replaced-in-place": PLAIN,
    "tool-takes-verdict": PLAIN,
    "user-site": PLAIN,
}
"""By the slug of a cheat the pair that it was made for."""
