"""What `aespec explain` says about each report of the evaluation.

`value-cycle`, `empty-generator` and `invalid-path` are explained where they are found without running
anything; here they are found with the values that were drawn.
"""

from aespec.diagnostics.explanations import Explanation, read_explanations

_PAGES = r"""
# failing-program: a program of the spec fails
## What
A program of a `let`, `hidden`, `answer` or `generate` raised an error, left with a status, or ended the
interpreter.
## Why
Its value or its files are part of every instance: without them there is no task. It runs without network,
with Python's standard library alone, and finds `p`, `let`, the values of its `from`, `rng`, `now`, `emit`.
## Bad
answer total (from = "/app/a.csv") <<<python
  emit(sum(row.cents for row in rows))
>>>
## Good
answer total (from = "/app/a.csv") <<<python
  import csv
  emit(sum(int(row["cents"]) for row in csv.DictReader(open("app/a.csv"))))
>>>

# slow-program: a program of the spec takes too long
## What
A program ran longer than a minute, or used up its processor time or memory.
## Why
Every instance runs it once, and a family has thousands.
## Bad
hidden world <<<python
  while True: pass
>>>
## Good
hidden world <<<python
  emit([rng.randrange(100) for _ in range(p.rows)])
>>>

# oversized-value: the values written out are too large
## What
Where values are named, they are written in. Together, with drawn ones, they come to more than 128 MiB.
## Why
A value that names another one twice, which names a third one twice, and so on, soon outgrows any memory.
## Bad
let b = [let.a, let.a, let.a, let.a]
let c = [let.b, let.b, let.b, let.b]
## Good
let c <<<python
  emit(len(let.a))
>>>

# oversized-output: a program of the spec makes too much
## What
A value, a file or a folder is larger than 32 MiB, has more than 10,000 files, or the program took more than
1 GiB of memory.
## Why
Fixtures travel in the bundle and in every image made from it.
## Bad
generate "/app/log" <<<python
  print("x" * 10**9)
>>>
## Good
generate "/app/log" <<<python
  for n in range(20000): print(n, rng.random())
>>>

# missing-emit: a program doesn't emit one value
## What
A program that computes a value calls `emit` never or twice, or a `generate` program calls it.
## Why
`emit(value)` is how a value leaves a program; a `generate` program prints its file or writes its folder.
## Bad
let total <<<python
  total = 3
>>>
## Good
let total <<<python
  emit(3)
>>>

# untyped-result: a value isn't JSON
## What
What a program emits holds a set, bytes, NaN, an object, a key that isn't text, or text that isn't Unicode.
## Why
Values are compared, written into texts and stored as JSON; a silent conversion would change what is compared.
## Bad
answer counts <<<python
  emit({1: 2})
>>>
## Good
answer counts <<<python
  emit({"1": 2})
>>>

# irregular-files: a generated folder holds more than plain files
## What
A `generate` program of a folder leaves a link, a device or a pipe, or a file outside its folder.
## Why
Fixtures are copied into images as plain files; links could lead out of the folder.
## Bad
generate "/app/data/" <<<python
  import os
  os.symlink("/etc/passwd", "app/data/link")
>>>
## Good
generate "/app/data/" <<<python
  open("app/data/list.txt", "w").write("plain\n")
>>>

# unseeded-draw: a program draws from the machine
## What
A program asks for `os.urandom`, `secrets`, `uuid4` or a `SystemRandom`.
## Why
The same seed must give the same task on every machine, so every draw comes from `rng`.
## Bad
hidden id <<<python
  import uuid
  emit(str(uuid.uuid4()))
>>>
## Good
hidden id <<<python
  emit(f"{rng.getrandbits(64):016x}")
>>>

# unencodable-text: a file's text doesn't fit its encoding
## What
The rendered text of a `file` has a character that its `encoding` can't write.
## Why
A file of the start state is bytes, and these can't be made.
## Bad
file "/app/a.txt" (encoding = "ascii") <<<txt
  naïve
>>>
## Good
file "/app/a.txt" <<<txt
  naïve
>>>

# missing-part: a value has no such part
## What
A reference goes into a value by a key or an index that the computed value doesn't have.
## Why
What a program emits is known only once it has run; then the reference leads nowhere.
## Bad
let who <<<python
  emit({"name": "Ann"})
>>>
file "/app/a.txt" <<<txt
  {{ let.who.nick }}
>>>
## Good
let who <<<python
  emit({"name": "Ann"})
>>>
file "/app/a.txt" <<<txt
  {{ let.who.name }}
>>>

# unreadable-start-state: a program reads what isn't known before the build
## What
A path in `from` leads to nothing that `file`, `generate`, `asset`, `repo` or `plant` puts on this instance.
## Why
Answers are computed before any image is built. What a `run` step makes exists only in the built image.
## Bad
setup { run <<<sh
  echo 3 > /app/n
>>> }
answer n (from = "/app/n") <<<python
  emit(int(open("app/n").read()))
>>>
## Good
setup { generate "/app/n" <<<python
  print(3)
>>> }
answer n (from = "/app/n") <<<python
  emit(int(open("app/n").read()))
>>>
"""

EXPLANATIONS: tuple[Explanation, ...] = read_explanations(_PAGES)
