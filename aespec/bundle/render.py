"""Templates to text. The one place where jinja2 is used; it is imported for the first template."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from aespec.bundle.interpreters import PYTHONS
from aespec.bundle.quoting import FILTERS, Quoted
from aespec.resources import folder

if TYPE_CHECKING:
    from jinja2 import Environment


class UnfilteredError(TypeError):
    """A template prints a value that no quoting filter has been applied to: a bug of the template."""


def render_template(template: str, /, **values: Any) -> str:
    """The template `templates/NAME`, rendered. Values are data: braces in them mean nothing.

    Raises `UnquotableError` for a value that the file's format can't hold. An unknown name in a template and
    a value printed without a filter raise too: both are bugs, never a spec's fault.
    """
    return _environment().get_template(template).render(**values)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(
        loader=FileSystemLoader(folder("templates")),
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        line_statement_prefix=None,
        finalize=_require_quoted,
        auto_reload=False,
    )
    environment.filters = dict(FILTERS)
    environment.globals["pythons"] = PYTHONS
    return environment


def _require_quoted(value: object) -> object:
    if isinstance(value, Quoted):
        return value
    raise UnfilteredError(f"{type(value).__name__} printed without a quoting filter")
