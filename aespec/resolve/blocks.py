"""Every block of the language, with its attributes, units, defaults and where it may stand."""

from __future__ import annotations

from aespec.resolve.schema import Block, Field

GiB = 1024**3
MiB = 1024**2
DAY_S = 86400.0

# fmt: off
LANGUAGES = frozenset({
    "asm", "awk", "bash", "bat", "c", "cfg", "clojure", "cmake", "cobol", "conf", "cpp", "crontab",
    "css", "csv", "cuda", "cypher", "d", "dart", "desktop", "diff", "dockerfile", "dotenv", "elixir",
    "elm", "env", "erlang", "fortran", "gitignore", "go", "gradle", "graphql", "groovy", "haskell",
    "hcl", "html", "http", "ini", "java", "javascript", "js", "json", "jsonl", "jsx", "julia",
    "kotlin", "latex", "less", "lisp", "log", "lua", "make", "makefile", "markdown", "md", "nginx",
    "nim", "nix", "objc", "ocaml", "pascal", "patch", "perl", "php", "plain", "powershell",
    "properties", "protobuf", "ps1", "python", "r", "rst", "ruby", "rust", "scala", "scss", "service",
    "sh", "sql", "svelte", "svg", "swift", "systemd", "tcl", "tex", "text", "toml", "triton", "ts",
    "tsv", "tsx", "txt", "typescript", "ui", "vb", "vim", "vue", "xml", "yaml", "yml", "zig",
})
# fmt: on
"""Tags of heredocs. Only sh, python, json and sql change how a value is written in; `text` fits all."""

_MODE = Field("mode", "mode", "Permission bits in octal, in quotes.", default=0o644)
_OWNER = Field("owner", "account", "Account that owns it; below `workdir` the agent, else root.", default="")
_FROM = Field(
    "from", "sources", "Values, and paths of the start state, that the program may see.", default=()
)
_VERBATIM = Field("verbatim", "bool", "Leave `{{ … }}` in the text alone.", default=False)
_INSTANCE = Field("instance", "integer", "Seed of the one instance that it was written for.", low=0)

_FILE_ARGS = (
    _MODE,
    _OWNER,
    Field("newline", "enum", "Line ends.", default="lf", choices=("lf", "crlf")),
    Field(
        "encoding",
        "enum",
        "How the text becomes bytes.",
        default="utf-8",
        choices=("utf-8", "utf-8-sig", "utf-16", "latin-1"),
    ),
    _VERBATIM,
)
_GENERATE_ARGS = (_FROM, _MODE, _OWNER)
_ASSET_ARGS = (
    Field("from", "asset", "File beside the spec, relative, inside its folder.", is_required=True),
    _MODE,
    _OWNER,
)
_COMPUTED = ("value", "heredoc")
_CONDITIONS = ("condition.any", "condition.not")
_EDITS = ("edit.swap", "edit.put", "edit.delete")

_TOP = (
    Block(
        "file",
        "A `.aes` file: its version, what it uses, its fragments and its task.",
        attributes=(Field("aes", "integer", "Version of the language.", is_required=True, low=1),),
        children=("file.task", "file.fragment", "file.use"),
    ),
    Block(
        "file.use",
        "Brings the fragments of another file under a name.",
        label="name",
        tails=("value",),
        example='use web = "web.aes"',
    ),
    Block("file.fragment", "Statements to be used again.", label="name", is_open_call=True),
    Block(
        "file.task",
        "A task: what the solver finds, is told, and is judged by.",
        label="task-name",
        times="needed",
        attributes=(
            Field("domain", "word", "Subject area.", is_required=True),
            Field("title", "string", "One line for people.", is_required=True),
        ),
        children=(
            "task.meta",
            "task.limits",
            "task.param",
            "task.let",
            "task.hidden",
            "task.answer",
            "task.secret",
            "task.setup",
            "task.instruction",
            "task.oracle",
            "task.verify",
            "task.accept",
            "task.reject",
            "task.partial",
            "task.allow",
        ),
        example='task "ledger-totals" { … }',
    ),
)

