"""The typed model of a task: what a spec means once every name in it is bound.

Only `aespec.resolve.resolve` makes a `Task` from text and only `aespec.rules.check` makes a `CheckedTask`.
"""

from __future__ import annotations

from dataclasses import field
from typing import NewType, TypeAlias

from aespec.model.expressions import CallExpr, Expr, Kind, Program, Ref, Text
from aespec.records import dataclass
from aespec.source import Source, Span


@dataclass(frozen=True, slots=True)
class Meta:
    """What people sort tasks by; none of it reaches the solver."""

    difficulty: str = "medium"
    tags: tuple[str, ...] = ()
    license: str = ""
    authors: tuple[str, ...] = ()
    source: str = ""
    category: str = ""
    expert_time_s: float | None = None
    written: frozenset[str] = field(default=frozenset(), compare=False)
    """Names of the attributes that the spec writes out, as the language calls them."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Resources of a trial. `network` is the task's own: `none`, `open`, or the hosts allowed."""

    cpu: float = 1.0
    memory_bytes: int = 2 * 1024**3
    disk_bytes: int = 4 * 1024**3
    agent_time_s: float = 900.0
    verify_time_s: float = 300.0
    build_time_s: float = 600.0
    network: str | tuple[str, ...] = "none"


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter and its typed generator, a call with its arguments under the names of its signature."""

    name: str
    generator: CallExpr
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Computed:
    """`let`, `hidden` or `answer`: an expression or a program, with the start-state paths that it reads."""

    kind: Kind
    name: str
    body: Expr | Program
    reads: tuple[Text, ...] = ()
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Secret:
    """A value chosen before the build by a generator; it enters setup only through `Plant`."""

    name: str
    generator: CallExpr
    span: Span = field(kw_only=True, compare=False, repr=False)


Declaration: TypeAlias = Param | Computed | Secret


@dataclass(frozen=True, slots=True)
class FileStep:
    """`file "/path" (mode, owner) <<<tag` : a file of the start state."""

    path: Text
    content: Text
    mode: int = 0o644
    owner: str = ""
    newline: str = "lf"
    encoding: str = "utf-8"
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GenerateStep:
    """`generate "/path" (from = […]) <<<python`: standard output is the file; a closing `/` makes a folder.

    For a folder the program writes files below `./path/`, its current folder standing for `/`.
    """

    path: Text
    program: Program
    mode: int = 0o644
    owner: str = ""
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AssetStep:
    """`asset "/path" (from = "file beside the spec")`; `data` was read when the spec was resolved."""

    path: Text
    origin: str
    data: bytes = field(repr=False)
    mode: int = 0o644
    owner: str = ""
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RunStep:
    """`run <<<sh`: a build step, as root unless `user` is given; without network unless `network`."""

    script: Text
    user: str = "root"
    has_network: bool = False
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CommitStep:
    """One commit: files put, files deleted, on a branch; `date` is ISO 8601."""

    message: Text
    files: tuple[FileStep | GenerateStep | AssetStep, ...] = ()
    deletes: tuple[Text, ...] = ()
    branch: str = "main"
    author: str = ""
    date: str = ""
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RepoStep:
    """`repo "/path" { commit … branch … delete_branch … }`: a git repository with a history."""

    path: Text
    commits: tuple[CommitStep, ...]
    deleted_branches: tuple[str, ...] = ()
    checkout: str = "main"
    owner: str = ""
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ServiceStep:
    """`service NAME (run = …)`: a process that lives during the trial."""

    name: str
    command: Text
    user: str = "root"
    port: int | None = None
    health: Text | None = None
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PlantStep:
    """`plant SECRET (how = …)`, by `file(path)`, `append(path)` or `env(name)`: a secret to be found."""

    secret: Ref
    how: CallExpr
    span: Span = field(kw_only=True, compare=False, repr=False)


SetupStep: TypeAlias = FileStep | GenerateStep | AssetStep | RunStep | RepoStep | ServiceStep | PlantStep


@dataclass(frozen=True, slots=True)
class Account:
    """A user of the start state."""

    name: str
    uid: int
    home: str
    span: Span | None = field(default=None, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Setup:
    """The start state, as an image: base, packages, then steps in the order written.

    `agent` is the account that the agent is ("root" allowed, and then a shared container is forgeable);
    unless it is root, it is among `accounts`, declared or not.
    `dockerfile` is the way out: raw lines after the packages; only docker-like sandboxes can build them.
    """

    base: str
    apt: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    env: tuple[tuple[str, Text], ...] = ()
    workdir: str = "/app"
    accounts: tuple[Account, ...] = ()
    agent: str = "agent"
    steps: tuple[SetupStep, ...] = ()
    dockerfile: Text | None = None
    base_span: Span | None = field(default=None, compare=False, repr=False)
    attribute_spans: tuple[tuple[str, Span], ...] = field(default=(), compare=False, repr=False)
    """Where the attributes stand that the spec writes out, by their names in the language."""

    @property
    def file_steps(self) -> tuple[FileStep | GenerateStep | AssetStep, ...]:
        """Everything that puts files, what repositories commit included, in the order written."""
        found: list[FileStep | GenerateStep | AssetStep] = []
        for step in self.steps:
            if isinstance(step, RepoStep):
                found += [item for commit in step.commits for item in commit.files]
            elif isinstance(step, FileStep | GenerateStep | AssetStep):
                found.append(step)
        return tuple(found)

    def span_of(self, attribute: str) -> Span | None:
        """Where an attribute stands, or None where it is left out."""
        return dict(self.attribute_spans).get(attribute)


@dataclass(frozen=True, slots=True)
class Claim:
    """A predicate with its arguments bound to parameter names; defaults are not filled in."""

    predicate: str
    args: tuple[tuple[str, Expr], ...]
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AllOf:
    """A body: all of it holds."""

    items: tuple[Condition, ...]
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """`any { }`."""

    items: tuple[Condition, ...]
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NotOf:
    """`not { }`: not all of it holds."""

    items: tuple[Condition, ...]
    span: Span = field(kw_only=True, compare=False, repr=False)


Condition: TypeAlias = Claim | AllOf | AnyOf | NotOf


@dataclass(frozen=True, slots=True)
class Rule:
    """A sentence about how, bound to predicates of its own where it has any."""

    name: str
    sentence: Text
    conditions: tuple[Condition, ...] = ()
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Check:
    """A named group of predicates; `says` None where the predicates' own sentences stand in for it."""

    name: str
    says: Text | None
    rules: tuple[Rule, ...] = ()
    conditions: tuple[Condition, ...] = ()
    weight: float = 1.0
    is_gate: bool = False
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class HiddenFile:
    """A test file that only the verifier has, at `/tests/hidden/NAME`."""

    name: str
    content: Text
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Twin:
    """`twin NAME { seed = fresh }`: another draw of the fixtures to run the solver's program on."""

    name: str
    seed: int | None
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Free:
    """`free("/path#selector", because = "…")`: a named freedom."""

    leaf: Text
    because: str
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Verify:
    """The judge: `is_scored` where `score { }` opts into partial credit; `artifacts` are carried over too."""

    checks: tuple[Check, ...]
    hidden_files: tuple[HiddenFile, ...] = ()
    twins: tuple[Twin, ...] = ()
    frees: tuple[Free, ...] = ()
    artifacts: tuple[Text, ...] = ()
    is_scored: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """A script run from the start state; its tag is its interpreter: `sh`, `python` or `ui`.

    `text.parts` may hold references to stated values, written in by the tag's quoting.
    """

    interpreter: str
    text: Text
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SwapEdit:
    """`swap(PATH, "old", "new")`: `old` stands exactly once; `path` None means the oracle's program."""

    path: Text | None
    old: Text
    new: Text
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PutEdit:
    """`put("/path") <<<…`."""

    path: Text
    content: Text
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DeleteEdit:
    """`delete("/path")`."""

    path: Text
    span: Span = field(kw_only=True, compare=False, repr=False)


