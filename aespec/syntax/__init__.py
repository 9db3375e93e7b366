"""`.aes` text to a tree and back: `parse`, `print_syntax`, `format_source`, `read_source`.

The tree says what was written and where, and nothing about what it means. The reports are explained in
`aespec.syntax.explanations`, which is imported only when somebody asks.
"""

from typing import TYPE_CHECKING

from aespec.on_demand import on_demand

__all__ = [
    "decode_source",
    "format_source",
    "heredoc_level",
    "parse",
    "print_syntax",
    "read_source",
]

if TYPE_CHECKING:
    from aespec.syntax.formatter import format_source
    from aespec.syntax.heredoc import heredoc_level
    from aespec.syntax.parser import parse
    from aespec.syntax.printer import print_syntax
    from aespec.syntax.reading import decode_source, read_source
else:
    # Most commands read and never print.
    __getattr__ = on_demand(
        __name__,
        {
            "decode_source": "reading",
            "format_source": "formatter",
            "heredoc_level": "heredoc",
            "parse": "parser",
            "print_syntax": "printer",
            "read_source": "reading",
        },
    )
