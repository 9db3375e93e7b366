"""What breaks a claim about a function, what keeps it, and how it is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aespec.model.chooser import Chooser
from aespec.model.edit import Edit
from aespec.model.edit_forms import delete, put
from aespec.predicates import function
from aespec.predicates.arguments import misfits
from aespec.predicates.wording import told, tolerance_promises
from aespec.runtime.memory import MemoryState
from aespec.runtime.state import State, Trouble

Args = Mapping[str, Any]


def says(args: Args) -> str:
    """The sentence for the solver; cases are never shown."""
    return f"The function `{args['name']}` in `{args['path']}` does what is asked."


def promises(args: Args) -> tuple[str, ...]:
    """How it is called."""
    found = [
        "It is called by the verifier in a process of its own, under another account and without network."
    ]
    return (*found, *tolerance_promises(args))


def reads(args: Args) -> tuple[str, ...]:
    """The file, and the folder that imports start from where one is named."""
    root = (args.get("root") or "").rstrip("/")
    return (str(args["path"]), *([root] if root else []))


def literals(args: Args) -> tuple[str | int | float, ...]:
    """Path, name, keywords and exceptions."""
    found: dict[str, None] = dict.fromkeys([args["path"], args["name"]])
    for case in told(_cases, args) or []:
        found.update(dict.fromkeys(case.get("kwargs", {})))
        if "raises" in case:
            found[case["raises"]] = None
    return tuple(found)


def faults(args: Args) -> tuple[str, ...]:
    """What is wrong with the arguments themselves, as far as no hidden file is needed to tell."""
    if wrong := misfits(function.SIGNATURE, args):
        return wrong
    found = []
    given = [name for name in ("cases", "cases_file", "driver") if args.get(name) is not None]
    if len(given) > 1:
        found.append(f"{given[0]} and {given[1]} exclude each other")
    if args.get("driver") is not None and "emits" not in args:
        found.append("a driver needs emits")
    if args.get("driver") is None and ("emits" in args or "given" in args):
        found.append("emits and given mean nothing without a driver")
    try:
        function.root_of(dict(args))
        _cases(dict(args))
    except Trouble as trouble:
        found.append(str(trouble))
    return tuple(found)


def _cases(args: dict[str, Any]) -> list[dict[str, Any]]:
    """The cases as far as the spec holds them. Raises `Trouble` where one of them claims nothing."""
    if "cases" not in args or args.get("cases_file") is not None:
        return []
    return function.cases_of(MemoryState.of({}), args)


def needs(args: Args) -> tuple[str, ...]:
    """A program is run."""
    return function.SIGNATURE.needs


def violations(args: Args, state: State, chooser: Chooser) -> Iterator[tuple[Edit, ...]]:
    """The function wrapped so that it returns or raises a little else; then the file emptied and gone."""
    path, name = args["path"], args["name"]
    data = state.read(path)
    if "." not in name and args.get("driver") is None:
        for body in ("return [_kept(*args, **kwargs)]", "return None, _kept(*args, **kwargs)"):
            yield (put(path, _wrapped(data, name, body, is_raising=True)),)
        yield (put(path, _wrapped(data, name, "raise ArithmeticError", is_raising=False)),)
    yield (put(path, b""),)
    yield (put(path, b"import os\nos._exit(0)\n"),)
    yield (delete(path),)


def variants(args: Args, state: State, chooser: Chooser) -> Iterator[tuple[Edit, ...]]:
    """A comment at the end; a private name beside the function; noise on standard output."""
    path = args["path"]
    data = state.read(path).rstrip(b"\n")
    yield (put(path, data + b"\n\n# the end\n"),)
    yield (put(path, data + b"\n\n_more = 1\n"),)
    yield (put(path, data + b"\n\nprint('loaded')\n"),)


def _wrapped(data: bytes, name: str, body: str, *, is_raising: bool) -> bytes:
    """The module with its function replaced by one that calls it; what it raises becomes an
    ArithmeticError.
    """
    lines = [
        "",
        f"_kept = {name}",
        f"def {name}(*args, **kwargs):",
        *(["    try:", f"        {body}", "    except Exception:", "        raise ArithmeticError from None"]
          if is_raising else [f"    {body}"]),
    ]  # fmt: skip
    return data.rstrip(b"\n") + "\n".join(["", *lines, ""]).encode()
