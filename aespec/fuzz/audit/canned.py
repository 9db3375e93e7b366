"""Programs that are tried only on what the solver has before it: one that knows just those answers passes.

A stand-in writes down what the verifier asks a program and what it answers. Any verifier can be answered so
afterwards; it is a fault where everything asked stands in the instruction or lies in the solver's folders, as
then nothing but the answers is needed (class 17).
"""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aespec.fuzz.audit.inquiry import Inquiry
from aespec.fuzz.audit.outputs import is_told
from aespec.fuzz.audit.prober import Request
from aespec.model.edit_forms import put
from aespec.model.expressions import Json
from aespec.operators.api import Output, Scene
from aespec.operators.kinds import language_of, text_of
from aespec.sandbox.api import SandboxError
from aespec.trial.judging import Perturbation
from aespec.trial.probe import Probe

PROGRAMS_TRIED = 3
CALLS_LIMIT = 200
SOURCE_LIMIT = 64 * 1024
FILES_LIMIT = 400
SHOWN = 5

LOG = "/tmp/.aespec-asked"
_NO_LITERAL = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
_STAND_INS = {
    name: Path(__file__).with_name(f"stand_in.{ending}")
    for name, ending in (("python", "py"), ("shell", "sh"))
}
_SYSTEM = ("", "bin", "etc", "home", "lib", "lib64", "opt", "proc", "root", "sbin", "tmp", "usr", "var")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: a `run` with words and standard input, or a `call`; `files` are what lay there."""

    kind: str
    asked: tuple[Json, ...]
    answer: tuple[Json, ...]
    cwd: str
    files: Mapping[str, str]
    env: Mapping[str, str]

    @property
    def key(self) -> str:
        """As the stand-in looks it up."""
        return repr(list(self.asked))


def try_visible_cases(inquiry: Inquiry, _seed: int) -> None:
    """Look at each program of the outputs; a finding where it can be answered from what can be seen."""
    scene = inquiry.scene
    if scene is None or inquiry.services is not None:
        return
    for output in [item for item in scene.outputs if _is_watchable(item, scene)][:PROGRAMS_TRIED]:
        asked = _record(inquiry, output)
        if not asked or not is_one_valued(asked) or not _can_be_known(asked, output):
            continue
        top = _top(output.path)
        try:
            there = inquiry.prober.harness.read(top, base="oracle")
        except SandboxError:
            continue
        digests = {path: hashlib.sha256(node.data).hexdigest() for path, node in there.items()}
        texts = [text for node in there.values() if (text := text_of(node.data)) is not None]
        if all(is_visible(item, output, scene, digests, texts) for item in asked):
            _try_answers(inquiry, output, asked)


def _is_watchable(output: Output, scene: Scene) -> bool:
    if output.kind != "code" or output.after is None or not is_told(output, scene):
        return False
    return (
        language_of(output.path, output.after.data) in _STAND_INS and len(output.after.data) <= SOURCE_LIMIT
    )


def _record(inquiry: Inquiry, output: Output) -> list[Asked]:
    """What the verifier asks the program; nothing where it doesn't pass with a stand-in in between."""
    assert output.after is not None
    told: dict[str, Json] = {
        "source": output.after.data.decode("utf-8", "replace"),
        "log": LOG,
        "top": _top(output.path),
        "limit": FILES_LIMIT,
    }
    probe = _standing_in(output, f"{output.path} watched", told)
    judgement = inquiry.prober.observe(Request(probe, shift=Perturbation("watched", keep=(LOG,))))
    if judgement is None or not judgement.is_passed:
        return []
    return list(read_log(judgement.files.get(LOG, b"")))


def _standing_in(output: Output, name: str, told: Mapping[str, Json]) -> Probe:
    assert output.after is not None
    data = output.after.data
    language = language_of(output.path, data)
    text = _STAND_INS[language].read_text(encoding="utf-8")
    if language == "shell":
        first, text = "#!/bin/sh", f"{_shell_words(told)}{text}"
    else:
        first, last = "#!/usr/bin/env python3", text.rindex("if __name__ ==")
        text = f"{text[:last]}TOLD.update({dict(told)!r})\n{text[last:]}"
    if data.startswith(b"#!"):
        first = data.partition(b"\n")[0].decode("utf-8", "replace")
    return Probe(name, "oracle", (put(output.path, f"{first}\n{text}", output.after.mode),))