_TASK = (
    Block(
        "task.meta",
        "What people sort tasks by; none of it reaches the solver.",
        times="once",
        attributes=(
            Field(
                "difficulty",
                "enum",
                "How hard it is for a skilled person.",
                default="medium",
                choices=("trivial", "easy", "medium", "hard", "expert"),
            ),
            Field("tags", "words", "Words to find it by.", default=()),
            Field("license", "string", "SPDX licence of the task and its data.", default=""),
            Field("authors", "strings", "Who made it.", default=()),
            Field("source", "word", "Where it comes from.", default=""),
            Field("category", "word", "Kind of work.", default=""),
            Field("expert_time", "duration", "Time that a skilled person needs.", low=1, high=90 * DAY_S),
        ),
        example='meta { difficulty = easy  tags = ["csv"]  license = "CC0-1.0" }',
    ),
    Block(
        "task.limits",
        "Resources of a trial.",
        times="once",
        attributes=(
            Field("cpu", "number", "Processor cores.", default=1.0, low=0.1, high=1024),
            Field("memory", "size", "Memory.", default=2 * GiB, low=16 * MiB, high=16384 * GiB),
            Field("disk", "size", "Disk.", default=4 * GiB, low=16 * MiB, high=16384 * GiB),
            Field(
                "agent_time", "duration", "Time that the solver has.", default=900.0, low=1, high=30 * DAY_S
            ),
            Field("verify_time", "duration", "Time for judging.", default=300.0, low=1, high=DAY_S),
            Field(
                "build_time", "duration", "Time to build the start state.", default=600.0, low=1, high=DAY_S
            ),
            Field(
                "network", "network", "The task's network: `none`, `open` or a list of hosts.", default="none"
            ),
        ),
        example="limits { cpu = 1  memory = 1GiB  agent_time = 10m  network = none }",
    ),
    Block(
        "task.param",
        "A typed parameter: the spec is a family.",
        label="value-name",
        tails=("value",),
        example="param rows = int(80, 400)",
    ),
    Block(
        "task.let",
        "A computed value that may be shown.",
        label="value-name",
        args=(_FROM,),
        tails=_COMPUTED,
        languages=("python",),
        example='let greeting = "Hello {{ p.name }}"',
    ),
    Block(
        "task.hidden",
        "A computed world that fixtures and answers are made from; it never stands in a text.",
        label="value-name",
        args=(_FROM,),
        tails=_COMPUTED,
        languages=("python",),
    ),
    Block(
        "task.answer",
        "A value computed from the start state, for the verifier only.",
        label="value-name",
        args=(_FROM,),
        tails=_COMPUTED,
        languages=("python",),
        example='answer totals (from = "/app/ledger.csv") <<<python … >>>',
    ),
    Block(
        "task.secret",
        "A value chosen before the build; it enters setup only through `plant`.",
        label="value-name",
        tails=("value",),
        example="secret token = hex(32)",
    ),
    Block(
        "task.instruction",
        "What the solver reads, besides the checks' sentences.",
        tails=("heredoc",),
        languages=("md", "markdown", "text", "txt", ""),
        times="needed",
    ),
    Block(
        "task.oracle",
        "The reference solution, run as the agent in `workdir`.",
        tails=("heredoc",),
        languages=("sh", "python", "ui"),
        times="needed",
    ),
    Block(
        "task.accept",
        "Another right way: it must get the full reward.",
        label="text",
        args=(_INSTANCE,),
        tails=("heredoc", "body"),
        languages=("sh", "python", "ui"),
        children=_EDITS,
    ),
    Block(
        "task.reject",
        "A wrong solution: what `breaks` names must fail.",
        label="text",
        args=(Field("breaks", "names", "Checks and rules that must fail.", is_required=True), _INSTANCE),
        tails=("heredoc", "body"),
        languages=("sh", "python", "ui"),
        children=_EDITS,
        example='reject "counts twice" (breaks = duplicates) { swap(oracle, "old", "new") }',
    ),
    Block(
        "task.partial",
        "An incomplete solution with the reward that it should get; needs `score { }`.",
        label="text",
        args=(
            Field("reward", "number", "The expected reward.", is_required=True, low=0, high=1),
            Field("breaks", "names", "Checks and rules that must fail.", default=()),
            _INSTANCE,
        ),
        tails=("heredoc", "body"),
        languages=("sh", "python", "ui"),
        children=_EDITS,
    ),
    Block(
        "task.allow",
        "A decision about a warning, with its reason.",
        args=(
            Field("slug", "word", "The warning.", is_required=True),
            Field("because", "string", "Why it is right here.", is_required=True),
        ),
        tails=("call",),
        example='allow(network-open, because = "the task is about an outage")',
    ),
    Block(
        "edit.swap",
        "Replaces a text that stands exactly once.",
        tails=("call",),
        args=(
            Field(
                "path", "edit-target", "A file, or `oracle` for the oracle's own program.", is_required=True
            ),
            Field("old", "text", "What stands there.", is_required=True),
            Field("new", "text", "What takes its place.", is_required=True),
        ),
        example='swap(oracle, "if id in seen: continue", "")',
    ),
    Block(
        "edit.put",
        "Writes a whole file.",
        tails=("heredoc",),
        args=(Field("path", "file-path", "The file.", is_required=True), _VERBATIM),
    ),
    Block(
        "edit.delete",
        "Deletes a file.",
        tails=("call",),
        args=(Field("path", "path", "The file or folder.", is_required=True),),
    ),
)

