"""What names mean where a statement stands: arguments of fragments and of `each`, and fragments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from aespec.records import dataclass
from aespec.source import Span
from aespec.syntax.nodes import CallValue, Heredoc, ListValue, MapValue, Name, Statement, String, Value


@dataclass(frozen=True, slots=True)
class Fragment:
    """Statements to be used again. `home` are the fragments and files that its own body can use."""

    name: str
    params: tuple[str, ...]
    body: tuple[Statement, ...]
    home: Library = field(compare=False, repr=False)
    span: Span = field(compare=False, repr=False)


@dataclass(slots=True)
class Library:
    """The fragments of one file, and under their names those of the files that it uses."""

    fragments: dict[str, Fragment] = field(default_factory=dict)
    files: dict[str, Library] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def find(self, parts: tuple[str, ...]) -> Fragment | None:
        """The fragment `NAME` or `FILE.NAME`, noted as used."""
        library = self
        if len(parts) == 2:
            found = self.files.get(parts[0])
            if found is None:
                return None
            self.used.add(parts[0])
            library = found
        fragment = library.fragments.get(parts[-1]) if len(parts) <= 2 else None
        if fragment is not None:
            library.used.add(fragment.name)
        return fragment

    def names(self) -> set[str]:
        """Every name that `use` takes here."""
        inner = {f"{name}.{item}" for name, library in self.files.items() for item in library.fragments}
        return set(self.fragments) | inner


@dataclass(frozen=True, slots=True)
class Scope:
    """Bindings of bare names to values, each with the scope that it was written in.

    `fragment` is the fragment that the statement stands in, "" outside of any. Inside one only its arguments
    are seen, so a fragment means the same wherever it is used. `trail` are the fragments being expanded.
    """

    library: Library = field(default_factory=Library, compare=False, repr=False)
    bindings: Mapping[str, Bound] = field(default_factory=dict)
    fragment: str = ""
    trail: tuple[int, ...] = ()

    def find(self, name: Name) -> Bound | None:
        """What a name is bound to here, or None where it isn't an argument."""
        return self.bindings.get(name.parts[0])


@dataclass(frozen=True, slots=True)
class Bound:
    """A value and the scope that its own names are looked up in.

    `size` is that of the value with its own arguments written out, in characters, as `measure` counts.
    """

    value: Value
    scope: Scope
    size: int = field(default=0, compare=False)


_PLACE = re.compile(r"\{\{[ \t]*([A-Za-z_][\w-]*)")
_NODE_SIZE = 8
_MOST_MEASURED = 1 << 40  # arguments of arguments grow exponentially, and the number need not


def bind(value: Value, scope: Scope) -> Bound:
    """An argument, measured."""
    return Bound(value, scope, measure(value, scope))


def measure(value: Value, scope: Scope) -> int:
    """How large a value is with the arguments in it written out, in characters, without writing them out."""
    size = _NODE_SIZE
    if isinstance(value, String | Heredoc):
        text = value.value if isinstance(value, String) else value.text
        size += len(text)
        if scope.bindings and "{{" in text:
            size += sum(_size_of(match[1], scope) for match in _PLACE.finditer(text))
    elif isinstance(value, Name):
        size += _size_of(value.parts[0], scope)
    elif isinstance(value, ListValue):
        size += sum(measure(item, scope) for item in value.items)
    elif isinstance(value, MapValue):
        size += sum(len(entry.key) + measure(entry.value, scope) for entry in value.entries)
    elif isinstance(value, CallValue):
        size += sum(measure(arg.value, scope) for arg in value.args)
    return min(size, _MOST_MEASURED)


def iterate_names(statements: Iterable[Statement]) -> Iterator[str]:
    """The bare names, or the first parts of dotted ones, that statements look up anywhere, in texts too."""
    for statement in statements:
        is_expanded = statement.name in {"each", "use"} and statement.value is None
        own = "" if not is_expanded or statement.label is None else statement.label.span.text
        label = None if is_expanded else statement.label
        args = (arg.value for arg in statement.args or ())
        for value in (label, statement.sentence, statement.value, statement.heredoc, *args):
            if value is not None:
                yield from _names_of(value)
        yield from (name for name in iterate_names(statement.body or ()) if name != own)


def _names_of(value: Value) -> Iterator[str]:
    if isinstance(value, Name):
        yield value.parts[0]
    elif isinstance(value, String | Heredoc):
        text = value.value if isinstance(value, String) else value.text
        yield from (match[1] for match in _PLACE.finditer(text))
    elif isinstance(value, ListValue):
        for item in value.items:
            yield from _names_of(item)
    elif isinstance(value, MapValue):
        for entry in value.entries:
            yield from _names_of(entry.value)
    elif isinstance(value, CallValue):
        for arg in value.args:
            yield from _names_of(arg.value)


def _size_of(name: str, scope: Scope) -> int:
    bound = scope.bindings.get(name)
    return bound.size if bound is not None else 0


def dereference(value: Value, scope: Scope) -> tuple[Value, Scope]:
    """Follow a bare name to the argument that it stands for; a path into it stays with the last name."""
    for _ in range(64):
        if not isinstance(value, Name):
            break
        bound = scope.find(value)
        if bound is None:
            break
        target = bound.value
        if len(value.parts) > 1:
            if not isinstance(target, Name):
                break
            target = Name((*target.parts, *value.parts[1:]), span=value.span)
        value, scope = target, bound.scope
    return value, scope
