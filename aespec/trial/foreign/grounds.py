"""The images that probes of a foreign task start from: its start state, and a separate verifier's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aespec.bundle.foreign import Container, ForeignTask
from aespec.sandbox.api import Build, Builder, Difference, Image, SandboxLimits
from aespec.sandbox.tars import Entry, pack
from aespec.trial.archives import read_nodes
from aespec.trial.foreign.once import Once
from aespec.trial.foreign.seats import TESTS

LOG_FOLDERS = (
    Entry("/logs", None, 0o755),
    Entry("/logs/verifier", None, 0o777),
    Entry("/logs/agent", None, 0o777),
    Entry("/logs/artifacts", None, 0o777),
)
"""What Harbor mounts into the agent's container; everybody may write there."""

PROCESSES_LIMIT = 1024
DISK_LIMIT_BYTES = 4 * 1024**3
"""At most so much may be written in one probe, whatever a task asks for: in the fork sandbox it is memory."""

LONGEST_BUILD_S = 3600.0
LONGEST_RUN_S = 3600.0
"""At most so long may a build take, and the agent's or the verifier's part of a probe.

A task may ask for days, and one that hangs would take them.
"""


class Grounds:
    """Images of one task, each made when it is first asked for. All may raise `SandboxError`."""

    def __init__(
        self,
        task: ForeignTask,
        sandbox: Builder,
        image_map: Mapping[str, str],
        progress: Callable[[str], None] | None,
    ) -> None:
        """`image_map` takes the name of a prebuilt image to one that is to be had here."""
        self._task = task
        self._sandbox = sandbox
        self._image_map = image_map
        self._progress = progress
        self.start = Once(lambda: self._made(task.environment))
        self.verifier = Once(self._make_verifier)
        self.limits = SandboxLimits(
            memory_bytes=task.memory_bytes,
            disk_bytes=min(task.disk_bytes, DISK_LIMIT_BYTES),
            processes=PROCESSES_LIMIT,
            cpu=task.cpu,
        )

    @property
    def lent_bytes(self) -> int:
        """How much a probe may write where that is less than the task allows, else 0."""
        return DISK_LIMIT_BYTES if self._task.disk_bytes > DISK_LIMIT_BYTES else 0

    def _make_verifier(self) -> Image:
        if self._task.verifier is None:
            return self.start()
        made = self._made(self._task.verifier)
        if not self._task.has_own_tests:
            return made
        # Harbor makes the script executable before it runs it, as root.
        script = f"{TESTS}/{self._task.test_script}"
        with self._sandbox.open(made, self.limits) as slot:
            node = read_nodes(slot.get([script])).get(script)
        if node is None or node.kind != "file" or node.mode & 0o111 == 0o111:
            return made
        entry = Entry(script, node.data, node.mode | 0o111, node.uid, node.gid)
        return self._sandbox.freeze(made, Difference(pack([entry])))

    def _made(self, container: Container) -> Image:
        name = container.image
        image = self._sandbox.build(
            Build(
                container.context,
                container.dockerfile,
                self._image_map.get(name, name) if name else None,
                container.arguments,
                min(container.build_timeout_s, LONGEST_BUILD_S),
            ),
            progress=self._progress,
        )
        return self._sandbox.freeze(image, Difference(pack(LOG_FOLDERS)))
