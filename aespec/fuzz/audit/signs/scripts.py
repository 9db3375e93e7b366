"""Signs in the test script: verdicts that don't depend on the tests, and tools fetched while grading."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from aespec.fuzz.audit.signs.material import Material, Sign
from aespec.fuzz.cheats.commands import Command, unwrap

_JUDGES = re.compile(
    r"(pytest|py\.test|python[\d.]*|uvx?|npm|npx|node|go|cargo|make|bash|sh|mvn|gradlew?|ctest|ruby|java)$"
)
_HARMLESS = frozenset(
    (
        "echo",
        "printf",
        "cat",
        "cp",
        "mkdir",
        "rm",
        "tee",
        "true",
        ":",
        "sleep",
        "cd",
        "ls",
        "date",
        "mv",
        "touch",
    )
)
_REWARD = re.compile(r"reward\.(txt|json)\b")
_FETCHERS = {
    "curl": re.compile(r"https?://(?!localhost|127\.|0\.0\.0\.0|\$)"),
    "wget": re.compile(r"https?://(?!localhost|127\.|0\.0\.0\.0|\$)"),
    "pip": re.compile(r"\binstall\b"),
    "pip3": re.compile(r"\binstall\b"),
    "uv": re.compile(r"\b(install|add|sync|--with)\b|^(run|tool|venv)\b"),
    "uvx": re.compile(r""),
    "npm": re.compile(r"\b(install|ci|i)\b"),
    "npx": re.compile(r"--yes|-y"),
    "apt-get": re.compile(r"\binstall\b|\bupdate\b"),
    "apt": re.compile(r"\binstall\b|\bupdate\b"),
    "apk": re.compile(r"\badd\b"),
    "git": re.compile(r"\bclone\b"),
    "playwright": re.compile(r"\binstall\b"),
}
_VALUED = re.compile(
    r"--(?:ctrf|junit-?xml|json-report-file|html|log-file|basetemp|ignore|deselect|confcutdir|cov|cov-report"
    r"|tb|timeout|durations|maxfail|rootdir)|-[okmnpcWrL]"
)
"""Options of pytest whose value is the next word."""

_LOCAL = re.compile(r"--no-index|--offline|--no-deps\s+/|\s/[\w./-]+\.whl")


def find_in_script(material: Material) -> Iterator[Sign]:
    """The signs in a task's test script, in Bash's words."""
    commands = material.script
    if not commands:
        return
    writes = _reward_writes(material)
    yield from _verdict(material, writes)
    if writes is not None or _REWARD.search(material.script_text):
        yield from _statuses(commands)
    yield from _found_rewards(material)
    yield from _read_verdicts(material)
    yield from _no_reward(material)
    yield from _folders(material)
    yield from _fetched(material)


def _name(command: Command) -> str:
    return posixpath.basename(command.words[0]) if command.words else ""


def _is_judge(command: Command) -> bool:
    return any(
        _JUDGES.match(_name(inner)) or any(word.startswith("pytest") for word in inner.words)
        for inner in unwrap(command)
    ) and not any(_fetches(inner) and "pytest " not in " ".join(inner.words) for inner in unwrap(command))


def _reward_writes(material: Material) -> list[tuple[int, float, bool]] | None:
    """Each write of a constant reward: the command's number, the value, whether it is guarded.

    None where a reward is written that isn't a plain number, or by another program: then nothing is known.
    """
    names = {"reward.txt", "reward.json"}
    places = set()
    for command in material.script:
        for word in command.words:
            name, sign, set_to = word.partition("=")
            if sign and re.fullmatch(r"\w+", name) and _REWARD.search(set_to):
                places |= {f"${name}", f"${{{name}}}"}
    for path, text in material.tests.items():
        if path != material.task.test_script and _REWARD.search(text):
            return None
    found: list[tuple[int, float, bool]] = []
    for number, command in enumerate(material.script):
        written = [*command.writes, *(command.words[1:] if _name(command) == "tee" else ())]
        is_reward = any(posixpath.basename(path) in names or path in places for path in written)
        if not is_reward:
            if _name(command) not in (
                "rm",
                "cat",
                "ls",
                "chmod",
                "touch",
                "[",
                "test",
                "[[",
                "mkdir",
            ) and any(_REWARD.search(word) for word in command.words[1:] if "=" not in word):
                return None
            continue
        value = _constant(material.script, number)
        if value is None:
            return None
        before = material.script[number - 1] if number else None
        is_guarded = command.level > 0 or (before is not None and before.ended_by in ("&&", "||"))
        found.append((number, value, is_guarded))
    return found


def _constant(commands: Sequence[Command], number: int) -> float | None:
    command = commands[number]
    if _name(command) == "tee" and number and commands[number - 1].ended_by == "|":
        command = commands[number - 1]
    if _name(command) not in ("echo", "printf"):
        return None
    words = [word for word in command.words[1:] if word not in ("-n", "-e")]
    text = "".join(words).replace("\\n", "").strip()
    match = re.fullmatch(r"(?:\{[\"\s]*reward[\"\s]*:)?\s*([\d.]+)\s*\}?", text)
    try:
        return float(match[1]) if match else None
    except ValueError:
        return None


def _ends_at_error(commands: Sequence[Command], text: str, number: int) -> bool:
    """Whether `set -e` holds before the command of that number."""
    is_on = bool(re.match(r"#!.*\s-\w*e", text))
    for command in commands[:number]:
        if _name(command) != "set":
            continue
        for word in command.words[1:]:
            if re.fullmatch(r"-[a-zA-Z]*e[a-zA-Z]*", word) or word == "errexit":
                is_on = True
            elif re.fullmatch(r"\+[a-zA-Z]*e[a-zA-Z]*", word):
                is_on = False
    return is_on


def _verdict(material: Material, writes: list[tuple[int, float, bool]] | None) -> Iterator[Sign]:
    commands, text = material.script, material.script_text
    if not writes or any(_name(command) == "trap" for command in commands):
        return
    number, value, is_guarded = writes[-1]
    stops = _ends_at_error(commands, text, number)
    line = commands[number].line
    has_zero = any(written == 0 for _, written, _ in writes)
    if value > 0 and not is_guarded and not stops:
        yield Sign(
            "unconditional-reward",
            "warning",
            "nop-fails",
            f"test.sh, line {line}: the reward {value:g} is written whatever the tests say",
            0.9,
        )
    elif not has_zero and (is_guarded or stops):
        yield Sign(
            "no-zero",
            "warning",
            "nop-fails",
            "test.sh writes no 0: a solution that fails gets no reward, which Harbor takes for broken",
            0.8,
        )
    elif has_zero:
        yield from _stopped(commands, text, writes[0][0])


def _stopped(commands: Sequence[Command], text: str, first_write: int) -> Iterator[Sign]:
    """A test run that ends the script by `set -e` before any reward is written."""
    for number, command in enumerate(commands[:first_write]):
        before = commands[number - 1] if number else None
        is_plain = command.level == 0 and not command.is_asked and command.ended_by in ("\n", ";")
        if before is not None and before.ended_by in ("&&", "||", "|"):
            continue
        runs_tests = any("pytest" in word for word in command.words)
        after = commands[number + 1] if number + 1 < len(commands) else None
        if is_plain and runs_tests and _is_judge(command) and _ends_at_error(commands, text, number):
            if after is None or not any("$?" in word for word in after.words):
                continue
            yield Sign(
                "no-zero",
                "warning",
                "nop-fails",
                f"test.sh, line {command.line}: by `set -e` the script ends where the tests fail,"
                " before it writes a 0",
                0.8,
            )
            return


def _statuses(commands: Sequence[Command]) -> Iterator[Sign]:
    """Uses of `$?` that ask another command than the tests."""
    has_pipefail = any(_name(c) == "set" and "pipefail" in c.words for c in commands)
    has_statuses = any("PIPESTATUS" in word for c in commands for word in c.words)
    for number, command in enumerate(commands[1:], 1):
        if not any("$?" in word for word in command.words):
            continue
        asked = commands[number - 1]
        if asked.level != command.level or asked.ended_by not in ("\n", ";"):
            continue
        before = commands[number - 2] if number > 1 else None
        if before is not None and before.ended_by == "||" and _is_judge(before):
            if _name(asked) in ("true", ":", "echo"):
                yield _status(command, "after `|| true` the status is 0 whatever the tests say", 0.9)
        elif before is not None and before.ended_by == "|":
            first = number - 2
            while first > 0 and commands[first - 1].ended_by == "|":
                first -= 1
            if not (has_pipefail or has_statuses) and _is_judge(commands[first]):
                yield _status(command, f"`$?` is the status of `{_name(asked)}`, not of the tests", 0.9)
        elif (
            _name(asked) in _HARMLESS
            and before is not None
            and _is_judge(before)
            and before.ended_by in ("\n", ";")
            and not any("$?" in word for word in asked.words)
        ):
            yield _status(command, f"`$?` is the status of `{_name(asked)}`, not of the tests", 0.9)


def _status(command: Command, what: str, rank: float) -> Sign:
    return Sign("status-ignored", "warning", "nop-fails", f"test.sh, line {command.line}: {what}", rank)


def _found_rewards(material: Material) -> Iterator[Sign]:
    """A reward file that was there before is minded or written on to."""
    for command in material.script:
        asks = _name(command) in ("[", "[[", "test") and any(_REWARD.search(w) for w in command.words)
        appends = any(_REWARD.search(path) for path in command.appends)
        was_written = any(
            _REWARD.search(" ".join((*earlier.writes, *earlier.words)))
            for earlier in material.script
            if earlier.line < command.line
        )
        if (asks and not was_written) or appends:
            yield Sign(
                "reward-taken-as-found",
                "warning",
                "unforgeable",
                f"test.sh, line {command.line}: a reward file that was there before counts",
                0.6,
            )
            return


def _read_verdicts(material: Material) -> Iterator[Sign]:
    """A verdict taken from words in what the tests, and with them the solver's program, have printed."""
    for command in material.script:
        if not command.is_asked or _name(command) not in ("grep", "egrep", "rg", "["):
            continue
        said = " ".join(command.words[1:])
        if re.search(r"\b(?:passed|failed|PASS(?:ED)?|FAIL(?:ED)?|SUCCESS|ALL TESTS|OK)\b", said):
            yield Sign(
                "verdict-from-output",
                "advice",
                "unforgeable",
                f"test.sh, line {command.line}: the verdict is read off printed words ({said[:60]}), which"
                " the solver's program can print as well",
                0.4,
            )
            return


