"""The machine that the grammar's tables drive: a stack of states, and one of what was read so far."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from aespec.syntax.builder import NodeBuilder
from aespec.syntax.grammar import Rule, Tables, load_tables
from aespec.syntax.tokens import END


class MisfitError(Exception):
    """No rule of the grammar goes on with this token."""


class Automaton:
    """Takes tokens in one by one. Rules that are complete become nodes before the next token is taken."""

    def __init__(self) -> None:
        self.tables = load_tables()
        self.table = self.tables.states
        self.actions = _actions()
        self.states = [self.tables.start]
        self.values: list[Any] = []

    def feed(self, kind: str, token: Any) -> None:
        """Take a token of that terminal in. Raises MisfitError, and then it wasn't taken."""
        states, values = self.states, self.values
        while True:
            target = self.table[states[-1]].get(kind)
            if target is None:
                raise MisfitError
            if target >= 0:
                states.append(target)
                values.append(token)
                return
            self._reduce(~target)

    def finish(self) -> Any:
        """The value of the whole text, at its end. Raises MisfitError where something is missing."""
        while self.states[-1] != self.tables.end:
            target = self.table[self.states[-1]].get(END)
            if target is None or target >= 0:
                raise MisfitError
            self._reduce(~target)
        return self.values[-1]

    def accepted(self) -> frozenset[str]:
        """The terminals that could come next."""
        symbols = self.table[self.states[-1]]
        return frozenset(kind for kind in symbols if kind.isupper() and kind != END and self._fits(kind))

    def _reduce(self, number: int) -> None:
        size, action, name = self.actions[number]
        states, values = self.states, self.values
        if size:
            children = values[-size:]
            del values[-size:], states[-size:]
        else:
            children = []
        values.append(action(children))
        states.append(self.table[states[-1]][name])

    def _fits(self, kind: str) -> bool:
        """Whether a terminal would be taken, after all rules that it completes."""
        states = self.states.copy()
        while True:
            target = self.table[states[-1]].get(kind)
            if target is None or target >= 0:
                return target is not None
            rule = self.tables.rules[~target]
            if rule.size:
                del states[-rule.size :]
            states.append(self.table[states[-1]][rule.name])


@cache
def _actions() -> tuple[tuple[int, Callable[[list[Any]], Any], str], ...]:
    """For each rule its size, what makes its value of its children, and its name."""
    tables: Tables = load_tables()
    builder = NodeBuilder()
    return tuple((rule.size, _action(rule, builder), rule.name) for rule in tables.rules)


def _action(rule: Rule, builder: NodeBuilder) -> Callable[[list[Any]], Any]:
    if rule.method:
        make: Callable[[list[Any]], Any] = getattr(builder, rule.method)
    elif rule.is_list:
        make = list
    else:
        (index,) = rule.children
        assert index is not None
        return lambda children: children[index]
    if rule.children == tuple(range(rule.size)):
        return make

    def arrange(children: list[Any]) -> Any:
        arranged: list[Any] = []
        for index in rule.children:
            if index is None:
                arranged.append(None)
            elif index < 0:
                # A repetition grows where it is: copied for each part, long files would cost their square.
                arranged = arranged + children[~index] if arranged else children[~index]
            else:
                arranged.append(children[index])
        return arranged if rule.is_list else make(arranged)

    return arrange
