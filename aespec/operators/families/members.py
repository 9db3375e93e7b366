"""A member of an archive is missing, empty, changed, or named differently."""

from __future__ import annotations

from collections.abc import Iterator

from aespec.model.chooser import Chooser, shuffled
from aespec.model.edit_forms import put
from aespec.operators.api import Draft, Operator, Output, Scene
from aespec.operators.contents import data_of
from aespec.operators.formats.containers import Container, Member, pack_container, read_container
from aespec.operators.kinds import text_of
from aespec.operators.near import misspelled
from aespec.operators.spots import WORD

Members = tuple[Member, ...]


def _container(output: Output) -> Container | None:
    return read_container(data_of(output))


def _draft(output: Output, container: Container, member: Member, members: Members, says: str) -> Draft:
    where = f"{output.path}#{member.name}" if member.name else output.path
    return Draft(where, (put(output.path, pack_container(container, members)),), says)


def _files(container: Container | None, chooser: Chooser) -> Iterator[tuple[int, Member]]:
    files = [item for item in enumerate(container.members if container else ()) if item[1].data is not None]
    return shuffled(files, chooser)


def _named(member: Member) -> str:
    return f"member {member.name}" if member.name else "content"


def _is_nameless(container: Container) -> bool:
    return not container.members[0].name if container.members else True


def _dropped(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    container = _container(output)
    for at, member in _files(container, chooser):
        if container is not None and not _is_nameless(container):
            kept = (*container.members[:at], *container.members[at + 1 :])
            yield _draft(output, container, member, kept, f"its member {member.name} is missing")


def _emptied(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    container = _container(output)
    for at, member in _files(container, chooser):
        if container is not None and member.data:
            changed = _with(container, at, member._replace(data=b""))
            yield _draft(output, container, member, changed, f"its {_named(member)} is empty")


def _with(container: Container, at: int, member: Member) -> Members:
    return (*container.members[:at], member, *container.members[at + 1 :])


def _changed(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """A word of a text misspelled, a byte of anything else flipped."""
    container = _container(output)
    for at, member in _files(container, chooser):
        data = member.data
        if container is None or not data:
            continue
        text = text_of(data)
        words = list(WORD.finditer(text)) if text is not None and not data.startswith(b"\xef\xbb\xbf") else []
        if text is not None and words:
            word = words[chooser.integer(0, len(words) - 1)]
            other = misspelled(word[0])
            new = (text[: word.start()] + other + text[word.end() :]).encode()
            says = f"in its {_named(member)} {word[0][:40]} is {other[:40]}"
        else:
            place = len(data) // 2
            new = data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]
            says = f"in its {_named(member)} the byte {place} is another one"
        yield _draft(output, container, member, _with(container, at, member._replace(data=new)), says)


def _renamed(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    container = _container(output)
    for at, member in _files(container, chooser):
        if container is not None and member.name:
            folder, _, name = member.name.rpartition("/")
            other = f"{folder}/{misspelled(name)}".lstrip("/")
            changed = _with(container, at, member._replace(name=other))
            yield _draft(output, container, member, changed, f"its member {member.name} is named {other}")


def _deeper(output: Output, scene: Scene, chooser: Chooser) -> Iterator[Draft]:
    """All members one folder deeper: what packing the folder instead of its content gives."""
    container = _container(output)
    if container is not None and not _is_nameless(container):
        moved = tuple(member._replace(name=f"content/{member.name}") for member in container.members)
        edit = put(output.path, pack_container(container, moved))
        yield Draft(output.path, (edit,), "its members stand one folder deeper")


OPERATORS = (
    (Operator("dropped-member", "members", ("archive",), "wrong"), _dropped),
    (Operator("emptied-member", "members", ("archive",), "wrong"), _emptied),
    (Operator("changed-member", "members", ("archive",), "wrong"), _changed),
    (Operator("renamed-member", "members", ("archive",), "wrong"), _renamed),
    (Operator("deeper-members", "members", ("archive",), "depends"), _deeper),
)
