"""What `aespec explain` says about each finding of a certificate."""

from aespec.diagnostics.explanations import Explanation, read_explanations

_PAGES = r"""
# unbuilt-image: an image isn't made
## What
A build step of the start state or of the verifier's image fails.
## Why
Nobody can try a task that can't be built.
## Bad
setup { run <<<sh
  make all
>>> }
## Good
setup { apt = ["make"]  run <<<sh
  make all
>>> }

# no-sandbox: nothing can be run here
## What
The sandbox, or the machine below it, can't do what was asked; the message has the way out.
## Why
This says nothing about the task, and the certificate is not decided.
## Bad
aespec certify task.aes --sandbox fork
## Good
aespec doctor

# no-verdict: a trial came to no verdict
## What
The sandbox or the image failed in a trial of the certification.
## Why
A property is decided by verdicts; where one is lost, the property is inconclusive.
## Bad
aespec certify task.aes
## Good
aespec doctor

# failing-oracle: the oracle doesn't get the full reward
## What
In some run the oracle's end state failed a check, or the verifier broke on it.
## Why
A task whose own solution fails teaches nothing. A failure in some runs only means that chance plays a part.
## Bad
oracle <<<sh
  date > /app/out.txt
>>>
## Good
oracle <<<sh
  sort /app/in.txt > /app/out.txt
>>>

# unclean-ending: a program broke off, and its end state is right
## What
The oracle, or an accept, ended with a status that isn't 0 or ran out of time; what it left passes.
## Why
A script that breaks off half way may show less than it was written to show.
## Bad
accept "by hand" <<<sh
  oracle
  jq . /app/out.json > /dev/null
>>>
## Good
accept "by hand" <<<sh
  oracle
  printf '\n' >> /app/out.json
>>>

# cheating-oracle: the oracle knows what a solver can't
## What
The oracle's text holds an answer or a secret that the instruction doesn't state, or differs between instances
by more than what is stated.
## Why
Such an oracle shows that the verifier accepts the answer, not that anyone can find it.
## Bad
oracle <<<sh
  echo 83719204 > /app/total
>>>
## Good
oracle <<<sh
  awk '{ n += $1 } END { print n }' /app/numbers > /app/total
>>>

# flickering-verdict: the same end state gets different verdicts
## What
The oracle's frozen end state was judged again and got another verdict.
## Why
A reward that flickers is noise for training and can't be re-run.
## Bad
command(["python3", "/app/race.py"], timeout = 1s)
## Good
command(["python3", "/app/race.py"], timeout = 30s)

# surrounding-matters: the verdict depends on the verifier's surroundings
## What
With another locale, time zone, umask, core count, order of files or order of checks the oracle's end state
gets another verdict.
## Why
The bundle is judged on machines that the author never saw.
## Bad
command(["sh", "-c", "ls /app"], stdout = "B\na\n")
## Good
command(["sh", "-c", "LC_ALL=C ls /app | sort"], stdout = "B\na\n")

# farmed-reward: nothing done, reward given
## What
Doing nothing, or writing something that knows nothing of the task, gets a reward.
## Why
A solver that is paid for nothing learns that.
## Bad
check done { file("/app/input.csv") }
## Good
check done { json("/app/totals.json", equals = answer.totals) }

# verdictless-nop: doing nothing fails, but on no check
## What
A trial of nobody, or of a blind policy, ends without a check that failed, or the verifier breaks on it.
## Why
A missing or empty output is what a solver leaves most often: it must fail a check, not break the verifier.
## Bad
function("/app/lib.py", name = "f", args = [1], returns = 2)
## Good
file("/app/lib.py", min_size = 1)
function("/app/lib.py", name = "f", args = [1], returns = 2)

# accepted-reject: a wrong solution gets the full reward
## What
The end state of a `reject` passes every check.
## Why
The author says that it is wrong, and the verifier doesn't see it.
## Bad
check report { json("/app/report.json", type = object) }
## Good
check report { json("/app/report.json", equals = answer.report) }

# unbroken-rule: a reject fails, but not on the rule that it breaks
## What
None of the names in the reject's `breaks` is among the checks and rules that failed.
## Why
Then nothing shows that this rule is enforced at all.
## Bad
reject "no refunds" (breaks = duplicates) { swap(oracle, "-cents", "cents") }
## Good
reject "no refunds" (breaks = refunds) { swap(oracle, "-cents", "cents") }

# idle-reject: no instance exercises a rule
## What
On every instance that was drawn, the reject ends in the oracle's own end state.
## Why
The rule can't matter there: the fixtures never hold the case that it is about.
## Bad
generate "/app/ledger.csv" <<<python
  for n in range(p.rows): print(n, "charge", rng.randrange(100))
>>>
## Good
generate "/app/ledger.csv" <<<python
  for n in range(p.rows): print(n, rng.choice(["charge", "refund"]), rng.randrange(100))
>>>

# rungs-disagree: two sandboxes give two verdicts
## What
The fast sandbox and the reference judge the same counterexample differently.
## Why
That is a fault of the tool, or of a verifier that depends on where it runs.
## Bad
aespec certify task.aes
## Good
aespec trial task.aes --agent "reject:no refunds" --sandbox docker

# rejected-accept: a right solution is refused
## What
An `accept` fails a check.
## Why
The author says that it is right; a solver who works like that would be punished.
## Bad
text("/app/total.txt", equals = "1200\n")
## Good
json("/app/total.json", equals = 1200)

# other-reward: a partial solution gets another reward than it says
## What
The reward of a `partial` isn't the one that the spec states for it.
## Why
Partial credit is only a signal where it is what the author meant.
## Bad
partial "half" (reward = 0.5) { delete("/app/b.json") }
## Good
partial "half" (reward = 0.25) { delete("/app/b.json") }

# untold-path: a check reads what the solver isn't told
## What
The instruction has not the sentence of a check, or doesn't name a path that a predicate reads.
## Why
A solver can't know where to put an answer that is looked for in silence.
## Bad
check sum { says = "Write the sum to a file."  json("/app/sum.json", equals = answer.sum) }
## Good
check sum { says = "Write the sum to `/app/sum.json`."  json("/app/sum.json", equals = answer.sum) }

# untold-literal: a check wants a word that the solver isn't told
## What
A name, key or number that a predicate compares with stands neither in the instruction nor in the start state.
## Why
It may follow from what is told, so this is a warning: make sure that it does, and say so by
`allow(untold-literal, because = …)` or, where the rule `unstated-detail` asks the same, by allowing that.
## Bad
check sum { says = "Write JSON to `/app/s.json`."  json("/app/s.json", equals = { total = answer.sum }) }
## Good
check sum {
  says = "Write `{\"total\": N}` to `/app/s.json`."
  json("/app/s.json", equals = { total = answer.sum })
}

# leak: what is hidden stands where the solver can see it
## What
A secret that isn't planted, a hidden file or a ready-made answer stands in the instruction, in a variable, in
the build context (a repository's history too) or in the built image.
## Why
Then the task is to find it, not to solve it.
## Bad
setup { env = { TOKEN = "{{ secret.token }}" } }
## Good
setup { plant secret.token (how = append("/app/.env")) }

# answer-in-sight: part of an answer stands in the instruction
## What
A text of the answer, the same on all instances, stands in the instruction.
## Why
It may be a word of the task, so this is a warning: make sure that it isn't the answer given away, and say
so by `allow(answer-in-sight, because = …)`.
## Bad
instruction <<<md
  Find the culprit (it is mallory-7f3a).
>>>
## Good
instruction <<<md
  Find the culprit.
>>>

# transplanted-answer: the answer of one instance is right on another
## What
What the oracle writes on one instance gets the full reward on another one whose answer differs.
## Why
Then the checks don't look at the answer, or look at too little of it.
## Bad
check total { json("/app/total.json", type = integer) }
## Good
check total { json("/app/total.json", equals = answer.total) }
"""

EXPLANATIONS: tuple[Explanation, ...] = read_explanations(_PAGES)
