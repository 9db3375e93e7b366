"""The content of an output, as bytes and as text, and the edit that gives it another one."""

from __future__ import annotations

from aespec.model.edit import Edit
from aespec.model.edit_forms import change
from aespec.operators.api import Output
from aespec.operators.kinds import LIMIT_BYTES, text_of

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def data_of(output: Output) -> bytes:
    """The content of the regular file that an output is; empty for anything else."""
    return output.after.data if output.after is not None and output.after.kind == "file" else b""


def data_before(output: Output) -> bytes:
    """The content of the regular file that stood there in the start state; empty for anything else."""
    return output.before.data if output.before is not None and output.before.kind == "file" else b""


def text_in(output: Output) -> str:
    """The text of an output without a byte order mark; "" where it is none, or larger than is looked into."""
    data = data_of(output)
    return (text_of(data) or "") if len(data) <= LIMIT_BYTES else ""


def is_marked(output: Output) -> bool:
    """Whether a byte order mark begins the text, so that a parser of its pointers' edits would stumble."""
    return data_of(output).startswith(BYTE_ORDER_MARK)


def rewrite(output: Output, text: str) -> Edit:
    """The smallest edit that gives an output's file another text; a byte order mark stays."""
    mark = BYTE_ORDER_MARK if is_marked(output) else b""
    return change(output.path, data_of(output), mark + text.encode("utf-8", "surrogatepass"))
