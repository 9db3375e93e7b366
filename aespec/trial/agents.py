"""Who acts in a trial: the oracle, nobody, a script, or an example of the spec."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from aespec.bundle.plan import Bundle
from aespec.trial.examples import BundleExample, ScriptText, read_examples

EXAMPLE_KINDS = ("accept", "reject", "partial")


class AgentError(ValueError):
    """There is no such agent; the message says which there are."""


@dataclass(frozen=True, slots=True)
class Agent:
    """What acts. `name` is what the result says (`oracle`, `nop`, `script:NAME`, `reject:NAME`).

    Nothing to run means `nop`. `example` acts with the solution at hand, a bare `script` without it.
    """

    name: str
    script: ScriptText | None = None
    example: BundleExample | None = field(default=None, repr=False)

    @property
    def has_solution(self) -> bool:
        """Whether the bundle's solution lies in `/solution`."""
        return self.name == "oracle" or self.example is not None


ORACLE = Agent("oracle")
NOP = Agent("nop")


def example_agent(example: BundleExample) -> Agent:
    """The agent that carries an example out."""
    return Agent(f"{example.kind}:{example.name}", example.script, example)


def script_agent(path: Path) -> Agent:
    """A script of the user's own, run as the agent; Python if it says so in its name or first line.

    Raises `AgentError` where it can't be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise AgentError(f"{path} can't be read as a script: {fault}") from None
    is_python = path.suffix == ".py" or "python" in text.partition("\n")[0]
    return Agent(f"script:{path.name}", ScriptText("python" if is_python else "sh", text))


def find_agent(bundle: Bundle, name: str) -> Agent:
    """The agent of that name: `oracle`, `nop`, `accept:NAME`, `reject:NAME`, `partial:NAME`, or a path.

    Raises `AgentError`, and `BundleError` where the bundle has no examples.
    """
    if name == "oracle":
        return ORACLE
    if name == "nop":
        return NOP
    kind, _, label = name.partition(":")
    if kind in EXAMPLE_KINDS:
        examples = read_examples(bundle).of_kind(kind)
        for example in examples:
            if example.name == label:
                return example_agent(example)
        known = ", ".join(repr(example.name) for example in examples) or "none"
        raise AgentError(f"there is no {kind} {label!r}; the bundle has {known}")
    return script_agent(Path(label if kind == "script" else name))
