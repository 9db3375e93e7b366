"""Frozen records at a fraction of what the standard library's cost at import.

`from aespec.records import dataclass` is `dataclasses.dataclass` to a type checker and to whoever uses the
classes; the fields are the standard library's own. But it compiles six methods for each class when the module
is imported, about half a millisecond; the 120 classes that `aespec lint` imports cost it more than all of its
work. Here a constructor is compiled when the first instance is made, and the other methods are closures.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414  # is exported
else:

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, **others: Any
    ) -> Any:
        """As `dataclasses.dataclass`; what isn't a frozen, slotted class without bases is left to that."""

        def make(cls: type) -> type:
            if frozen and slots and not others and _is_plain(cls):
                return _record(cls)
            return dataclasses.dataclass(cls, frozen=frozen, slots=slots, **others)

        return make if cls is None else make(cls)


_METHODS = frozenset(
    {
        "__init__",
        "__repr__",
        "__eq__",
        "__hash__",
        "__setattr__",
        "__delattr__",
        "__getstate__",
        "__setstate__",
    }
)


def _is_plain(cls: type) -> bool:
    """Whether there is nothing to inherit and none of the methods is the class's own."""
    own = vars(cls)
    return (
        cls.__bases__ == (object,)
        and not _METHODS & own.keys()
        and "InitVar" not in str(own.get("__annotations__"))
    )


def _record(cls: type) -> type:
    """The class with slots and all methods of a frozen dataclass."""
    made: Any = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=True)
    made.__dataclass_params__.frozen = True
    fields = dataclasses.fields(made)
    _check_order(fields)
    methods = {
        "__init__": _Constructor(made),
        "__repr__": _representation(tuple(field.name for field in fields if field.repr)),
        **_comparison(_values_of(tuple(field.name for field in fields if field.compare))),
        **_freezing(made, frozenset(field.name for field in fields)),
        **_state(tuple(field.name for field in fields)),
    }
    assert methods.keys() == _METHODS
    for name, method in methods.items():
        setattr(made, name, method)
    return made  # type: ignore[no-any-return]


def _check_order(fields: tuple[dataclasses.Field[Any], ...]) -> None:
    """Raise TypeError now for what would be a SyntaxError when the first instance is made."""
    has_default = False
    for field in fields:
        if field.kw_only or not field.init:
            continue
        if field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING:
            has_default = True
        elif has_default:
            raise TypeError(f"non-default argument {field.name!r} follows default argument")


class _Constructor:
    """Stands in for `__init__` until it is asked for, and then puts the real one in its place."""

    __slots__ = ("owner",)

    def __init__(self, owner: type) -> None:
        self.owner = owner

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        made = _compile_constructor(self.owner)
        type.__setattr__(self.owner, "__init__", made)
        return made if instance is None else made.__get__(instance, owner)


def _compile_constructor(cls: Any) -> Any:
    """A function that sets each slot by its descriptor: `__setattr__` refuses."""
    known: dict[str, Any] = {"_missing": dataclasses.MISSING}
    places: list[str] = []
    named: list[str] = []
    lines: list[str] = []
    for field in dataclasses.fields(cls):
        name = field.name
        known[f"_set_{name}"] = getattr(cls, name).__set__
        value, default = name, ""
        if field.default_factory is not dataclasses.MISSING:
            known[f"_make_{name}"] = field.default_factory
            value = f"_make_{name}() if {name} is _missing else {name}" if field.init else f"_make_{name}()"
            default = "=_missing"
        elif field.default is not dataclasses.MISSING:
            known[f"_default_{name}"] = field.default
            value = name if field.init else f"_default_{name}"
            default = f"=_default_{name}"
        elif not field.init:
            continue
        if field.init:
            (named if field.kw_only else places).append(f"{name}{default}")
        lines.append(f"_set_{name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(["self", *places, *(["*", *named] if named else [])])
    source = f"def __init__({parameters}):\n  " + "\n  ".join(lines or ["pass"])
    exec(source, known)  # noqa: S102  # names of fields, which are identifiers of our own modules
    made = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__module__ = cls.__module__
    types = {field.name: field.type for field in dataclasses.fields(cls) if field.init}
    made.__annotations__ = {**types, "return": None}
    return made


def _values_of(names: tuple[str, ...]) -> Callable[[object], tuple[object, ...]]:
    """The values of these attributes as a tuple, however many there are."""
    if not names:
        return lambda _: ()
    one_or_more: Callable[[object], Any] = operator.attrgetter(*names)
    return one_or_more if len(names) > 1 else lambda item: (one_or_more(item),)


def _comparison(values: Callable[[object], tuple[object, ...]]) -> dict[str, Callable[..., Any]]:
    def equal(self: object, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: object) -> int:
        return hash(values(self))

    return {"__eq__": equal, "__hash__": hashed}


def _representation(names: tuple[str, ...]) -> Callable[[Any], str]:
    @recursive_repr()
    def representation(self: object) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({shown})"

    return representation


def _freezing(cls: Any, names: frozenset[str]) -> dict[str, Callable[..., None]]:
    """A subclass may have attributes of its own; those here are never set again."""

    def set_attribute(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete_attribute(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": set_attribute, "__delattr__": delete_attribute}


def _state(names: tuple[str, ...]) -> dict[str, Callable[..., Any]]:
    """What copying and pickling need of a class that refuses to be set."""

    def state(self: object) -> list[object]:
        return [getattr(self, name) for name in names]

    def set_state(self: object, values: list[object]) -> None:
        for name, value in zip(names, values, strict=True):
            object.__setattr__(self, name, value)

    return {"__getstate__": state, "__setstate__": set_state}