def _shell_words(told: Mapping[str, Json]) -> str:
    """What a shell's stand-in is told: see `stand_in.sh`."""
    if "answers" not in told:
        values = {**told, "source": _base64(str(told["source"]))}
        return "".join(f"aespec_{name}={shlex.quote(str(value))}\n" for name, value in values.items())
    lines = ["aespec_log=", "aespec_answer() {", 'case "$1" in']
    answers = told["answers"]
    for key, answer in answers.items() if isinstance(answers, dict) else ():
        out, err, status = answer if isinstance(answer, list) else ("", "", 1)
        words, stdin = ast.literal_eval(key)
        asked = "".join(f"={_base64(word)}," for word in words)
        lines += [
            f"{shlex.quote(f'{asked} {_base64(stdin)}')})",
            f"printf %s {_base64(str(out))} | base64 -d",
            f"printf %s {_base64(str(err))} | base64 -d >&2",
            f"exit {status};;",
        ]
    return "\n".join([*lines, "esac", "}", ""])


def _base64(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "surrogateescape")).decode("ascii")


def _from_base64(text: str) -> str:
    return base64.b64decode(text.removesuffix(".")).decode("utf-8", "surrogateescape")


def _read_shell_row(line: str) -> Asked:
    """A row that `stand_in.sh` wrote; raises ValueError where it is none."""
    _, told, stdin, out, err, status, cwd, files, env = line.split(" ")
    words = [_from_base64(word.removeprefix("=")) for word in told.removesuffix(".").split(",")[:-1]]
    digests = [row.partition("  ") for row in _from_base64(files).splitlines()]
    pairs = [row.partition("=") for row in _from_base64(env).splitlines()]
    return Asked(
        "run",
        (list[Json](words), _from_base64(stdin)),
        (_from_base64(out), _from_base64(err), int(status)),
        _from_base64(cwd).removesuffix("\n"),
        {path: digest for digest, _, path in digests},
        {name: value for name, _, value in pairs},
    )


