"""The start state of a task as a recipe and the files of its build context."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from aespec.bundle.dockerfile import SETUP_FOLDER
from aespec.bundle.faults import Faults
from aespec.bundle.plan import PlannedFile
from aespec.bundle.quoting import UnquotableError, is_plain, quote_env
from aespec.bundle.recipe import AddUser, Copy, MakeFolder, Packages, Raw, Recipe, RecipeStep, Shell
from aespec.bundle.render import render_template
from aespec.bundle.repository import Repository, RepositoryError, build_repository, folders_of, import_stream
from aespec.model.instance import FixtureFile, Instance, Planted
from aespec.model.lock import Lock
from aespec.model.packages import DEBIAN_PACKAGE, PYTHON_PACKAGE, package_name, pinned
from aespec.model.paths import is_below
from aespec.model.task import (
    AssetStep,
    FileStep,
    GenerateStep,
    PlantStep,
    RepoStep,
    RunStep,
    ServiceStep,
    SetupStep,
    Task,
)
from aespec.records import dataclass

CONTEXT = "environment"
"""The bundle's folder that the agent's image is built from."""

_ACCOUNT = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:-]*(@sha256:[0-9a-f]{64})?")


@dataclass(slots=True)
class SetupPlan:
    """The agent's image: its recipe, its context's files by path in the context, and its histories."""

    recipe: Recipe
    files: Mapping[str, PlannedFile]
    repositories: Mapping[int, Repository]


def plan_setup(
    task: Task, instance: Instance, lock: Lock | None, images: Mapping[str, str], faults: Faults
) -> SetupPlan:
    """The recipe of the agent's image. Where `faults` gets an error, the plan is not to be used."""
    return _Setup(task, instance, faults).plan(lock, images)


def base_image(task: Task, lock: Lock | None, images: Mapping[str, str], faults: Faults) -> str:
    """What `FROM` names: the mapped image, or the public name, with a registry's digest from the lock."""
    name = task.setup.base
    if name in images:
        name = images[name]
    elif lock is not None and name in lock.images and lock.images[name].source == "registry":
        name = f"{name.partition('@')[0]}@{lock.images[name].digest}"
    if not _IMAGE.fullmatch(name):
        faults.error(
            "image-name",
            f"{name!r} is no name of an image",
            task.setup.base_span or task.span,
            help='Write a name such as "debian:bookworm-slim".',
        )
    return name


def package_steps(task: Task, lock: Lock | None, faults: Faults, more: Iterable[str] = ()) -> list[Packages]:
    """The packages of a task's images, pinned where the lock pins them; `more` are apt's further ones."""
    apt, pip = list(task.setup.apt), list(task.setup.pip)
    wanted = [*more, *(("python3", "python3-pip") if pip and not brings_python(task) else ())]
    apt += [name for name in dict.fromkeys(wanted) if name not in {item.partition("=")[0] for item in apt}]
    steps = []
    for manager, names in (("apt", apt), ("pip", pip)):
        words = [_pin(name, manager, lock, task, faults) for name in dict.fromkeys(names)]
        if words:
            steps.append(Packages(manager, tuple(words)))
    return steps


def brings_python(task: Task) -> bool:
    """Whether the base is one of the images that are named after the Python in them, pip included."""
    name = task.setup.base.partition("@")[0].partition(":")[0].rpartition("/")[2]
    return name in ("python", "pypy")


def _pin(name: str, manager: str, lock: Lock | None, task: Task, faults: Faults) -> str:
    form = DEBIAN_PACKAGE if manager == "apt" else PYTHON_PACKAGE
    if not form.fullmatch(name):
        sign = "=" if manager == "apt" else "=="
        faults.error(
            "package-name",
            f"{name!r} is no name of a package for {manager}",
            task.setup.span_of(manager) or task.span,
            help=f"Write a name, perhaps with its version: `name{sign}1.2.3`.",
        )
        return name
    pins: Mapping[str, str] = {}
    if lock is not None:
        pins = lock.apt if manager == "apt" else lock.pip
    version = pins.get(package_name(name))
    return name if version is None else pinned(name, manager, version)


