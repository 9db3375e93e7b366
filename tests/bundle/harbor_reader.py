"""Run by Harbor's own interpreter: reads a folder's path a line, answers what Harbor makes of it as JSON."""

import json
import sys
import warnings

from harbor.environments.definition import require_agent_environment_definition
from harbor.models.task.artifacts import with_convention_entry
from harbor.models.task.config import TaskOS
from harbor.models.task.task import Task
from harbor.models.task.verifier_mode import (
    resolve_task_verifier_mode,
    resolve_verifier_environment_definition,
)
from harbor.models.trial.config import AgentConfig, EnvironmentConfig, VerifierConfig
from harbor.trial.network_policy import resolve_trial_network_plan


def describe(path: str) -> dict:
    task = Task(path)
    config = task.config
    require_agent_environment_definition(
        task.paths.environment_dir, docker_image=config.environment.docker_image
    )
    definition = resolve_verifier_environment_definition(config, task.paths)
    mode = resolve_task_verifier_mode(config)
    plan = resolve_trial_network_plan(
        config, AgentConfig(), EnvironmentConfig(), VerifierConfig(), None, verifier_mode=mode
    )
    artifacts = with_convention_entry(config.artifacts, convention_source="/logs/artifacts")
    return {
        "name": task.name,
        "schema": config.schema_version,
        "steps": bool(config.steps),
        "windows": TaskOS.WINDOWS in {config.environment.os, definition.config.os if definition else None},
        "instruction": task.instruction,
        "mode": mode.value,
        "own_tests": definition.bundled_tests if definition else False,
        "image": config.environment.docker_image,
        "workdir": config.environment.workdir or "",
        "env": config.environment.env,
        "agent_user": "" if config.agent.user is None else str(config.agent.user),
        "verifier_user": "" if config.verifier.user is None else str(config.verifier.user),
        "agent_timeout_s": config.agent.timeout_sec,
        "verifier_timeout_s": config.verifier.timeout_sec,
        "cpu": config.environment.cpus,
        "memory_mb": config.environment.memory_mb,
        "disk_mb": config.environment.storage_mb,
        "network": {
            "agent": plan.agent_phase.network_mode.value,
            "verifier": plan.verifier_phase.network_mode.value,
        },
        "artifacts": [
            [item.source, list(item.exclude)] for item in artifacts if item.service in (None, "main")
        ],
        "collect": [item.command for item in config.verifier.collect if item.service == "main"],
        "solution_env": config.solution.env,
        "verifier_env": config.verifier.env,
    }


def main() -> None:
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        try:
            answer = describe(json.loads(line))
        except Exception as error:  # noqa: BLE001 - whatever Harbor raises, it refuses the task
            answer = {"refused": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(answer), flush=True)


main()