def _no_reward(material: Material) -> Iterator[Sign]:
    """No file of the tests names a reward file."""
    texts = [material.script_text, *material.tests.values()]
    if material.task.has_own_tests or any(_REWARD.search(t) or "rewardkit" in t for t in texts):
        return
    wrong = re.search(r"/logs/verifier/reward\b\S*", material.script_text)
    yield Sign(
        "no-reward-file",
        "warning",
        "builds",
        "nothing in tests/ names a reward.txt or reward.json, and Harbor reads no other file"
        + (f"; test.sh names {wrong[0]}" if wrong else ""),
        0.8,
    )


def _folders(material: Material) -> Iterator[Sign]:
    """Tests that are run where the solver may have left a configuration or modules."""
    if material.task.mode != "shared":
        return
    place = ""
    for outer in material.script:
        if _name(outer) == "cd" and len(outer.words) > 1:
            place = outer.words[1]
        for command in unwrap(outer):
            words = command.words
            at = next((n for n, word in enumerate(words) if re.fullmatch(r"pytest|py\.test", word)), None)
            if at is None:
                continue
            rest = words[at + 1 :]
            is_shut = {"-c", "--rootdir", "--noconftest", "-p"} & {word.partition("=")[0] for word in rest}
            paths = [
                word
                for number, word in enumerate(rest)
                if not word.startswith("-") and ("/" in word or word.endswith(".py") or word == ".")
                if not (number and _VALUED.fullmatch(rest[number - 1]))
            ]
            inside = [path for path in paths if not path.startswith(("/tests", "$TEST_DIR", "${TEST_DIR"))]
            if inside and not is_shut and not place.startswith("/tests") and not _is_vague(inside):
                yield Sign(
                    "tests-in-solvers-folder",
                    "advice",
                    "unforgeable",
                    f"test.sh, line {outer.line}: pytest runs {inside[0]!r} among the solver's files, so a"
                    " conftest.py or pytest.ini that the solver left there is obeyed",
                    0.4,
                )
                return