@dataclass(slots=True)
class _Setup:
    task: Task
    instance: Instance
    faults: Faults
    steps: list[RecipeStep] = field(default_factory=list)
    files: dict[str, PlannedFile] = field(default_factory=dict)
    env: list[tuple[str, str]] = field(default_factory=list)
    folders: set[str] = field(default_factory=set)
    repositories: dict[int, Repository] = field(default_factory=dict)

    def plan(self, lock: Lock | None, images: Mapping[str, str]) -> SetupPlan:
        setup = self.task.setup
        base = base_image(self.task, lock, images, self.faults)
        self.steps += package_steps(self.task, lock, self.faults)
        self._accounts()
        self._workdir()
        for name, text in setup.env:
            self._variable(name, self.faults.render(text, self.instance.values))
        if setup.dockerfile is not None:
            self._raw()
        for at, step in enumerate(setup.steps):
            self._step(at, step)
        recipe = Recipe(
            base=base,
            steps=tuple(self.steps),
            context=CONTEXT,
            env=tuple(self.env),
            workdir=setup.workdir,
            user=setup.agent,
        )
        return SetupPlan(recipe, self.files, self.repositories)

    def _accounts(self) -> None:
        for account in self.task.setup.accounts:
            span = account.span or self.task.span
            if not _ACCOUNT.fullmatch(account.name) or account.name == "root":
                self.faults.error("account-name", f"{account.name!r} is no name for an account", span)
            elif not is_plain(account.home) or not account.home.startswith("/"):
                self.faults.error("account-home", f"{account.home!r} is no home for an account", span)
            else:
                self.steps.append(AddUser(account.name, account.uid, account.home))

    def _workdir(self) -> None:
        workdir = self.task.setup.workdir
        if not is_plain(workdir) or not workdir.startswith("/") or posixpath.normpath(workdir) != workdir:
            self.faults.error(
                "workdir-form",
                f"{workdir!r} can't be the working folder",
                self.task.span,
                help="Write an absolute path of plain letters, such as /app.",
            )
        elif workdir != "/":
            self._folder(workdir, self.task.setup.agent)

    def _variable(self, name: str, value: str) -> None:
        try:
            quote_env(value)
        except UnquotableError as error:
            self.faults.error(
                "env-value", f"the value of {name} can't stand in an image: {error}", self.task.span,
                help="Put it in a file of the start state instead.",
            )  # fmt: skip
        if not _ENV_NAME.fullmatch(name):
            self.faults.error("env-name", f"{name!r} is no name of an environment variable", self.task.span)
        self.env.append((name, value))

    def _raw(self) -> None:
        text = self.task.setup.dockerfile
        assert text is not None
        for ref in text.refs:
            value = self.faults.render(type(text)((ref,), span=ref.span), self.instance.values)
            if not is_plain(value):
                self.faults.error(
                    "dockerfile-value",
                    f"{ref.kind.value}.{ref.name} is no plain word, so it can't stand in a Dockerfile",
                    ref.span,
                    help="Put the value in a file of the start state and read it there.",
                )
        self.steps.append(Raw(self.faults.render(text, self.instance.values)))

    def _step(self, at: int, step: SetupStep) -> None:
        if isinstance(step, FileStep | GenerateStep | AssetStep):
            if isinstance(step, GenerateStep):
                path = self.faults.render(step.path, self.instance.values)
                if path.endswith("/") and is_plain(path) and path != "/":
                    self._folder(path.rstrip("/"), step.owner or self._folder_owner(path.rstrip("/")))
            self._place(at, [file for file in self.instance.files if file.step == at])
        elif isinstance(step, RunStep):
            script = self.faults.render(step.script, self.instance.values)
            self._shell(f"{at}-run.sh", script, step.user, has_network=step.has_network)
        elif isinstance(step, RepoStep):
            self._repo(at, step)
        elif isinstance(step, PlantStep):
            self._place(at, [file for file in self.instance.files if file.step == at])
            for planted in self.instance.planted:
                if planted.step == at and not planted.is_in_files:
                    self._plant(at, planted)
        else:
            self._refuse_service(step)

    def _refuse_service(self, step: ServiceStep) -> None:
        self.faults.error(
            "target-lacks-service",
            f"no target can carry the service {step.name} yet",
            step.span,
            why="In a separate verifier the processes of the agent's container are gone.",
            help="State the task on files, or start the program in the check with `command`.",
        )

    def _plant(self, at: int, planted: Planted) -> None:
        if planted.how == "env":
            self._variable(planted.target, planted.value)
        else:
            text = render_template("harbor/append.sh.j2", value=planted.value, path=planted.target)
            self._shell(f"{at}-plant.sh", text, "root", workdir="/")

    def _shell(
        self, name: str, text: str, user: str, *, workdir: str | None = None, has_network: bool = False
    ) -> None:
        source = f"setup/{name}"
        self.files[source] = PlannedFile(text.encode(errors="replace"))
        where = self.task.setup.workdir if workdir is None else workdir
        self.steps.append(Shell(source, user, where, has_network))

    def _folder_owner(self, path: str) -> str:
        """Below the working folder they are the agent's, below a home its account's, else root's."""
        setup = self.task.setup
        if is_below(path, setup.workdir):
            return setup.agent
        for account in setup.accounts:
            if is_below(path, account.home):
                return account.name
        return "root"

    def _folder(self, path: str, owner: str) -> None:
        if path not in self.folders:
            self.folders.add(path)
            self.steps.append(MakeFolder(path, 0o755, "" if owner == "root" else owner))

    def _parents(self, path: str) -> list[tuple[str, str]]:
        """The folders above a path that somebody else than root owns, outer ones first."""
        found = []
        folder = posixpath.dirname(path)
        while folder not in ("/", ""):
            owner = self._folder_owner(folder)
            if owner != "root":
                found.append((folder, owner))
            folder = posixpath.dirname(folder)
        return found[::-1]

    def _place(self, at: int, files: Iterable[FixtureFile]) -> None:
        odd: list[dict[str, str]] = []
        odd_folders: dict[str, str] = {}
        for number, file in enumerate(files):
            mode = 0o755 if file.mode & 0o111 else 0o644
            owner = "" if file.owner == "root" else file.owner
            if is_plain(file.path) and ".git" not in file.path.split("/"):
                for folder, folder_owner in self._parents(file.path):
                    self._folder(folder, folder_owner)
                self._forget(file.path)
                source = f"files{file.path}"
                if source in self.files:
                    source = f"files-{at}{file.path}"
                self.steps.append(Copy(source, file.path, file.mode, owner))
            else:
                source, parked = f"odd/{at}-{number}", f"{SETUP_FOLDER}/odd-{at}-{number}"
                odd_folders.update(self._parents(file.path))
                odd_folders.setdefault(posixpath.dirname(file.path), "root")
                odd.append({"parked": parked, "path": file.path})
                self.steps.append(Copy(source, parked, file.mode, owner))
            self.files[source] = PlannedFile(file.data, mode)
        if odd:
            folders = [{"path": path, "owner": owner} for path, owner in odd_folders.items() if path != "/"]
            text = render_template("harbor/place.sh.j2", files=odd, folders=folders)
            self._shell(f"{at}-place.sh", text, "root", workdir="/")

    def _forget(self, path: str) -> None:
        """Drop an earlier copy to the same path that no build step has come to see."""
        for number in range(len(self.steps) - 1, -1, -1):
            step = self.steps[number]
            if not isinstance(step, Copy | MakeFolder):
                return
            if isinstance(step, Copy) and step.path == path:
                del self.steps[number]
                del self.files[step.source]
                return

    def _repo(self, at: int, step: RepoStep) -> None:
        files = next(item for item in self.instance.repos if item.step == at)
        try:
            repository = build_repository(step, files, self.instance.values)
        except RepositoryError as error:
            self.faults.error(error.slug, str(error), error.span, help=error.remedy)
            return
        self.repositories[at] = repository
        stream, parked = f"setup/{at}-repo.stream", f"{SETUP_FOLDER}/{at}-repo.stream"
        self.files[stream] = PlannedFile(import_stream(repository))
        self.steps.append(Copy(stream, parked))
        text = render_template(
            "harbor/repo.sh.j2",
            path=repository.path,
            owner=repository.owner,
            checkout=repository.checkout,
            stream=parked,
            folders=folders_of(repository.worktree),
        )
        self._shell(f"{at}-repo.sh", text, "root", workdir="/")
