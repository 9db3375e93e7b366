"""The verifier's half of a trial: a frozen end state in a fresh container, the verdict read as by Harbor."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from aespec.bundle.disk import BundleError
from aespec.bundle.plan import Bundle
from aespec.diagnostics.escape import escape_controls
from aespec.model.expressions import Json
from aespec.sandbox.api import Image, Outcome, Program, Sandbox, SandboxError
from aespec.sandbox.tars import Entry
from aespec.trial.archives import cross, read_files
from aespec.trial.result import EndState, TrialResult, checks_of, objects
from aespec.trial.settings import Settings, read_settings
from aespec.trial.stages import LOG_LIMIT_BYTES, PATH, explain_fault, last_line, timed

DETAILS_LIMIT_BYTES = 16 * 1024**2
VERIFIER_FILES = ("reward.json", "reward.txt", "reward-details.json", "ctrf.json", "test-stdout.txt")


@dataclass(frozen=True, slots=True)
class Perturbation:
    """Another surrounding for the verifier. `checks` replaces `/tests/checks.json`; the rest as named.

    `entries` are laid over the verifier's state as root before it starts, in either mode; the files at and
    below the paths in `keep` are handed out after it (`Judgement.files`). Both serve observation.
    """

    name: str
    env: Mapping[str, str] = field(default_factory=dict)
    umask: int = 0o022
    cores: int | None = None
    checks: bytes | None = None
    is_reversed: bool = False
    entries: tuple[Entry, ...] = ()
    keep: tuple[str, ...] = ()


def verify(
    bundle: Bundle,
    end_state: EndState,
    sandbox: Sandbox,
    perturbation: Perturbation | None = None,
    *,
    progress: Callable[[str], None] | None = None,
) -> TrialResult:
    """Judge a frozen end state in a fresh verifier, by the bundle's own `/tests/test.sh`, unmodified."""
    shift = perturbation or Perturbation("none")
    result = TrialResult(
        task=bundle.name,
        bundle=bundle.digest,
        agent=end_state.agent,
        sandbox=sandbox.name,
        outcome="error",
        boundary=end_state.boundary,
        message=end_state.message,
        agent_status=end_state.status,
        logs=end_state.logs,
        artifacts=end_state.artifacts,
        is_reproducible=end_state.is_reproducible,
    )
    seconds = dict(end_state.seconds)
    if end_state.boundary is not None:
        return replace(result, seconds=seconds)
    if end_state.refusal:
        boundary = "oracle" if end_state.agent == "oracle" else None
        message = end_state.refusal
        return replace(
            result, outcome="fail", reward=0.0, boundary=boundary, message=message, seconds=seconds
        )
    try:
        settings = read_settings(bundle)
        with timed(seconds, "verifier"):
            image = prepare_verifier(bundle, sandbox, progress)
        with timed(seconds, "verify"):
            outcome, files = _judge(end_state, sandbox, image, settings, shift)
    except SandboxError as fault:
        return replace(result, boundary=fault.boundary, message=explain_fault(fault), seconds=seconds)
    except BundleError as fault:
        return replace(result, boundary="spec", message=str(fault), seconds=seconds)
    judged = _read_verdict(result, end_state, outcome, files, seconds)
    return replace(judged, sentences=_sentences(bundle, judged.failed()))


def _sentences(bundle: Bundle, failed: Collection[str]) -> dict[str, str]:
    """What the bundle's checks.json says of those that failed; nothing where it can't be read."""
    try:
        told = json.loads((bundle.path / "tests" / "checks.json").read_bytes()) if failed else None
    except (OSError, ValueError, RecursionError):
        return {}
    found: dict[str, str] = {}
    for check in checks_of(told if isinstance(told, dict) else None):
        found[str(check.get("id"))] = str(check.get("says") or "")
        found |= {str(rule.get("id")): str(rule.get("sentence")) for rule in objects(check.get("rules"))}
    return {name: text for name, text in found.items() if name in failed and text}


def prepare_verifier(
    bundle: Bundle, sandbox: Sandbox, progress: Callable[[str], None] | None = None
) -> Image:
    """The verifier's image of a bundle; raises `SandboxError`."""
    return sandbox.prepare(bundle.verifier, bundle.path / bundle.verifier.context, progress=progress)


