"""`grammar/aes.lark` and the tables made from it, which lie beside it so that no command waits for Lark."""

from __future__ import annotations

import json
import re
from functools import cache
from hashlib import sha256
from typing import Any

from aespec.records import dataclass
from aespec.resources import folder

GRAMMAR_FILE = "aes.lark"
"""The one definition of the syntax, below the `grammar` folder."""

TABLES_FILE = "aes.tables.json"
"""The tables that belong to it. A test holds that they do, and writes them anew with AESPEC_UPDATE=1."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is done when a rule is recognised: its `size` topmost values become one.

    `children` tells which: an index; `~index` for a list of values that are put in one by one; None for an
    optional part that isn't there. `method` of the node builder is given them; where it is empty they are
    the value themselves, as a list (`is_list`) or as the only one.
    """

    name: str
    size: int
    children: tuple[int | None, ...]
    method: str
    is_list: bool


@dataclass(frozen=True, slots=True)
class Tables:
    """An LALR automaton. `pattern` has a group for each terminal, in the order in which they are tried.

    `states[i]` has for each symbol that may follow the next state, or `~rule` for the rule that ends there.
    In `end` the whole text was read.
    """

    pattern: str
    start: int
    end: int
    rules: tuple[Rule, ...]
    states: tuple[dict[str, int], ...]


def grammar_text() -> str:
    """The text of the grammar, as other engines (constrained decoding) read it too."""
    return (folder("grammar") / GRAMMAR_FILE).read_text(encoding="utf-8")


@cache
def load_tables() -> Tables:
    """The tables as kept, or made now (50 ms of CPU) where those aren't of this grammar."""
    grammar = grammar_text()
    try:
        kept = json.loads((folder("grammar") / TABLES_FILE).read_bytes())
        if kept["grammar"] == _digest(grammar):
            return tables_from_json(kept)
    except (OSError, ValueError, KeyError, TypeError):
        pass  # no tables, or half of them: they can be made
    return make_tables(grammar)


@cache
def token_pattern() -> re.Pattern[str]:
    """All terminals as one expression with a group each, tried in the order of Lark's basic lexer."""
    return re.compile(load_tables().pattern)


def make_tables(grammar: str) -> Tables:
    """The tables that Lark makes from a grammar."""
    import lark
    from lark.parsers.lalr_analysis import Shift

    parser = lark.Lark(grammar, parser="lalr", lexer="basic", start="start", maybe_placeholders=True)
    terminals = sorted(
        parser.terminals,
        key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name),
    )
    # The numbers that Lark gives to states differ from run to run; ours are those of a walk from the start.
    table = parser.parse_interactive().parser_state.parse_conf
    rules = {rule: number for number, rule in enumerate(parser.rules)}
    order, numbers = [table.start_state], {table.start_state: 0}
    for state in order:
        for _symbol, (action, target) in sorted(table.states[state].items()):
            if action is Shift and target not in numbers:
                numbers[target] = len(order)
                order.append(target)
    return Tables(
        pattern="|".join(f"(?P<{t.name}>{t.pattern.to_regexp()})" for t in terminals),
        start=0,
        end=numbers[table.end_state],
        rules=tuple(_rule(rule) for rule in parser.rules),
        states=tuple(
            {
                symbol: numbers[target] if action is Shift else ~rules[target]
                for symbol, (action, target) in sorted(table.states[state].items())
            }
            for state in order
        ),
    )


def _rule(rule: Any) -> Rule:
    """A rule as Lark's own tree builder would carry it out; for that, see `lark.parse_tree_builder`."""
    name, symbols, options = rule.origin.name, rule.expansion, rule.options
    assert rule.alias is None
    assert not options.keep_all_tokens
    assert not any(symbol.is_term and symbol.filter_out for symbol in symbols), "every terminal has a name"
    children: list[int | None] = []
    parts = iter(enumerate(symbols))
    for is_missing in options.empty_indices or [False] * len(symbols):
        if is_missing:
            children.append(None)
        else:
            index, symbol = next(parts)
            children.append(~index if symbol.name.startswith("_") else index)
    is_list = name.startswith("_")
    is_only = options.expand1 and len(children) == 1
    return Rule(name, len(symbols), tuple(children), "" if is_list or is_only else name, is_list)


def tables_to_json(tables: Tables, grammar: str) -> str:
    """The text of the file of tables: a line for each rule and each state."""
    rules = [
        json.dumps([rule.name, rule.size, list(rule.children), rule.method, rule.is_list])
        for rule in tables.rules
    ]
    head = {"grammar": _digest(grammar), "pattern": tables.pattern, "start": tables.start, "end": tables.end}
    lines = [
        *(f'"{name}": {json.dumps(value)},' for name, value in head.items()),
        '"rules": [',
        ",\n".join(rules),
        '],\n"states": [',
        ",\n".join(json.dumps(state) for state in tables.states),
        "]",
    ]
    return "\n".join(["{", *lines, "}", ""])


def tables_from_json(kept: Any) -> Tables:
    """The tables of a file. Raises ValueError, KeyError or TypeError where it isn't one."""
    rules = tuple(
        Rule(name, size, tuple(children), method, is_list)
        for name, size, children, method, is_list in kept["rules"]
    )
    return Tables(kept["pattern"], kept["start"], kept["end"], rules, tuple(kept["states"]))


def _digest(grammar: str) -> str:
    return sha256(grammar.encode()).hexdigest()
