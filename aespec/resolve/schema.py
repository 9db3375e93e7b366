"""How a block of the language is described: the one table that resolving, help and grammars come from."""

from __future__ import annotations

from functools import cached_property

from aespec.records import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """An attribute (`name = value` in a body) or an argument (in parentheses).

    `kind` names a converter (`converters.py`); `default` is what counts where it is left out, in the model's
    own units (seconds, bytes); `low` and `high` bound numbers, in the same units, both included.
    """

    name: str
    kind: str
    doc: str
    default: object = None
    is_required: bool = False
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Block:
    """One kind of statement at one place.

    `id` is `PARENT.KEYWORD`; `label` and `sentence` name kinds of what follows the keyword ("" for none);
    `tails` are the ways it may end: `body`, `heredoc`, `value`, `call` (nothing after the parentheses),
    `none`. Without a label, arguments may be positional, in the order of `args`. `languages` are the tags
    that its heredoc may have (empty: any known). `times`: `many`, `once`, `needed` (exactly once) or `some`.
    `is_open_call`: its arguments are names that it declares.
    """

    id: str
    doc: str
    label: str = ""
    sentence: str = ""
    args: tuple[Field, ...] = ()
    attributes: tuple[Field, ...] = ()
    children: tuple[str, ...] = ()
    tails: tuple[str, ...] = ("body",)
    languages: tuple[str, ...] = ()
    takes_predicates: bool = False
    is_open_call: bool = False
    times: str = "many"
    example: str = ""

    @cached_property
    def keyword(self) -> str:
        """The word that it begins with."""
        return self.id.rpartition(".")[2]

    @cached_property
    def children_by_keyword(self) -> dict[str, str]:
        """The ids of what may stand in it, by the words that they begin with."""
        return {child.rpartition(".")[2]: child for child in self.children}

    @cached_property
    def _fields(self) -> dict[str, Field]:
        return {item.name: item for item in self.attributes}

    @cached_property
    def _args(self) -> dict[str, Field]:
        return {item.name: item for item in self.args}

    def field(self, name: str) -> Field | None:
        """The attribute of that name."""
        return self._fields.get(name)

    def arg(self, name: str) -> Field | None:
        """The argument of that name."""
        return self._args.get(name)
