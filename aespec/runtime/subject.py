"""Runs inside the child that calls the solver's Python code; the parent sends this text along as a program.

It reads one JSON request from standard input and writes one JSON answer where standard output was; whatever
the code prints goes to standard error. It imports nothing of aespec: the child must see none of the verifier.
Code in the same process can do to this file whatever it likes; that is why nothing that is expected is ever
in this process, and why the parent takes the answer for plain data.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import sys
import traceback
from typing import Any, Callable, Dict, List, Optional

LEVELS_LIMIT = 100


def plain(value: Any, level: int = 0) -> Any:
    """A value as JSON: tuples are lists; sets, bytes, other maps and objects get a key that begins with
    `$`.
    """
    if value is None or isinstance(value, bool):
        return value
    if level > LEVELS_LIMIT:
        return {"$object": "nested too deeply"}
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if value - value == 0 else {"$float": repr(float(value))}
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (list, tuple)):
        return [plain(item, level + 1) for item in value]
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": base64.b64encode(bytes(value)).decode()}
    if isinstance(value, (set, frozenset)):
        items = [plain(item, level + 1) for item in value]
        return {"$set": sorted(items, key=lambda item: json.dumps(item, sort_keys=True))}
    if isinstance(value, dict):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {str.__str__(key): plain(item, level + 1) for key, item in value.items()}
        return {"$map": [[plain(key, level + 1), plain(item, level + 1)] for key, item in value.items()]}
    kind = type(value)
    return {"$object": f"{kind.__module__}.{kind.__qualname__}"}


def rich(value: Any) -> Any:
    """The value that a case means: the reverse of `plain`, and `{"$tuple": […]}` for a tuple."""
    if isinstance(value, list):
        return [rich(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((key, item),) = value.items()
        makers: Dict[str, Callable[[Any], Any]] = {
            "$tuple": lambda items: tuple(rich(part) for part in items),
            "$set": lambda items: {rich(part) for part in items},
            "$bytes": base64.b64decode,
            "$float": float,
            "$map": lambda pairs: {rich(name): rich(part) for name, part in pairs},
        }
        if key in makers:
            return makers[key](item)
    return {key: rich(item) for key, item in value.items()}


def load(path: str, root: str) -> Any:
    """The module at a path, under the dotted name that it has below the folder that imports start from."""
    sys.path.insert(0, root)
    relative = os.path.splitext(os.path.relpath(path, root))[0]
    name = ".".join(part for part in relative.split(os.sep) if part != "__init__") or "subject"
    if all(part.isidentifier() for part in name.split(".")) and os.path.realpath(path).startswith(
        os.path.realpath(root) + os.sep
    ):
        module = importlib.import_module(name)
        if os.path.realpath(getattr(module, "__file__", None) or "") == os.path.realpath(path):
            return module
    # The file's name is taken (by the standard library, say) or is no name: load the file itself.
    spec = importlib.util.spec_from_file_location("subject", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules["subject"] = module
    spec.loader.exec_module(module)
    return module


def find(module: Any, name: str) -> Any:
    """What a dotted name leads to in a module: `retry`, `Client.get`."""
    for part in name.split("."):
        module = getattr(module, part)
    return module


def call(function: Any, case: Dict[str, Any]) -> Dict[str, Any]:
    """What a call came to: `returned` and `after` (the arguments as they were left), or `raised`."""
    args, kwargs = rich(case.get("args", [])), rich(case.get("kwargs", {}))
    try:
        returned = plain(function(*args, **kwargs))
    except BaseException as error:  # noqa: BLE001 - whatever the code raises is its answer
        return raised(error)
    return {"returned": returned, "after": plain(args)}


def raised(error: BaseException) -> Dict[str, Any]:
    """An exception by the names of its classes, its own first, and its text."""
    names = [kind.__name__ for kind in type(error).__mro__ if kind is not object]
    try:
        message = str(error)[:2000]
    except Exception:  # noqa: BLE001 - a __str__ of the solver's may do anything
        message = ""
    return {"raised": names, "message": message}


def drive(module: Any, text: str, value: Any) -> Dict[str, Any]:
    """What the author's driver emitted; it finds `subject`, `given` and `emit`."""
    emitted: List[Any] = []
    names = {"subject": module, "given": rich(value), "emit": emitted.append, "__name__": "driver"}
    try:
        exec(compile(text, "driver", "exec"), names)  # noqa: S102 - in the child, the author's own program
    except BaseException as error:  # noqa: BLE001 - it may come from the solver's code
        return raised(error)
    return {"emitted": [plain(item) for item in emitted]}


def answer(request: Dict[str, Any]) -> Dict[str, Any]:
    """The answer to a request: `load` where loading failed, else `results` or what the driver came to."""
    try:
        module = load(request["path"], request["root"])
        function = None if request.get("driver") is not None else find(module, request["name"])
    except BaseException as error:  # noqa: BLE001 - the module may raise anything
        return {"load": raised(error)}
    if request.get("driver") is not None:
        return drive(module, request["driver"], request.get("given"))
    return {"results": [call(function, case) for case in request["cases"]]}


def main(given: Optional[str] = None) -> None:
    """Answer the request on standard input and end at once: no exit handler of the code gets a turn."""
    request = json.loads(sys.stdin.buffer.read().decode() if given is None else given)
    channel = os.dup(1)
    os.dup2(2, 1)
    try:
        text = json.dumps(answer(request))
    except BaseException:  # noqa: BLE001 - no answer is an answer; the parent says so
        traceback.print_exc()
        text = ""
    data = text.encode()
    while data:
        data = data[os.write(channel, data) :]
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
