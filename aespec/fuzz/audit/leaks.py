"""Leaks: text of the solution, the tests or the right end state that the agent finds in its own container.

What is looked for are whole contents (by digest, also as git's objects) and tokens: texts of eight characters
or more that the instruction doesn't show and that stand in no input. The search runs in the sandbox, as the
agent; only what it prints comes out. A leak that can be made into the right end state has a probe for that.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aespec.fuzz.subject import iterate_leaves
from aespec.fuzz.tokens import TOKEN_LENGTH
from aespec.model.edit_forms import put
from aespec.model.quoting import write_plain
from aespec.operators.api import Output, Scene
from aespec.operators.formats.json_text import read_json
from aespec.operators.formats.tables import read_table
from aespec.operators.kinds import text_of
from aespec.runtime.wording import counted
from aespec.trial.probe import Harness, Judgement, Probe

PLACE = "/var/tmp/aespec-search"
TOKENS_OF_ONE = 60
TOKEN_LIMIT = 200
"""Tokens of one output or file, and characters of one token, at most; long ones go first: they are rarer."""

LINE_LENGTH = 24
"""A line of a program from this many characters on is told from others."""

COPY_BYTES = 12
CODE_BYTES = 64
"""Contents shorter than this (of outputs; of tests and solutions) may be equal by coincidence."""

COMMON = 5
"""A token that stands in more files than this belongs to the image and not to the answer."""

_KNOWN_LIMIT_CHARS = 4 * 1024**2
_FEW = 3
_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Leak:
    """Something found. `kind` is where: copy, token, history, blob, package, environment or layer.

    `of` is what it gives away: answer, solution or tests. `says` is a sentence's middle for a reader, without
    capital and full stop; `samples` are texts that were found. `probe` makes the right end state of it.
    """

    kind: str
    of: str
    place: str
    says: str
    samples: tuple[str, ...] = field(default=(), repr=False)
    probe: Probe | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Search:
    """The leaks, those that give most away first. `problem` says why the search didn't come to its end."""

    leaks: tuple[Leak, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for: tokens by (what they give away, of which file), contents by digest and git's id."""

    tokens: Mapping[tuple[str, str], tuple[str, ...]]
    digests: Mapping[str, tuple[str, str]]
    blobs: Mapping[str, str]
    sizes: tuple[int, ...]

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to look for."""
        return not (any(self.tokens.values()) or self.digests)


def search_leaks(
    harness: Harness,
    scene: Scene,
    *,
    tests: Mapping[str, bytes],
    solution: Mapping[str, bytes],
    literals: Sequence[str] = (),
    dockerfile: str = "",
) -> Search:
    """Look through the agent's container in its start state.

    `tests` and `solution` are the files that are put there later, by absolute path; `literals` are what the
    tests compare with.
    """
    wanted = choose_wanted(scene, tests=tests, solution=solution, literals=literals)
    if wanted.is_nothing:
        return Search(problem="there is nothing long enough to be looked for")
    judgement = harness.judge(search_probe(wanted))
    lines = [line.split("\t") for line in judgement.agent_output.splitlines()]
    if not any(line[0] == "end" for line in lines):
        return Search(problem=f"the search for leaks didn't end: {_why(judgement)}")
    hits = [(kind, place, text) for kind, place, text in (line for line in lines if len(line) == 3) if place]
    allowed = _Allowed(scene, solution)
    leaks = [*_copies(hits, wanted, allowed), *_blobs(hits, wanted), *_tokens(hits, wanted, allowed)]
    leaks += _layers(dockerfile, wanted)
    return Search(tuple(sorted(leaks, key=_order)))


def _order(leak: Leak) -> tuple[bool, int, str]:
    return leak.probe is None, _KINDS.index(leak.kind), leak.place


_KINDS = ("copy", "blob", "token", "history", "environment", "package", "layer")


def _why(judgement: Judgement) -> str:
    return judgement.message or f"status {judgement.agent_status}"


def search_probe(wanted: Wanted) -> Probe:
    """The probe whose script prints what it finds; its verdict says nothing."""
    tokens = sorted({token for found in wanted.tokens.values() for token in found})
    sizes = " -o ".join(f"-size {size}c" for size in wanted.sizes)
    files = {
        "tokens": tokens,
        "digests": sorted(wanted.digests),
        "blobs": sorted(wanted.blobs),
        "sizes": [sizes],
    }
    edits = tuple(
        put(f"{PLACE}/{name}", "".join(f"{line}\n" for line in lines if line))
        for name, lines in files.items()
    )
    script = Path(__file__).with_name("search.sh").read_text(encoding="utf-8")
    return Probe("a search for leaks", "start", edits, script)


# --- what is looked for ----------------------------------------------------------------------------------


def choose_wanted(
    scene: Scene, *, tests: Mapping[str, bytes], solution: Mapping[str, bytes], literals: Sequence[str] = ()
) -> Wanted:
    """Tokens and digests of what the agent shouldn't find ready-made."""
    known = _known_text(scene)
    outputs = [item for item in scene.outputs if item.after is not None and item.after.kind == "file"]
    tokens = {("answer", item.path): _rare(_pieces(item), known) for item in outputs}
    tokens["answer", "the tests"] = _rare((text for text in literals if not text.startswith("/")), known)
    for name, files in (("solution", solution), ("tests", tests)):
        for path, data in files.items():
            tokens[name, path] = _rare(_lines(data), known)
    contents = [("answer", item.path, _data(item), COPY_BYTES) for item in outputs]
    contents += [("solution", path, data, CODE_BYTES) for path, data in solution.items()]
    contents += [("tests", path, data, CODE_BYTES) for path, data in tests.items()]
    digests: dict[str, tuple[str, str]] = {}
    blobs: dict[str, str] = {}
    sizes: set[int] = set()
    for name, path, data, least in contents:
        if len(data) >= least:
            digests.setdefault(hashlib.sha256(data).hexdigest(), (name, path))
            sizes.add(len(data))
            if name == "answer":
                head = b"blob %d\0" % len(data)
                blobs.setdefault(hashlib.sha1(head + data, usedforsecurity=False).hexdigest(), path)
    return Wanted(tokens, digests, blobs, tuple(sorted(sizes)))


def _data(output: Output) -> bytes:
    assert output.after is not None
    return output.after.data


def _known_text(scene: Scene) -> str:
    """What the agent is shown or given: the instruction, the inputs, and what stood where the outputs are."""
    before = [item.before.data for item in scene.outputs if item.before is not None]
    parts = [scene.instruction]
    room = _KNOWN_LIMIT_CHARS
    for data in (*before, *scene.inputs.values()):
        text = data[:room].decode("utf-8", "replace")
        room -= len(text)
        parts.append(text)
    return "\n".join(parts)


def _rare(texts: Iterable[str], known: str) -> tuple[str, ...]:
    """The texts that may be tokens: long enough, on one line, not all of one letter, and nowhere shown."""
    found: dict[str, None] = {}
    for text in texts:
        token = text.strip()[:TOKEN_LIMIT]
        if len(token) >= TOKEN_LENGTH and "\n" not in token and "\t" not in token and len(set(token)) > 3:
            found[token] = None
    longest = sorted(found, key=lambda token: (-len(token), token))[: 2 * TOKENS_OF_ONE]
    return tuple(token for token in longest if token not in known)[:TOKENS_OF_ONE]


def _pieces(output: Output) -> Iterator[str]:
    """The values that an output consists of; of programs the lines that tell them from others."""
    text = text_of(_data(output))
    if text is None:
        return
    if output.kind == "code":
        yield from _lines(_data(output))
        return
    parsed = read_json(text) if output.kind == "json" else None
    table = read_table(output.path, text) if output.kind == "table" else None
    if parsed is not None:
        for _, leaf in iterate_leaves(parsed.value):
            if leaf is not None and not isinstance(leaf, bool):
                yield write_plain(leaf)
    elif table is not None:
        for row in table.rows:
            yield from row
            yield table.delimiter.join(row)
    else:
        yield from text.splitlines()


def _lines(data: bytes) -> Iterator[str]:
    """The lines of a program that hardly any other has."""
    for line in (text_of(data) or "").splitlines():
        told = line.strip()
        if len(told) >= LINE_LENGTH and not told.startswith(("#", "import ", "from ", "set -", "//")):
            yield told


# --- what was found --------------------------------------------------------------------------------------

_Hits = Sequence[tuple[str, str, str]]


class _Allowed:
    """Places that the task itself points at: what the instruction or the solution names is an input."""

    def __init__(self, scene: Scene, solution: Mapping[str, bytes]) -> None:
        """`solution` is what the oracle works by: what it reads is meant to be read."""
        texts = [data.decode("utf-8", "replace") for data in solution.values()]
        self._text = "\n".join([scene.instruction, *texts])
        self._outputs = {output.path for output in scene.outputs}

    def has(self, place: str) -> bool:
        """Whether a file is named: by its path, its name, or its folder's path."""
        if place in self._outputs or place in self._text:
            return True
        folder, name = posixpath.split(place)
        if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", self._text):
            return True
        return folder.count("/") > 1 and re.search(rf"{re.escape(folder)}(?![\w-])", self._text) is not None


def _copies(hits: _Hits, wanted: Wanted, allowed: _Allowed) -> Iterator[Leak]:
    """Whole contents under another path. All copies of outputs together make one probe."""
    found = [
        (place, wanted.digests[text])
        for kind, place, text in hits
        if kind == "copy" and text in wanted.digests
    ]
    answers = {path: place for place, (of, path) in found if of == "answer" and not allowed.has(place)}
    script = "".join(
        f"mkdir -p {_word(posixpath.dirname(path))}\ncp {_word(place)} {_word(path)}\n"
        for path, place in sorted(answers.items())
    )
    for place, (of, path) in found:
        if of == "answer" and answers.get(path) == place:
            probe = Probe(f"the answer copied from {place}", "start", script=script)
            yield Leak("copy", of, place, f"{place} is a copy of what {path} should be", probe=probe)
        elif of == "solution":
            run = f"{'python3' if path.endswith('.py') else 'bash'} {_word(place)}\n"
            probe = Probe(f"the solution run from {place}", "start", script=run)
            yield Leak("copy", of, place, f"{place} is a copy of the solution's {path}", probe=probe)
        elif of == "tests":
            yield Leak("copy", of, place, f"{place} is a copy of the verifier's {path}")


def _blobs(hits: _Hits, wanted: Wanted) -> Iterator[Leak]:
    """Outputs that lie among a repository's objects, reachable or not."""
    by_repository: dict[str, dict[str, str]] = {}
    for kind, place, text in hits:
        if kind == "blob" and text in wanted.blobs:
            by_repository.setdefault(place, {})[wanted.blobs[text]] = text
    for place, blobs in by_repository.items():
        script = "".join(
            f"mkdir -p {_word(posixpath.dirname(path))}\n"
            f"git -c 'safe.directory=*' --git-dir={_word(place)} cat-file blob {blob} > {_word(path)}\n"
            for path, blob in sorted(blobs.items())
        )
        names = ", ".join(sorted(blobs)[:3])
        yield Leak(
            "blob",
            "answer",
            place,
            f"the repository {place} holds what {names} should be among its objects",
            tuple(blobs.values()),
            Probe(f"the answer taken from the objects of {place}", "start", script=script),
        )


def _tokens(hits: _Hits, wanted: Wanted, allowed: _Allowed) -> Iterator[Leak]:
    """Places that hold many tokens of one file, or a long one."""
    kinds = ("token", "environment", "package", "history")
    files = Counter(text for kind, _, text in hits if kind == "token")
    by_place: dict[tuple[str, str], set[str]] = {}
    for kind, place, text in hits:
        if kind in kinds and files[text] <= COMMON and not (kind == "token" and allowed.has(place)):
            by_place.setdefault((kind, place), set()).add(text)
    for (kind, place), texts in by_place.items():
        for (of, path), tokens in wanted.tokens.items():
            found = [token for token in tokens if token in texts]
            if _is_telling(found, tokens):
                share = f"{len(found)} of {counted(len(tokens), 'text')}"
                says = f"{place} holds {share} that make up {path}, such as {found[0][:60]!r}"
                yield Leak(kind, of, place, says, tuple(found[:5]))
                break


def _is_telling(found: Sequence[str], tokens: Sequence[str]) -> bool:
    if len(found) >= _FEW:
        return len(found) >= _SHARE * len(tokens)
    return bool(found) and len(found) == len(tokens) and max(map(len, found)) >= COPY_BYTES


def _layers(dockerfile: str, wanted: Wanted) -> Iterator[Leak]:
    """What the recipe of the image says stays in its history, also where a later step removes the file."""
    for (of, path), tokens in wanted.tokens.items():
        found = [token for token in tokens if token in dockerfile]
        if of == "answer" and _is_telling(found, tokens):
            held = counted(len(found), "text")
            says = f"the image's history holds {held} that make up {path}, such as {found[0][:60]!r}"
            yield Leak("layer", of, "the Dockerfile", says, tuple(found[:5]))
            return


def _word(text: str) -> str:
    return shlex.quote(text)