AuthorEdit: TypeAlias = SwapEdit | PutEdit | DeleteEdit


@dataclass(frozen=True, slots=True)
class Example:
    """`accept`, `reject` or `partial`: a script, or edits after the oracle.

    `breaks` names the checks (`totals`) or rules (`totals.refunds` or `refunds`) that must fail.
    `instance` picks the instance (its seed) that it was written for; None means all.
    `reward` is the expected partial reward.
    """

    kind: str
    name: str
    body: Script | tuple[AuthorEdit, ...]
    breaks: tuple[str, ...] = ()
    instance: int | None = None
    reward: float | None = None
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Allow:
    """`allow(slug, because = "…")`."""

    slug: str
    because: str
    span: Span = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a task: there is one for now, `step` is reserved."""

    instruction: Text
    oracle: Script
    verify: Verify
    accepts: tuple[Example, ...] = ()
    rejects: tuple[Example, ...] = ()
    partials: tuple[Example, ...] = ()
    instruction_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Task:
    """A resolved spec: names bound, units parsed, defaults applied; not yet checked by the rules."""

    name: str
    domain: str
    title: str
    setup: Setup
    steps: tuple[Step, ...]
    meta: Meta = Meta()
    limits: Limits = Limits()
    declarations: tuple[Declaration, ...] = ()
    allows: tuple[Allow, ...] = ()
    language_version: int = 1
    source: Source = field(kw_only=True, compare=False, repr=False)
    span: Span = field(kw_only=True, compare=False, repr=False)

    @property
    def step(self) -> Step:
        """The only step."""
        return self.steps[0]

    def declaration(self, ref: Ref) -> Declaration | None:
        """What a reference leads to, or None."""
        kinds = {Kind.PARAM: Param, Kind.SECRET: Secret}
        for item in self.declarations:
            is_of_type = isinstance(item, kinds.get(ref.kind, Computed))
            is_of_kind = not isinstance(item, Computed) or item.kind is ref.kind
            if item.name == ref.name and is_of_type and is_of_kind:
                return item
        return None


CheckedTask = NewType("CheckedTask", Task)
"""A task without an error diagnostic; only `aespec.rules.check` makes one."""
