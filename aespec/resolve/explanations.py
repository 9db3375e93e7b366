"""What `aespec explain` says about each report of the resolver, read when it is first asked for."""

from aespec.diagnostics.explanations import Explanation, read_explanations
from aespec.resolve.explained_names import PAGES as NAME_PAGES

_PAGES = r"""
# missing-version: the file doesn't say its version
## What
The first statement isn't `aes = 1`.
## Why
The first line tells which version of the language the rest is in, before anything of it is read.
## Bad
task "ledger-totals" { … }
## Good
aes = 1
task "ledger-totals" { … }

# unsupported-version: the version isn't known here
## What
`aes` is set to another version than this aespec reads.
## Why
A newer version may mean something else by the same words.
## Bad
aes = 2
## Good
aes = 1

# missing-task: the file has no task
## What
There is no `task` block.
## Why
A spec describes exactly one task. A file of fragments is brought in by `use` and isn't compiled itself.
## Bad
aes = 1
## Good
aes = 1
task "ledger-totals" { … }

# second-task: the file has more than one task
## What
There are two `task` blocks.
## Why
A spec's file, its lock and its certificate belong to one task. Files share fragments by `use`.
## Bad
task "a" { … }
task "b" { … }
## Good
task "a" { … }

# missing-block: a block is missing
## What
A block lacks one that it can't be without: a task its `instruction`, `oracle` and `verify`, `verify` a
`check`, `repo` a `commit`.
## Why
Without it there is nothing to tell, to solve, to judge or to check out.
## Bad
task "a" { domain = swe  title = "A" }
## Good
task "a" {
  domain = swe
  title = "A"
  instruction <<<md
    …
  >>>
  oracle <<<sh
    …
  >>>
  verify { check done { … } }
}

# duplicate-block: a block stands twice
## What
Of a block that there is one of, two are written.
## Why
Which of them counts would be a guess.
## Bad
limits { cpu = 1 }
limits { memory = 1GiB }
## Good
limits { cpu = 1  memory = 1GiB }

# misplaced-block: a block stands where it can't
## What
The word is known, but it belongs into another block. A predicate belongs into a check, a rule, `any` or
`not`. A file that is brought in by `use` holds fragments only.
## Why
The same word can mean another thing elsewhere, so nothing is moved silently.
## Bad
setup { limits { cpu = 1 } }
## Good
limits { cpu = 1 }
setup { base = "debian:bookworm-slim" }

# reserved-word: the word is kept for later
## What
`step` and `scenario` will mean something in a later version.
## Why
A file that used them now would change its meaning then.
## Bad
step { instruction <<<md … >>> }
## Good
instruction <<<md
  …
>>>

# wrong-form: the statement has another form
## What
The word is right, and what follows it isn't: a body where a value belongs, a name too many or too few, an
argument in the body, a predicate without parentheses.
## Why
There is one way to say each thing.
## Bad
check kept { unchanged "/app/ledger.csv" }
## Good
check kept { unchanged("/app/ledger.csv") }

# wrong-type: the value is of another type
## What
An attribute or an argument gets a value that it can't take: a number for a text, a quoted text for a bare
name.
## Why
Nothing is converted silently: `"3"` and `3` are not the same to a verifier.
## Bad
limits { cpu = "1" }
## Good
limits { cpu = 1 }

# wrong-unit: the unit is missing, unknown or of another kind
## What
A time span is written with `ms`, `s`, `m`, `h` or `d`, a size with `B`, `KB`, `MB`, `GB`, `TB`, `KiB`,
`MiB`, `GiB` or `TiB`, a share with `%`; other numbers have none.
## Why
A bare number of "memory" has been read as bytes, kilobytes and megabytes by different tools.
## Bad
limits { memory = 512 }
## Good
limits { memory = 512MiB }

# out-of-range: the number is too small or too large
## What
A number lies outside of what the attribute takes, or outside of what the formats hold exactly.
## Why
Most often a unit or a digit is wrong.
## Bad
service api (run = "python3 /srv/api.py", port = 80800)
## Good
service api (run = "python3 /srv/api.py", port = 8080)

# not-constant: this can't depend on a value
## What
A value of the task stands where a constant must: in `base`, in limits, in a title, in a generator.
## Why
It is needed before an instance is drawn, to build or to lock, and is the same for all instances.
## Bad
setup { base = "python:{{ p.version }}-slim" }
## Good
setup { base = "python:3.12-slim" }

# missing-attribute: an attribute is missing
## What
A block lacks an attribute that has no default, such as a task its `domain` or `title`.
## Why
Nothing sensible can be taken in its place.
## Bad
task "a" { domain = swe }
## Good
task "a" { domain = swe  title = "Repair the retry helper" }

# missing-argument: an argument, a name or a sentence is missing
## What
A statement lacks what it can't be without.
## Why
Nothing sensible can be taken in its place.
## Bad
allow(network-open)
## Good
allow(network-open, because = "the task is about an outage")

# duplicate-argument: it is given twice
## What
An argument or an attribute is written twice.
## Why
Only one of them could count, and which would be a guess.
## Bad
json("/app/out.json", equals = 1, equals = 2)
## Good
json("/app/out.json", equals = 2)

# empty-text: there is nothing where something must be said
## What
An instruction or a script is empty, an example changes nothing, or `because` gives no reason.
## Why
It would say nothing to whoever reads or runs it.
## Bad
allow(network-open, because = "ok")
## Good
allow(network-open, because = "the task is about an outage")

# empty-claim: a predicate claims nothing
## What
None of the arguments that make the claim is given, or `any` or `not` is empty.
## Why
Every end state would pass, or none.
## Bad
json("/app/out.json")
## Good
json("/app/out.json", equals = answer.totals)

# empty-generator: there is nothing to draw
## What
The arguments of a generator leave no value: the bounds are the wrong way round, a list to choose from is
empty, a length is out of bounds.
## Why
No instance could be made.
## Bad
param rows = int(400, 80)
## Good
param rows = int(80, 400)

# invalid-path: the path isn't absolute and normal
## What
A path of the sandbox is relative, has a component `.` or `..`, an empty one or a control character, or is
too long. In a `commit` paths are relative to the repository, and don't lead into `.git`.
## Why
A leaf has one address, in predicates, edits and reports alike.
## Bad
file "app/../ledger.csv" <<<csv … >>>
## Good
file "/app/ledger.csv" <<<csv
  id,account,kind,cents
>>>

# reserved-path: the path belongs to the harness or the kernel
## What
A path lies in `/tests`, `/logs`, `/solution`, `/proc`, `/sys` or `/dev`.
## Why
The harness clears, mounts or hides these folders: what a task puts there is lost or gives the verifier
away.
## Bad
file "/tests/data.csv" <<<csv … >>>
## Good
file "/app/data.csv" <<<csv
  a,b
>>>

# duplicate-path: two steps write one path
## What
Two steps of `setup` write the same file, or one needs a folder where another writes a file.
## Why
Only one of them could stand in the start state.
## Bad
file "/app/a" <<<text … >>>
generate "/app/a" <<<python … >>>
## Good
generate "/app/a" <<<python
  print("one")
>>>

# unmade-path: no step makes the path
## What
A path in `from` is made by no `file`, `generate`, `asset`, `repo` or `plant` of `setup`.
## Why
Answers are computed from what is known before the image is built. What a build step makes isn't.
## Bad
answer n (from = "/app/leger.csv") <<<python … >>>
## Good
answer n (from = "/app/ledger.csv") <<<python
  emit(len(open("app/ledger.csv").readlines()))
>>>

# escaping-asset: the file lies outside of the spec's folder
## What
The name of a file beside the spec is absolute, leads upwards by `..`, holds control characters, or is a
link out of the folder.
## Why
A spec and its folder are all that a task is made of. Reading elsewhere would take files of whoever compiles
it.
## Bad
asset "/app/key" (from = "../../.ssh/id_rsa")
## Good
asset "/app/key" (from = "files/key")

# missing-asset: the file beside the spec doesn't exist
## What
There is no file of that name.
## Why
The start state couldn't be made.
## Bad
asset "/app/logo.png" (from = "lgo.png")
## Good
asset "/app/logo.png" (from = "logo.png")

# unreadable-asset: the file beside the spec can't be read
## What
It is a folder, a pipe, a socket or a device, or you lack the right to read it, or the spec is a text
without a file.
## Why
Reading a pipe could wait for ever; a device may do something.
## Bad
asset "/app/data" (from = "data")        # a folder
## Good
asset "/app/data/a.csv" (from = "data/a.csv")

# large-asset: the files beside the spec are too large
## What
One has more than 64 MiB, or all together more than 256 MiB.
## Why
They travel in every bundle, and predicates read files up to that size.
## Bad
asset "/app/model.bin" (from = "model.bin")      # 3 GiB
## Good
generate "/app/model.bin" <<<python
  …
>>>

# invalid-encoding: the text can't be written in this encoding
## What
A text holds characters that the encoding lacks.
## Why
The file couldn't be made.
## Bad
file "/app/a" (encoding = latin-1) <<<text
  价格
>>>
## Good
file "/app/a" (encoding = utf-16) <<<text
  价格
>>>

# invalid-regex: the pattern can't be compiled
## What
Python's `re` refuses the pattern, for the reason given.
## Why
The verifier would end in an error on every solution.
## Bad
text("/app/log", matches = '(error')
## Good
text("/app/log", matches = '\(error\)\n')

# program-syntax: the program isn't Python
## What
Python 3 can't parse a program, at the place shown.
## Why
It would fail in the sandbox, after everything else was built. Nothing is spliced into programs: a place
such as `{{ p.rows }}` is not replaced there, the value is found as `p.rows`.
## Bad
generate "/app/a" <<<python
  for i in range({{ p.rows }}):
>>>
## Good
generate "/app/a" <<<python
  for i in range(p.rows):
      print(i)
>>>

# program-without-emit: the program never gives its value back
## What
A `let`, `hidden` or `answer` program doesn't name `emit`.
## Why
What it prints is lost; `emit(value)` gives the value back.
## Bad
answer n (from = "/app/a") <<<python
  print(3)
>>>
## Good
answer n (from = "/app/a") <<<python
  emit(3)
>>>

# not-in-from: the program isn't given this value
## What
A program names `hidden.x`, `answer.x` or `secret.x` instead of being given it by `from`.
## Why
These values enter programs only through `from`, so that one can see where they go. There they have their
own names.
## Bad
generate "/app/a" <<<python
  print(hidden.world)
>>>
## Good
generate "/app/a" (from = [hidden.world]) <<<python
  print(world)
>>>

# value-cycle: a value needs itself
## What
Values are computed from each other in a circle, perhaps through a file that one of them is written into.
## Why
None of them could be computed first.
## Bad
let a = let.b
let b = let.a
## Good
let a = 3
let b = let.a

# swap-not-once: the text to be swapped doesn't stand exactly once
## What
The first text of `swap(oracle, …)` stands in the oracle's program not at all, or several times.
## Why
A swap says exactly which place it changes.
## Bad
reject "sign" (breaks = sign) { swap(oracle, "c", "-c") }
## Good
reject "sign" (breaks = sign) { swap(oracle, "total += cents", "total -= cents") }

# too-deep: this is nested too deeply
## What
Values, conditions, fragments or repetitions stand in each other deeper than anybody reads.
## Why
Every reader's stack must hold it.
## Bad
any { any { any { … } } }
## Good
any { file("/app/a") file("/app/b") }

# too-large: the file is too long after expansion
## What
Fragments and repetitions come to more statements, or more characters, than are read, or a task declares more
values than are followed.
## Why
Repetitions within each other grow as a product, and so do arguments that hold others twice.
## Bad
each a (in = […]) { each b (in = […]) { each c (in = […]) { … } } }
## Good
generate "/app/data/" <<<python
  …
>>>

# broken-domain: a domain can't be loaded
## What
The `domain.toml` of a domain is missing something, is not TOML, or is made for another version; or the
package that a distribution names for it can't be found.
## Why
A domain that is silently missing would only show as an unknown name.
## Bad
api = 2
## Good
name = "terminal"
api = 1
title = "Terminal work"
image = "debian:bookworm-slim"
"""

EXPLANATIONS: tuple[Explanation, ...] = (*read_explanations(_PAGES), *read_explanations(NAME_PAGES))
"""Every slug of the resolver and of the domains, explained."""
