"""Parameter and secret values drawn from their generators: equal seeds, equal values, on every Python."""

from __future__ import annotations

import datetime as dt
import hashlib
import math
import random
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal

from aespec.evaluate.words import WORDS
from aespec.model.expressions import CallExpr, Expr, Json, Kind, ListExpr, Values
from aespec.model.rendering import value_of
from aespec.runtime.wording import counted


class GeneratorError(ValueError):
    """The arguments of a generator leave nothing to draw; the message says why."""


class Draw:
    """A seeded source. Only `getrandbits` is used, whose sequence no Python release has changed.

    `random.randint`, `choice` and `shuffle` have changed between releases, so they aren't used.
    """

    def __init__(self, seed: str) -> None:
        """`seed` is hashed by the standard library's version-2 scheme (SHA-512)."""
        self._random = random.Random(seed)

    def below(self, count: int) -> int:
        """An integer with `0 <= n < count`, uniform (by rejection)."""
        width = count.bit_length()
        while True:
            drawn = self._random.getrandbits(width)
            if drawn < count:
                return drawn

    def between(self, low: int, high: int) -> int:
        """An integer with `low <= n <= high`, uniform."""
        return low + self.below(high - low + 1)


def instance_seed(seed: int, index: int) -> int:
    """The seed of the `index`-th instance (from 0) of a family with `seed`: the first is `seed` itself.

    The others are 31 bits of a SHA-256, so that the families of neighbouring seeds share none.
    """
    if index == 0:
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed}/{index}".encode()).digest()[:4], "big") >> 1


def instance_seeds(seed: int, count: int) -> tuple[int, ...]:
    """The seeds of the first `count` instances, all different."""
    found: list[int] = []
    for drawn in iterate_seeds(seed):
        if len(found) == count:
            break
        found.append(drawn)
    return tuple(found)


def iterate_seeds(seed: int) -> Iterator[int]:
    """The seeds of the instances of a family, without end and without repetition."""
    seen: set[int] = set()
    index = 0
    while True:
        drawn = instance_seed(seed, index)
        index += 1
        if drawn not in seen:
            seen.add(drawn)
            yield drawn


def draw_value(task: str, seed: int, *, kind: Kind, name: str, generator: CallExpr, values: Values) -> Json:
    """The value of one parameter or secret; raises `GeneratorError`. No other draw influences it."""
    return generate(generator, Draw(f"{task}/{seed}/{kind.value}.{name}"), values)


def generate(generator: CallExpr, draw: Draw, values: Values) -> Json:
    """A value of a generator; its arguments may be values that are known. Raises `GeneratorError`."""
    make = GENERATORS.get(generator.name)
    if make is None:
        raise GeneratorError(f"there is no generator {generator.name}")
    return make(generator, draw, values)


def _argument(call: CallExpr, name: str, values: Values, default: Json = None) -> Json:
    expr = call.arg(name)
    return default if expr is None else value_of(expr, values)


def _integer_argument(call: CallExpr, name: str, values: Values, default: int | None = None) -> int:
    value = _argument(call, name, values, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise GeneratorError(f"{call.name} wants an integer as {name}, not {value!r}")
    return value


def _bounds(call: CallExpr, values: Values) -> tuple[int, int]:
    low, high = _integer_argument(call, "low", values), _integer_argument(call, "high", values)
    if low > high:
        raise GeneratorError(f"{call.name}({low}, {high}) is empty: the first bound is the lower one")
    return low, high


def _int(call: CallExpr, draw: Draw, values: Values) -> Json:
    return draw.between(*_bounds(call, values))


def _log_int(call: CallExpr, draw: Draw, values: Values) -> Json:
    low, high = _bounds(call, values)
    if low < 1:
        raise GeneratorError(f"log_int starts at 1 or above, not at {low}")
    # Uniform over the powers of two, then within one: no logarithm, whose last digit differs by machine.
    width = draw.between(low.bit_length(), high.bit_length())
    return draw.between(max(low, 1 << (width - 1)), min(high, (1 << width) - 1))


def _float(call: CallExpr, draw: Draw, values: Values) -> Json:
    digits = _integer_argument(call, "digits", values, 2)
    if not 0 <= digits <= 12:
        raise GeneratorError(f"float draws 0 to 12 digits, not {digits}")
    ends = []
    for name in ("low", "high"):
        value = _argument(call, name, values)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise GeneratorError(f"float wants a number as {name}, not {value!r}")
        ends.append(Decimal(repr(value)).scaleb(digits))
    low, high = math.ceil(ends[0]), math.floor(ends[1])
    if low > high:
        raise GeneratorError(f"float has no value of {counted(digits, 'digit')} between its bounds")
    return float(Decimal(draw.between(low, high)).scaleb(-digits))


def _bool(call: CallExpr, draw: Draw, values: Values) -> Json:
    return bool(draw.below(2))


def _choice(call: CallExpr, draw: Draw, values: Values) -> Json:
    items: list[Expr] = [value for _, value in call.args]
    if len(items) == 1 and isinstance(items[0], ListExpr):
        items = list(items[0].items)
    if not items:
        raise GeneratorError("choice has nothing to choose from")
    return value_of(items[draw.below(len(items))], values)


def _words(call: CallExpr, draw: Draw, values: Values) -> Json:
    count = _integer_argument(call, "count", values, 1)
    if not 1 <= count <= len(WORDS):
        raise GeneratorError(f"words draws 1 to {len(WORDS)} words, not {count}")
    left = list(WORDS)
    return " ".join([left.pop(draw.below(len(left))) for _ in range(count)])


def _date(call: CallExpr, draw: Draw, values: Values) -> Json:
    days = []
    for (_, expr), name in zip(call.args, ("first", "last"), strict=False):
        text = value_of(expr, values)
        try:
            days.append(dt.date.fromisoformat(str(text)).toordinal())
        except ValueError:
            raise GeneratorError(f"date wants YYYY-MM-DD as its {name} day, not {text!r}") from None
    if len(days) != 2 or days[0] > days[1]:
        raise GeneratorError("date wants two days, the first one first")
    return dt.date.fromordinal(draw.between(*days)).isoformat()


def _hex(call: CallExpr, draw: Draw, values: Values) -> Json:
    length = _integer_argument(call, "length", values, 16)
    if not 1 <= length <= 1024:
        raise GeneratorError(f"hex draws 1 to 1024 digits, not {length}")
    return "".join("0123456789abcdef"[draw.below(16)] for _ in range(length))


def _list(call: CallExpr, draw: Draw, values: Values) -> Json:
    item, length = call.arg("generator"), call.arg("length")
    if not isinstance(item, CallExpr):
        raise GeneratorError("list wants a generator as its first argument")
    count = generate(length, draw, values) if isinstance(length, CallExpr) else None
    if count is None:
        count = _integer_argument(call, "length", values)
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= 100_000:
        raise GeneratorError(f"list wants a length from 0 to 100000, not {count!r}")
    return [generate(item, draw, values) for _ in range(count)]


GENERATORS: Mapping[str, Callable[[CallExpr, Draw, Values], Json]] = {
    "bool": _bool,
    "choice": _choice,
    "date": _date,
    "float": _float,
    "hex": _hex,
    "int": _int,
    "list": _list,
    "log_int": _log_int,
    "words": _words,
}
"""The typed generators of the language by name."""