def read_log(data: bytes) -> Iterator[Asked]:
    """The questions of a log that the task's programs could write to: what is odd ends it."""
    for line in data.decode("utf-8", "replace").splitlines()[: CALLS_LIMIT + 1]:
        try:
            if line.startswith("sh "):
                yield _read_shell_row(line)
                continue
            row = json.loads(line)
            yield Asked(
                row["kind"],
                _checked(row["kind"], row["asked"], _QUESTIONS),
                _checked(row["kind"], row["answer"], _ANSWERS),
                str(row["cwd"]),
                {str(path): str(digest) for path, digest in row["files"].items()},
                {str(name): str(value) for name, value in row["env"].items()},
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return


_Forms = Mapping[str, tuple[tuple[type, ...], ...]]
_QUESTIONS: _Forms = {"run": ((list, str),), "call": ((str, str, str),)}
_ANSWERS: _Forms = {"run": ((str, str, int),), "call": ((str, str), (str, str, str))}


def _checked(kind: str, told: Json, forms: _Forms) -> tuple[Json, ...]:
    """The parts of a question or an answer; raises ValueError or KeyError where they are none."""
    if not isinstance(told, list) or tuple(map(type, told)) not in forms[kind]:
        raise ValueError(f"no {kind}")
    json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogateescape")  # or it can't be put in a program
    if isinstance(told[0], list) and not all(isinstance(word, str) for word in told[0]):
        raise ValueError("a word that is no text")
    return tuple(told)


def is_one_valued(asked: Sequence[Asked]) -> bool:
    """Whether the same question always got the same answer, and there are few enough."""
    answers: dict[str, tuple[Json, ...]] = {}
    return len(asked) <= CALLS_LIMIT and all(
        answers.setdefault(item.key, item.answer) == item.answer for item in asked
    )


def _can_be_known(asked: Sequence[Asked], output: Output) -> bool:
    """Whether all answers can be written down: a value that isn't a literal can't, nor calls in a shell."""
    assert output.after is not None
    if language_of(output.path, output.after.data) == "shell" and any(item.kind != "run" for item in asked):
        return False
    for item in asked:
        if item.kind == "call" and item.answer[0] == "value":
            try:
                ast.literal_eval(str(item.answer[1]))
            except _NO_LITERAL:
                return False
    return True


def is_visible(
    item: Asked, output: Output, scene: Scene, digests: Mapping[str, str], texts: Sequence[str]
) -> bool:
    """Whether the solver has everything before it that this question hangs on.

    Files that lie there must be those that lay there before; words, lines and values must stand in the
    instruction or in one of the files.
    """
    others = {path: digest for path, digest in item.files.items() if path != output.path}
    if output.path not in item.files or any(digests.get(path) != digest for path, digest in others.items()):
        return False
    top = _top(output.path)
    if item.cwd not in ("/", top) and not any(path.startswith(f"{item.cwd}/") for path in digests):
        return False
    assert output.after is not None
    source = output.after.data.decode("utf-8", "replace")
    environment = [value for name, value in item.env.items() if _reads_variable(source, name)]
    leaves = [*_leaves(item), *environment]
    return all(_stands_somewhere(leaf, scene.instruction, digests, texts) for leaf in leaves)


def _reads_variable(source: str, name: str) -> bool:
    """Whether a program names an environment variable: a text in Python, a parameter in a shell."""
    if name in ("PATH", "PWD", "HOME", "OLDPWD", "SHLVL", "_"):
        return False
    return re.search(rf"['\"]{re.escape(name)}['\"]|\$\{{?{re.escape(name)}\b", source) is not None


def _leaves(item: Asked) -> list[str]:
    """The words, lines and values that a question is made of."""
    if item.kind == "run":
        words, stdin = item.asked
        given = [str(word) for word in words] if isinstance(words, list) else []
        return [*given, *(line.strip() for line in str(stdin).splitlines())]
    found: list[str] = []
    for text in item.asked[1:]:
        try:
            found += _values(ast.literal_eval(str(text)))
        except _NO_LITERAL:
            return ["\0 what is no literal stands nowhere"]
    return found


def _values(value: object) -> list[str]:
    if isinstance(value, dict):
        return [leaf for pair in value.items() for part in pair for leaf in _values(part)]
    if isinstance(value, list | tuple | set | frozenset):
        return [leaf for part in value for leaf in _values(part)]
    return [line.strip() for line in value.splitlines()] if isinstance(value, str) else [repr(value)]


def _stands_somewhere(leaf: str, instruction: str, digests: Mapping[str, str], texts: Sequence[str]) -> bool:
    if not leaf or leaf in digests or leaf in ("True", "False", "None"):
        return True
    pattern = re.compile(rf"(?<!\w){re.escape(leaf)}(?!\w)")
    if any(path.endswith(f"/{leaf}") for path in digests) or pattern.search(instruction):
        return True
    # A number or a letter stands in any file by chance; a line of some length doesn't.
    return len(leaf) >= 8 and any(leaf in text for text in texts)


def _try_answers(inquiry: Inquiry, output: Output, asked: Sequence[Asked]) -> None:
    names = sorted({str(item.asked[0]) for item in asked if item.kind == "call"})
    told: dict[str, Json] = {
        "answers": {item.key: list(item.answer) for item in asked},
        "names": list[Json](names),
    }
    probe = _standing_in(output, f"{output.path} only knows answers", told)
    judgement = inquiry.prober.judge_one(Request(probe))
    if judgement is None or not judgement.is_passed:
        return
    count = len({item.key for item in asked})
    inquiry.report(
        "visible-cases",
        "warning",
        "sound",
        f"{output.path} is tried on {count} {'input' if count == 1 else 'inputs'}, and the solver can see "
        f"{'it' if count == 1 else 'all of them'}: a program that knows just the answers passes",
        probe=probe,
        difference="\n".join(_tell(item) for item in asked[:SHOWN]),
        rank=2.5,
    )


def _tell(item: Asked) -> str:
    if item.kind == "run":
        words, stdin = item.asked
        given = " ".join(map(str, words)) if isinstance(words, list) else ""
        return f"asked: {given} {str(stdin)[:60]!r}  answer: {str(item.answer[0])[:60]!r}"
    return f"asked: {item.asked[0]}{str(item.asked[1])[:60]}  answer: {str(item.answer[-1])[:60]}"


def _top(path: str) -> str:
    """The folder whose files count as inputs: the first of the path, or its own in the system's folders."""
    first = path.strip("/").partition("/")[0]
    return f"/{first}" if first not in _SYSTEM and path.count("/") > 1 else path.rpartition("/")[0] or "/"
