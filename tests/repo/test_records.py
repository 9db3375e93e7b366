"""`aespec.records` makes what the standard library makes, only sooner."""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import field

import pytest

from aespec import records


@records.dataclass(frozen=True, slots=True)
class Nothing:
    """No field."""


@records.dataclass(frozen=True, slots=True)
class Box:
    """Every sort of field."""

    name: str
    size: int = 3
    notes: list = field(default_factory=list)
    span: object = field(default=None, kw_only=True, compare=False, repr=False)
    place: str = field(kw_only=True)
    digest: str = field(default="", init=False)
    marks: dict = field(default_factory=dict, init=False)

    def __post_init__(self):
        """Compute what isn't given."""
        object.__setattr__(self, "digest", f"{self.name}-{self.size}")

    @property
    def doubled(self):
        """A property."""
        return self.size * 2


@records.dataclass(frozen=True, slots=True)
class One:
    """One field."""

    value: object


@dataclasses.dataclass(frozen=True, slots=True)
class StandardOne:
    """The same, by the standard library."""

    value: object


@dataclasses.dataclass(frozen=True, slots=True)
class StandardBox:
    """The same, by the standard library."""

    name: str
    size: int = 3
    notes: list = field(default_factory=list)
    span: object = field(default=None, kw_only=True, compare=False, repr=False)
    place: str = field(kw_only=True)
    digest: str = field(default="", init=False)
    marks: dict = field(default_factory=dict, init=False)

    def __post_init__(self):
        """Compute what isn't given."""
        object.__setattr__(self, "digest", f"{self.name}-{self.size}")


def parameters(cls):
    """Names, kinds, types and whether there is a default, which for a factory is a mark of the library's."""
    found = inspect.signature(cls)
    return found.return_annotation, [
        (item.name, item.kind, item.annotation, item.default is item.empty)
        for item in found.parameters.values()
    ]


@pytest.mark.parametrize(("ours", "theirs"), [(Box, StandardBox), (One, StandardOne)])
def test_a_record_has_the_standard_fields_and_signature(ours, theirs):
    assert parameters(ours) == parameters(theirs)
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__slots__ == theirs.__slots__
    assert [str(item) for item in dataclasses.fields(ours)] == [
        str(item) for item in dataclasses.fields(theirs)
    ]


def test_a_record_holds_what_it_was_given_and_its_defaults():
    box = Box("a", place="here")
    assert (box.name, box.size, box.notes, box.span, box.place) == ("a", 3, [], None, "here")
    assert (box.digest, box.marks, box.doubled) == ("a-3", {}, 6)
    assert Box("a", 4, ["x"], place="p", span=1).notes == ["x"]
    assert Box("a", place="p").notes is not Box("a", place="p").notes


@pytest.mark.parametrize(
    ("places", "names"),
    [
        ((), {}),
        (("a",), {}),
        (("a", 1, [], None), {"place": "p"}),
        (("a",), {"place": "p", "name": "b"}),
        (("a",), {"place": "p", "digest": "x"}),
    ],
)
def test_a_wrong_call_is_refused_as_by_the_standard_library(places, names):
    with pytest.raises(TypeError) as refused:
        Box(*places, **names)
    with pytest.raises(TypeError) as standard:
        StandardBox(*places, **names)
    assert str(refused.value) == str(standard.value).replace("StandardBox", "Box")


def test_equality_and_hash_are_those_of_the_compared_fields_and_the_class():
    assert One(1) == One(1) != One(2)
    assert hash(One((1, 2))) == hash(One((1, 2)))
    assert hash(One((1, 2))) == hash(StandardOne((1, 2)))
    assert One(1) != StandardOne(1)
    assert One(1) != 1
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(Nothing())
    assert Box("a", place="p", span=1) == Box("a", place="p", span=2)
    assert Box("a", place="p") != Box("a", place="q")
    unlike_itself = float("nan")
    assert One(unlike_itself) == One(unlike_itself), "compared as tuples, so the same object is equal"
    with pytest.raises(TypeError, match="unhashable"):
        hash(Box("a", place="p"))


def test_it_is_shown_as_the_standard_library_shows_it():
    assert repr(Box("a", place="p", span=1)) == repr(StandardBox("a", place="p", span=1)).replace(
        "StandardBox", "Box"
    )
    assert repr(Nothing()) == "Nothing()"
    holder = One([])
    holder.value.append(holder)
    assert repr(holder) == "One(value=[...])"


def test_nothing_is_set_or_deleted_later():
    box = Box("a", place="p")
    for name in ("name", "new"):
        with pytest.raises(dataclasses.FrozenInstanceError, match=name):
            setattr(box, name, 1)
        with pytest.raises(dataclasses.FrozenInstanceError, match=name):
            delattr(box, name)
    assert not hasattr(box, "__dict__")


def test_it_is_copied_replaced_and_pickled():
    box = Box("a", 2, ["n"], place="p", span=(1,))
    for other in (copy.copy(box), copy.deepcopy(box), pickle.loads(pickle.dumps(box))):
        assert other == box
        assert other.span == (1,)
    assert dataclasses.replace(box, size=9).digest == "a-9"
    assert dataclasses.asdict(One(One(1))) == {"value": {"value": 1}}
    with pytest.raises(ValueError, match="digest"):
        dataclasses.replace(box, digest="x")


def test_it_matches_by_place():
    match One(5):
        case One(value):
            assert value == 5


def test_what_is_not_plain_is_left_to_the_standard_library():
    @records.dataclass(frozen=True, slots=True)
    class Own:
        a: int

        def __repr__(self):
            return "mine"

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 1

    @records.dataclass(frozen=True, slots=True)
    class Longer(One):
        more: int = 2

    @records.dataclass(slots=True)
    class Loose:
        a: int = 1

    @records.dataclass
    class Bare:
        a: int = 1

    assert repr(Own(1)) == "mine"
    assert Own(1) == Own(2)
    assert Longer(1) == Longer(1, 2) != Longer(1, 3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Longer(1).value = 2
    loose, bare = Loose(), Bare()
    loose.a = bare.a = 5
    assert (loose, bare) == (Loose(5), Bare(5))


def test_a_mistake_in_a_class_is_told_as_ever():
    with pytest.raises(ValueError, match="mutable default"):

        @records.dataclass(frozen=True, slots=True)
        class Shared:
            items: list = []  # noqa: RUF012  # the mistake

    with pytest.raises(TypeError, match="non-default"):

        @records.dataclass(frozen=True, slots=True)
        class Backwards:
            a: int = 1
            b: int
