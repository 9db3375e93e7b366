"""YAML that others wrote, as plain values; written YAML is JSON, which it contains."""

from __future__ import annotations

from typing import Any

TEXT_LIMIT = 256 * 1024
NODES_LIMIT = 50_000
LEVELS_LIMIT = 100
"""How much YAML is read. Aliases count as what they stand for, or ten lines of them would fill the memory."""


def read_yaml(text: str) -> Any:
    """The one document of a text: maps, lists, texts, numbers, truth values, dates, None.

    Only plain YAML is read: a tag that would make an object is an error, but for Compose's `!reset` (None)
    and `!override` (the value itself). Raises `ValueError` with the reason, and where more is in it than
    the limits let pass.
    """
    import yaml

    if len(text) > TEXT_LIMIT:
        raise ValueError(f"more than {TEXT_LIMIT} characters of YAML")
    # The one in C is twenty times as fast, and not in every build of the library.
    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _measure(text, base)
        return yaml.load(text, _loader(base))  # noqa: S506 - it derives from the safe one
    except yaml.MarkedYAMLError as error:
        where = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
        raise ValueError(f"{error.problem or error.context or 'no YAML'}{where}") from None
    except (yaml.YAMLError, ValueError, TypeError, ArithmeticError, AttributeError, KeyError) as error:
        # Dates that are none, numbers too long to read, keys that are maps.
        raise ValueError(str(error).partition("\n")[0][:200] or "no YAML") from None


def _measure(text: str, base: Any) -> None:
    """Raises `ValueError` where the values would be too many or too deep once aliases are followed."""
    import yaml

    sizes: dict[str, int] = {}
    open_nodes: list[tuple[str | None, int]] = []
    total = 0
    for event in yaml.parse(text, base):
        if isinstance(event, yaml.AliasEvent):
            # One that isn't known yet stands inside what it names: it would never end.
            if event.anchor not in sizes:
                raise ValueError(f"the alias *{event.anchor} stands for something around it, or for nothing")
            total += sizes[event.anchor]
        elif isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor, total))
            total += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_nodes.pop()
            if anchor is not None:
                sizes[anchor] = total - before
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            if event.anchor is not None:
                sizes[event.anchor] = 1
        if len(open_nodes) > LEVELS_LIMIT:
            raise ValueError(f"nested more than {LEVELS_LIMIT} levels deep")
        if total > NODES_LIMIT:
            raise ValueError(f"more than {NODES_LIMIT} values, aliases followed")


def _loader(base: Any) -> Any:
    import yaml

    class Loader(base):  # type: ignore[misc]
        """Plain YAML and the tags of Compose."""

    def value(loader: Any, node: yaml.Node) -> Any:
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        return loader.construct_scalar(node)

    Loader.add_constructor("!reset", lambda _loader, _node: None)
    Loader.add_constructor("!override", value)
    return Loader