_SETUP = (
    Block(
        "task.setup",
        "The start state, as an image: base, packages, then steps in the order written.",
        times="once",
        attributes=(
            Field("base", "image", "An image's public name; left out, the domain's own."),
            Field("apt", "debian-packages", "Debian packages.", default=()),
            Field("pip", "python-packages", "Python packages, pinned by `==`.", default=()),
            Field("env", "env", "Environment variables of the image.", default=()),
            Field("workdir", "constant-path", "Made, and given to the agent.", default="/app"),
            Field("agent", "account-name", "The account that the agent is.", default="agent"),
        ),
        children=(
            "setup.user",
            "setup.file",
            "setup.generate",
            "setup.asset",
            "setup.repo",
            "setup.service",
            "setup.run",
            "setup.plant",
            "setup.dockerfile",
        ),
    ),
    Block(
        "setup.user",
        "An account of the start state.",
        label="account-name",
        args=(
            Field(
                "uid", "integer", "Its number; the next free one from 1100 if left out.", low=1, high=60000
            ),
            Field("home", "constant-path", "Its home folder; `/home/NAME` if left out."),
        ),
        tails=("none",),
        example='user "web" (uid = 1100, home = "/srv/web")',
    ),
    Block(
        "setup.file",
        "A file of the start state.",
        label="setup-path",
        args=_FILE_ARGS,
        tails=("heredoc",),
        example='file "/app/a.txt" (mode = "0644") <<<text … >>>',
    ),
    Block(
        "setup.generate",
        "A file, or with a closing `/` a folder, that a program makes.",
        label="setup-path-or-folder",
        args=_GENERATE_ARGS,
        tails=("heredoc",),
        languages=("python",),
    ),
    Block(
        "setup.asset",
        "A file beside the spec.",
        label="setup-path",
        args=_ASSET_ARGS,
        tails=("none",),
        example='asset "/app/logo.png" (from = "logo.png")',
    ),
    Block(
        "setup.repo",
        "A git repository with a history.",
        label="setup-path",
        args=(_OWNER,),
        attributes=(
            Field(
                "delete_branch",
                "branches",
                "Branches deleted at the end; their commits stay unreachable.",
                default=(),
            ),
            Field("checkout", "branch", "The branch that is checked out.", default="main"),
        ),
        children=("repo.commit",),
    ),
    Block(
        "repo.commit",
        "One commit.",
        label="text",
        args=(
            Field("branch", "branch", "Its branch; a new one starts from the commit before.", default="main"),
            Field("author", "string", "`Name <address>`.", default=""),
            Field("date", "date", "ISO date, perhaps with a time.", default=""),
        ),
        children=("commit.file", "commit.generate", "commit.asset", "commit.delete"),
    ),
    Block("commit.file", "A file of the commit.", label="repo-path", args=_FILE_ARGS, tails=("heredoc",)),
    Block(
        "commit.generate",
        "A file of the commit that a program makes.",
        label="repo-path",
        args=_GENERATE_ARGS,
        tails=("heredoc",),
        languages=("python",),
    ),
    Block("commit.asset", "A file beside the spec.", label="repo-path", args=_ASSET_ARGS, tails=("none",)),
    Block(
        "commit.delete",
        "Deletes a file of an earlier commit.",
        args=(Field("path", "repo-path", "The file, relative to the repository.", is_required=True),),
        tails=("call",),
    ),
    Block(
        "setup.service",
        "A process that lives during the trial.",
        label="name",
        args=(
            Field("run", "text", "Its command.", is_required=True),
            Field("port", "integer", "The port that it listens on.", low=1, high=65535),
            Field("user", "account", "The account that it runs as.", default="root"),
            Field("health", "text", "A command that succeeds once it is up."),
        ),
        tails=("none",),
        example='service api (run = "python3 /srv/api.py", port = 8080)',
    ),
    Block(
        "setup.run",
        "A build step.",
        args=(
            Field("network", "bool", "Whether it may use the network.", default=False),
            Field("user", "account", "The account that it runs as.", default="root"),
        ),
        tails=("heredoc",),
        languages=("sh",),
    ),
    Block(
        "setup.plant",
        "Puts a secret where it is to be found.",
        label="secret",
        args=(Field("how", "plant", "`file(path)`, `append(path)` or `env(name)`.", is_required=True),),
        tails=("none",),
        example='plant secret.token (how = append("/app/.env"))',
    ),
    Block(
        "setup.dockerfile",
        "Dockerfile lines after the packages: the way out.",
        tails=("heredoc",),
        languages=("dockerfile",),
        times="once",
    ),
)

