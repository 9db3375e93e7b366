"""The golden bundles before Harbor's own linter, and hostile values before the engine's own builders."""

import json
import os
import subprocess

import pytest

from aespec.bundle import write
from aespec.model.task import Account, Setup
from tests import components
from tests.bundle.making import file_step, run_step, text, tiny
from tests.compiler.golden import compiled, names
from tests.compiler.planning import planned


@pytest.mark.needs("harbor", "docker", "compose")
def test_harbor_s_linter_finds_nothing(tmp_path):
    folders = [str(write(compiled(name), tmp_path / name).path) for name in names()]
    done = subprocess.run(
        [str(components.harbor()), "lint", "--json", *folders],
        capture_output=True,
        text=True,
        env={**os.environ, "HARBOR_TELEMETRY": "off", "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        check=False,
    )
    assert (done.returncode, json.loads(done.stdout)) == (0, []), done.stdout + done.stderr


ODD = "a \"q\" $HOME \\n 's' `id` #x {{y}} <<EOF \\"
NAME = "/app/{{ x }} $(id) \"q\" 'r' \\.txt"


def hostile(base):
    """What a Dockerfile must not stumble over; without packages, so that it builds offline."""
    setup = Setup(base, env=(("ODD", text(ODD)),), accounts=(Account("web", 1100, "/srv/web"),))
    steps = [
        file_step(NAME, "odd\n"),
        file_step("/app/in/deep/x.txt", "x\n", mode=0o600),
        file_step("/app/in/run.sh", "#!/bin/sh\n", mode=0o755),
        file_step("/srv/web/i.html", "<h>", owner="web"),
        file_step("/opt/data/r.txt", "root"),
        run_step('id -un > /tmp/who\npwd >> /tmp/who\nprintf %s "$ODD" > /tmp/odd\n', user="web"),
    ]
    return tiny(setup=setup, steps=steps)


LOOK = """
cat /tmp/who /tmp/odd; echo; printf '%s\\n' "$ODD"
stat -c '%n %U %a' /app /app/* /app/in/deep /app/in/deep/x.txt /app/in/run.sh
stat -c "%n %U %a" /srv/web/i.html /opt/data /opt/data/r.txt
id -un; pwd; ls -d /aespec-setup 2>/dev/null
"""

SEEN = f"""web
/app
{ODD}
{ODD}
/app agent 755
/app/in agent 755
{NAME} agent 644
/app/in/deep agent 755
/app/in/deep/x.txt agent 600
/app/in/run.sh agent 755
/srv/web/i.html web 644
/opt/data root 755
/opt/data/r.txt root 644
agent
/app
"""


@pytest.mark.needs("docker", "base-image", "compose")
@pytest.mark.parametrize("buildkit", ["0", "1"])
def test_both_builders_make_the_planned_state(tmp_path, buildkit):
    folder = write(planned(hostile(components.BASE_IMAGE)), tmp_path / "b").path / "environment"
    env = {**os.environ, "DOCKER_BUILDKIT": buildkit}
    tag = f"aespec-test-hostile-{os.getpid()}-{buildkit}"
    built = subprocess.run(
        ["docker", "build", "-q", "-t", tag, str(folder)],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    try:
        command = ["docker", "run", "--rm", "--network", "none", tag, "sh", "-c", LOOK]
        seen = subprocess.run(command, capture_output=True, text=True, check=False)
        assert sorted(seen.stdout.splitlines()) == sorted(SEEN.splitlines())
    finally:
        subprocess.run(["docker", "image", "rm", "-f", tag], capture_output=True, check=False)
