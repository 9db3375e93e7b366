"""The pages of `aespec explain` on names: unknown, invalid, taken, or used where they have no meaning."""

PAGES = r"""
# unknown-block: there is no such block
## What
A statement begins with a word that means nothing in this block.
## Why
A slip of the keyboard would otherwise drop a part of the task without a word.
## Bad
secrt token = hex(32)
## Good
secret token = hex(32)

# unknown-attribute: there is no such attribute
## What
A block doesn't have the attribute that is set.
## Why
A slip of the keyboard would otherwise leave the default in force.
## Bad
setup { wrkdir = "/srv" }
## Good
setup { workdir = "/srv" }

# unknown-argument: there is no such argument
## What
A statement, predicate, generator or fragment doesn't take the argument, or not without its name.
## Why
Only a first argument may stand without a name, so that a claim can be read without the reference.
## Bad
json("/app/out.json", equal = 1)
## Good
json("/app/out.json", equals = 1)

# unknown-predicate: there is no such predicate
## What
A check holds a call that is none of the predicates of `docs/predicates.md`.
## Why
Nothing would be judged.
## Bad
jsn("/app/out.json", equals = 1)
## Good
json("/app/out.json", equals = 1)

# unknown-generator: there is no such generator
## What
A parameter or secret is made by something that isn't a generator.
## Why
The generator is the type of the parameter.
## Bad
param rows = integer(80, 400)
## Good
param rows = int(80, 400)

# unknown-constructor: a call can't stand here as a value
## What
A call stands where a value is expected.
## Why
Generators draw only for `param` and `secret`; everything else is a literal or a named value.
## Bad
let rows = int(80, 400)
## Good
param rows = int(80, 400)

# unknown-choice: it isn't one of the choices
## What
An attribute or argument takes one of a few names, and this is none of them.
## Why
What it should mean is a guess.
## Bad
limits { network = closed }
## Good
limits { network = none }

# unknown-domain: there is no such domain
## What
`domain` names a subject area that neither comes with aespec nor with an installed plug-in.
## Why
The domain decides the default image and what a target must be able to do.
## Bad
domain = software
## Good
domain = swe

# unknown-language: the tag of a text isn't known
## What
The word after `<<<` is not a language that this block runs, or that anybody knows.
## Why
The tag decides what runs a script, and how a value is quoted in a text. `text` fits everything.
## Bad
oracle <<<ruby
  …
>>>
## Good
oracle <<<sh
  ruby /app/tool.rb
>>>

# unknown-account: there is no such account
## What
An owner or user is neither declared by `user` nor the agent's, nor one that Debian has from the start.
## Why
Building the image would fail there.
## Bad
file "/srv/a" (owner = "web") <<<text … >>>
## Good
user "web" (home = "/srv")
file "/srv/a" (owner = "web") <<<text
  …
>>>

# branch-name: git can't name a branch so
## What
The name of a branch breaks the rules of `git check-ref-format`, or lies below another branch's name.
## Why
The repository couldn't be made. git keeps `main` as a file, so that `main/next` has no place.
## Bad
commit "first" (branch = "my branch") { }
## Good
commit "first" (branch = my-branch) { }

# unknown-branch: the repository has no such branch
## What
`checkout` or `delete_branch` names a branch that no commit is on, or one that is both checked out and
deleted.
## Why
git would refuse it when the start state is made.
## Bad
repo "/app" { commit "first" { … }  delete_branch = ["wip"] }
## Good
repo "/app" {
  commit "first" { … }
  commit "try" (branch = wip) { … }
  delete_branch = ["wip"]
}

# unknown-file: the verifier has no such file
## What
A predicate names a hidden file that `verify` doesn't have.
## Why
The verifier would end in an error on every solution.
## Bad
function("/app/a.py", name = "f", cases_file = "case.json")
## Good
hidden "cases.json" <<<json
  []
>>>
check f { function("/app/a.py", name = "f", cases_file = "cases.json") }

# unknown-fragment: there is no such fragment
## What
`use` names a fragment that neither this file has nor one that it brings in.
## Why
Nothing could stand in its place.
## Bad
use kept (path = "/app/a")
## Good
fragment kept (path) { check kept { unchanged(path) } }
use kept (path = "/app/a")

# unknown-check: there is no such check or rule
## What
`breaks`, or a place such as `{{ check.totals }}`, names none of this task.
## Why
A reject that breaks nothing shows nothing.
## Bad
reject "twice" (breaks = duplicate) { … }
## Good
reject "twice" (breaks = duplicates) { … }

# unknown-value: there is no such value
## What
A bare name or a place in a text, such as `{{ p.rows }}`, leads to nothing that the task declares.
## Why
A text would show the braces, a program would fail late, and a verifier would compare with nothing.
## Bad
param rows = int(80, 400)
instruction <<<md
  There are {{ p.row }} rows.
>>>
## Good
param rows = int(80, 400)
instruction <<<md
  There are {{ p.rows }} rows.
>>>

# duplicate-name: the name is taken
## What
Two values, checks, rules, examples, fragments, accounts or keys of a map have one name.
## Why
A name means one thing.
## Bad
check kept { unchanged("/app/a") }
check kept { unchanged("/app/b") }
## Good
check a_kept { unchanged("/app/a") }
check b_kept { unchanged("/app/b") }

# ambiguous-name: the name fits several rules
## What
`breaks` names a rule by its short name, and several checks have one of that name.
## Why
Which of them must fail would be a guess.
## Bad
reject "unsorted" (breaks = order) { … }
## Good
reject "unsorted" (breaks = report.order) { … }

# invalid-name: the name has another form
## What
A name holds characters that it can't have where it ends up: in ids, folder names, or as a variable of a
program. Or it is that of an argument or an `each`, and means something else already: `p`, `answer`, `check`.
## Why
Values are variables in programs, so they have `_` and no `-`; tasks name folders and images. What `p.rows`
and `{{ check.total }}` mean doesn't depend on where they stand.
## Bad
param row-count = int(80, 400)
## Good
param row_count = int(80, 400)

# bad-place: this can't stand in a place
## What
Between `{{` and `}}` stands more than a name of a value, or the sentence of a check stands outside of the
instruction.
## Why
Texts hold no expressions. For braces of another language that happen to begin alike write `verbatim =
true`.
## Bad
instruction <<<md
  Keep {{ p.rows + 1 }} rows.
>>>
## Good
let kept (from = [p.rows]) <<<python
  emit(rows + 1)
>>>
instruction <<<md
  Keep {{ let.kept }} rows.
>>>

# fragment-sees-arguments: a fragment names a value of the task
## What
In a fragment stands `p.x`, `let.x` or another value of the task that uses it.
## Why
A fragment sees its arguments and nothing else, so that it means the same wherever it is used.
## Bad
fragment note () { file "/app/note" <<<text
  {{ p.rows }}
>>>
}
## Good
fragment note (rows) { file "/app/note" <<<text
  {{ rows }}
>>>
}
use note (rows = p.rows)

# not-in-fragment: a fragment can't declare a value
## What
`param`, `let`, `hidden`, `answer` or `secret` stands in a fragment.
## Why
Values belong to the task, where a reader looks for them.
## Bad
fragment ledger () { param rows = int(80, 400) }
## Good
fragment ledger (rows) { … }
param rows = int(80, 400)
use ledger (rows = p.rows)

# fragment-cycle: a fragment uses itself
## What
A fragment stands in its own body, perhaps by way of others.
## Why
It would never end.
## Bad
fragment a () { use a }
## Good
fragment a () { check kept { unchanged("/app/a") } }

# file-cycle: files use each other in a circle
## What
A file is used by one that it uses itself, or more files are used than anybody keeps in view.
## Why
It would never end.
## Bad
use web = "web.aes"      # and web.aes has: use main = "task.aes"
## Good
use web = "web.aes"

# unused-argument: the fragment never uses an argument
## What
Nothing in the body of a fragment names one of its arguments.
## Why
Whoever uses the fragment has to give it, and it changes nothing: often another name was meant in the body.
## Bad
fragment kept (path, why) { check kept { unchanged(path) } }
## Good
fragment kept (path) { check kept { unchanged(path) } }

# unused-fragment: the fragment is never used
## What
Nothing in the file uses a fragment that it has itself.
## Why
It says nothing about this task.
## Bad
fragment kept (path) { check kept { unchanged(path) } }
## Good
fragment kept (path) { check kept { unchanged(path) } }
use kept (path = "/app/a")
"""
"""Explanations in the form that `read_explanations` takes."""