_VERIFY = (
    Block(
        "task.verify",
        "The judge.",
        times="needed",
        attributes=(Field("artifacts", "paths", "Further paths carried to the verifier.", default=()),),
        children=(
            "verify.check",
            "verify.hidden",
            "verify.twin",
            "verify.free",
            "verify.score",
        ),
    ),
    Block(
        "verify.hidden",
        "A file that only the verifier has.",
        label="file-name",
        args=(_VERBATIM,),
        tails=("heredoc",),
    ),
    Block(
        "verify.check",
        "A named group of predicates with the sentence that tells the solver.",
        label="id",
        times="some",
        args=(
            Field("weight", "number", "Its share of a partial reward.", default=1.0, low=0.001, high=1000),
            Field("gate", "bool", "Whether its failure makes a partial reward 0.", default=False),
        ),
        attributes=(Field("says", "text", "What the solver is told."),),
        children=("check.rule", *_CONDITIONS),
        takes_predicates=True,
    ),
    Block(
        "check.rule",
        "A sentence about how, with predicates of its own where it has any.",
        label="id",
        sentence="text",
        tails=("body", "none"),
        children=_CONDITIONS,
        takes_predicates=True,
        example='rule refunds "Refunds count negative."',
    ),
    Block("condition.any", "One of its statements holds.", children=_CONDITIONS, takes_predicates=True),
    Block("condition.not", "Not all of its statements hold.", children=_CONDITIONS, takes_predicates=True),
    Block(
        "verify.twin",
        "Another draw of the fixtures that the solver's program is run on.",
        label="name",
        attributes=(Field("seed", "seed", "`fresh`, or a number.", default=None),),
        example="twin other { seed = fresh }",
    ),
    Block(
        "verify.free",
        "A named freedom: the leaf may be anything.",
        args=(
            Field("leaf", "leaf", "`PATH` or `PATH#SELECTOR`.", is_required=True),
            Field("because", "string", "Why it is left open.", is_required=True),
        ),
        tails=("call",),
    ),
    Block("verify.score", "Opts into partial credit.", times="once"),
)

BLOCKS: dict[str, Block] = {item.id: item for item in (*_TOP, *_TASK, *_SETUP, *_VERIFY)}
"""Every block by its id; `each` and `use` may stand in any body and are expanded before."""

EXPANDED = ("use", "each")
"""Statements that stand for others."""

RESERVED_WORDS = {
    "step": "a task has one step for now; the word is kept for tasks of several",
    "scenario": "acts in order come in a later version",
}
"""Words that mean something later."""


def places_of(keyword: str) -> tuple[str, ...]:
    """The ids of the blocks in which a keyword (of a block or an attribute) may stand."""
    return tuple(
        block.id for block in BLOCKS.values() if block.field(keyword) or keyword in block.children_by_keyword
    )