def _is_vague(paths: Sequence[str]) -> bool:
    return any(path.startswith("$") or "$(" in path for path in paths)


def _fetches(command: Command) -> bool:
    pattern = _FETCHERS.get(_name(command))
    text = " ".join(command.words[1:])
    if re.fullmatch(r"python[\d.]*", _name(command)) and command.words[1:3] == ("-m", "pip"):
        pattern, text = _FETCHERS["pip"], " ".join(command.words[3:])
    return pattern is not None and bool(pattern.search(text)) and not _LOCAL.search(text)


def _fetched(material: Material) -> Iterator[Sign]:
    found: dict[str, int] = {}
    for outer in material.script:
        for command in unwrap(outer):
            if _fetches(command):
                found.setdefault(_name(command), outer.line)
    if not found or material.task.has_own_tests:
        return
    what = ", ".join(f"{name} (line {line})" for name, line in found.items())
    if material.task.network.get("verifier", True):
        yield Sign(
            "fetched-at-grading",
            "advice",
            "stable",
            f"test.sh fetches what it judges with while it judges: {what}; where the network fails,"
            " a right solution gets no verdict or a 0",
            0.3,
        )
    else:
        yield Sign(
            "fetched-at-grading",
            "warning",
            "builds",
            f"test.sh needs the network ({what}), and the verifier is given none",
            0.8,
        )
