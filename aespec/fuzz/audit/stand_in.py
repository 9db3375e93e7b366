"""What stands in a program's place: it writes down what is asked and answered, or only knows answers.

It isn't imported here but becomes a program of the sandbox, on any Python from 3.8 on, with `TOLD` filled in:
`source` and `log` to write down, `answers` to know nothing but them.
"""

# ruff: noqa: PTH100, PTH109, PTH113, PTH114, PTH118, PTH123, S102
# No pathlib: modules that the program didn't load must not be loaded here either, as far as can be.

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

TOLD: dict[str, Any] = {}

_RUN = """\
import sys
source, path = sys.argv[1:3]
del sys.argv[0:2]
sys.path.insert(0, path.rpartition("/")[0])
exec(compile(source, path, "exec"), {"__name__": "__main__", "__file__": path, "__builtins__": __builtins__})
"""


def _aespec_files() -> dict[str, str]:
    """The files of the program's surroundings, by their digests: what lies there is an input, too."""
    import hashlib
    import os

    found: dict[str, str] = {}
    for folder, folders, names in os.walk(TOLD["top"]):
        folders[:] = [name for name in folders if name not in ("__pycache__", ".pytest_cache", ".git")]
        for name in names:
            path = os.path.join(folder, name)
            if len(found) < TOLD["limit"] and os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as stream:
                    found[path] = hashlib.sha256(stream.read()).hexdigest()
    return found


def _aespec_note(row: dict[str, Any]) -> None:
    """Write down what was asked and answered."""
    import json
    import os

    row["cwd"], row["files"], row["env"] = os.getcwd(), _aespec_files(), dict(os.environ)
    before = os.umask(0)
    try:
        with open(TOLD["log"], "a", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(json.dumps(row) + "\n")
    finally:
        os.umask(before)


def _aespec_stdin() -> bytes:
    import sys

    return b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read()


def _aespec_run() -> None:
    """The program as a program: run below this one, or answered from what is known."""
    import sys

    words, stdin = sys.argv[1:], _aespec_stdin()
    asked = [words, stdin.decode("utf-8", "surrogateescape")]
    if "answers" in TOLD:
        answer = TOLD["answers"].get(repr(asked))
        if answer is None:
            sys.exit(1)
    else:
        import os
        import subprocess

        flags = ["-I"] if sys.flags.isolated else []
        program = [sys.executable, *flags, "-c", _RUN, TOLD["source"], os.path.abspath(__file__)]
        ended = subprocess.run([*program, *words], input=stdin, capture_output=True, check=False)
        out, err = (text.decode("utf-8", "surrogateescape") for text in (ended.stdout, ended.stderr))
        answer = [out, err, ended.returncode]
        _aespec_note({"kind": "run", "asked": asked, "answer": answer})
    for stream, text in ((sys.stdout, answer[0]), (sys.stderr, answer[1])):
        stream.buffer.write(text.encode("utf-8", "surrogateescape"))
        stream.flush()
    sys.exit(answer[2])


def _aespec_module() -> None:
    """The program as a module: its functions are watched, or only know answers."""
    if "answers" in TOLD:
        for name in TOLD["names"]:
            globals()[name] = _aespec_knowing(name)
        return
    before = set(globals())
    exec(compile(TOLD["source"], __file__, "exec"), globals())
    depth = [0]
    for name in set(globals()) - before:
        value = globals()[name]
        if type(value) is type(_aespec_module) and value.__module__ == __name__:
            globals()[name] = _aespec_watched(name, value, depth)


def _aespec_watched(name: str, function: Callable[..., Any], depth: list[int]) -> Callable[..., Any]:
    import functools

    @functools.wraps(function)
    def watched(*args: Any, **kwargs: Any) -> Any:
        asked = [name, repr(args), repr(sorted(kwargs.items()))]
        depth[0] += 1
        try:
            result = function(*args, **kwargs)
            answer = ["value", repr(result)]
            return result
        except Exception as fault:
            answer = ["fault", type(fault).__name__, str(fault)]
            raise
        finally:
            depth[0] -= 1
            if not depth[0]:
                _aespec_note({"kind": "call", "asked": asked, "answer": answer})

    return watched


def _aespec_knowing(name: str) -> Callable[..., Any]:
    def knowing(*args: Any, **kwargs: Any) -> Any:
        import ast
        import builtins

        answer = TOLD["answers"][repr([name, repr(args), repr(sorted(kwargs.items()))])]
        if answer[0] == "fault":
            raise getattr(builtins, answer[1])(answer[2])
        return ast.literal_eval(answer[1])

    knowing.__name__ = name
    return knowing


if __name__ == "__main__":
    _aespec_run()
elif TOLD:
    _aespec_module()
