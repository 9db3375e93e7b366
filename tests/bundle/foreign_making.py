"""Task folders as somebody else may have written them."""

from pathlib import Path

TOML = """
schema_version = "1.4"

[task]
name = "someone/sum"

[agent]
timeout_sec = 120

[verifier]
timeout_sec = 30
"""

HARBOR = {
    "task.toml": TOML,
    "instruction.md": "Write the sum to /app/sum.txt.\n",
    "environment/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\nCOPY numbers.txt /app/\n",
    "environment/numbers.txt": "1\n2\n",
    "tests/test.sh": "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n",
    "solution/solve.sh": "echo 3 > /app/sum.txt\n",
}

TERMINAL_BENCH = {
    "task.yaml": "instruction: |-\n  Write the sum to /app/sum.txt.\nmax_agent_timeout_sec: 100.0\n",
    "Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\nCOPY numbers.txt /app/\n",
    "docker-compose.yaml": """
services:
  client:
    build:
      dockerfile: Dockerfile
    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}
    command: ["sh", "-c", "sleep infinity"]
    environment:
      - TEST_DIR=${T_BENCH_TEST_DIR}
    volumes:
      - ${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}
""",
    "numbers.txt": "1\n2\n",
    "run-tests.sh": "pytest $TEST_DIR/test_outputs.py",
    "tests/test_outputs.py": "def test_sum():\n    assert open('/app/sum.txt').read() == '3\\n'\n",
    "solution.sh": "echo 3 > /app/sum.txt\n",
}


def make_task(folder: Path, files: dict[str, str | bytes | None]) -> Path:
    """Write the files below the folder; None leaves one out."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if content is None:
            continue
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def harbor_task(folder: Path, changes: dict[str, str | bytes | None] | None = None) -> Path:
    """A sound task of today's layout with some files changed."""
    return make_task(folder, {**HARBOR, **(changes or {})})


def older_task(folder: Path, changes: dict[str, str | bytes | None] | None = None) -> Path:
    """A sound task of the older layout with some files changed."""
    return make_task(folder, {**TERMINAL_BENCH, **(changes or {})})