def _judge(
    end_state: EndState, sandbox: Sandbox, image: Image, settings: Settings, shift: Perturbation
) -> tuple[Outcome, dict[str, bytes]]:
    entries = [Entry("/logs", None, 0o755), Entry("/logs/verifier", None, 0o755)]
    if shift.checks is not None:
        entries.append(Entry("/tests/checks.json", shift.checks))
    with sandbox.open(image, settings.verifier_limits) as slot:
        archive = cross(end_state.artifacts, entries, is_reversed=shift.is_reversed)
        slot.put(archive, clean=["/logs/verifier"])
        outcome = slot.run(
            Program(
                argv=("/bin/bash", "-c", "/tests/test.sh"),
                env={"PATH": PATH, **image.env, **shift.env},
                cwd=image.workdir or "/",
                user="root",
                timeout_s=settings.verifier_timeout_s,
                output_limit_bytes=LOG_LIMIT_BYTES,
                umask=shift.umask,
                cores=shift.cores,
            )
        )
        written = read_files(slot.get(["/logs/verifier"], limit_bytes=4 * DETAILS_LIMIT_BYTES))
    return outcome, {path.removeprefix("/logs/verifier/"): data for path, data in written.items()}


def _read_verdict(
    result: TrialResult,
    end_state: EndState,
    outcome: Outcome,
    files: Mapping[str, bytes],
    seconds: Mapping[str, float],
) -> TrialResult:
    """The verdict from what the verifier wrote, as Harbor reads it: the exit status counts for nothing."""
    logs = {
        **end_state.logs,
        "verifier.stdout": outcome.stdout,
        "verifier.stderr": outcome.stderr,
        **{f"verifier/{name}": files[name] for name in VERIFIER_FILES if name in files},
    }
    details = _read_details(files)
    reward, problem = read_reward(files)
    result = replace(result, logs=logs, details=details, seconds=seconds)
    told = details.get("outcome") if details else None
    if problem is None and told is not None and told != ("pass" if (reward or 0.0) >= 1.0 else "fail"):
        problem = f"reward-details says {told!r} and the reward is {reward!r}"
    if problem is not None:
        return replace(result, boundary="verifier", message=_verifier_message(problem, outcome, details))
    passed = reward is not None and reward >= 1.0
    is_oracle_fault = end_state.agent == "oracle" and not passed
    return replace(
        result,
        outcome="pass" if passed else "fail",
        reward=reward,
        boundary="oracle" if is_oracle_fault else None,
        message=end_state.message,
    )


def _read_details(files: Mapping[str, bytes]) -> Mapping[str, Json] | None:
    data = files.get("reward-details.json")
    if data is None or len(data) > DETAILS_LIMIT_BYTES:
        return None
    try:
        told = json.loads(data)
        # What can't be written down again (NaN, half surrogates) isn't kept either.
        json.dumps(told, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def read_reward(files: Mapping[str, bytes]) -> tuple[float | None, str | None]:
    """The scalar reward as Harbor reads it, else what is wrong: `reward.json` first, then `reward.txt`."""
    if "reward.json" in files:
        try:
            told = json.loads(files["reward.json"])
        except (ValueError, RecursionError):
            return None, "reward.json is not JSON"
        value = told.get("reward") if isinstance(told, dict) else None
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None, "reward.json has no number `reward`"
        reward = float(value)
    elif "reward.txt" in files:
        try:
            reward = float(files["reward.txt"].decode("utf-8", "replace").strip())
        except ValueError:
            return None, "reward.txt is not a number"
    else:
        return None, "the verifier wrote no reward"
    if not math.isfinite(reward) or not 0.0 <= reward <= 1.0:
        return None, f"the reward {reward!r} is not between 0 and 1"
    return reward, None


def _verifier_message(problem: str, outcome: Outcome, details: Mapping[str, Json] | None) -> str:
    parts = [problem]
    parts += [
        f"check {check.get('id')}: {escape_controls(str(check.get('reason'))[:300])}"
        for check in checks_of(details)
        if check.get("verdict") == "error"
    ]
    if outcome.is_timed_out:
        parts.append("it ran out of time")
    elif outcome.status != 0:
        parts.append(f"it ended with status {outcome.status}")
    parts.append(last_line(outcome.stderr))
    return "; ".join(part for part in parts if part)
