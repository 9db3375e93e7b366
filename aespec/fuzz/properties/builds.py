"""*builds*: it parses, resolves, lints without an error, is locked, and both images are made."""

from __future__ import annotations

from aespec.bundle.plan import Bundle
from aespec.fuzz.certificate import Property, decide
from aespec.fuzz.study import Study
from aespec.fuzz.subject import Subject, name_all
from aespec.runtime.wording import counted
from aespec.sandbox.api import SandboxError
from aespec.trial.acting import prepare_environment
from aespec.trial.judging import prepare_verifier


def measure(study: Study) -> Property:
    """Make both images of every instance in the fast sandbox. That it compiled at all is what went before."""
    tried = bad = 0
    missing: list[str] = []
    evidence = ["parsed, resolved and checked without an error"]
    unbuilt: dict[tuple[str, str, str], list[Subject]] = {}
    for subject in study.subjects:
        for what, prepare in (("environment", prepare_environment), ("verifier", prepare_verifier)):
            tried += 1
            study.bench.say(f"building the {what} of {subject.name}")
            try:
                image = prepare(subject.bundle, study.fast.sandbox)
            except SandboxError as fault:
                bad += fault.boundary != "sandbox"
                slug = "unbuilt-image" if fault.boundary != "sandbox" else "no-sandbox"
                reason = f"{fault}" + (f" ({fault.remedy})" if fault.remedy else "")
                unbuilt.setdefault((slug, what, reason), []).append(subject)
                continue
            if not image.is_reproducible:
                missing.append("a base image: it stands on this machine's own /usr")
    for (slug, what, reason), subjects in unbuilt.items():
        which = f"the {what} of {name_all(subjects)}"
        study.report(slug, "error", "builds", f"{which} isn't built: {reason}")
        missing.append(which)
    evidence.append(f"{tried - bad} of {counted(tried, 'image')} made in {study.fast.name}")
    if study.locked.lock is not None:
        evidence.append(study.locked.evidence)
    elif not _names_a_lock(study.first.bundle):
        missing.append(study.locked.missing or "a lock that pins image and packages (`aespec lock`)")
    missing = list(dict.fromkeys(missing))
    return Property("builds", decide(bad, missing), tried, bad, tuple(evidence), "; ".join(missing))


def _names_a_lock(bundle: Bundle) -> bool:
    """Whether a bundle was compiled with a lock."""
    digests = bundle.manifest.get("digests")
    return isinstance(digests, dict) and digests.get("lock") is not None
