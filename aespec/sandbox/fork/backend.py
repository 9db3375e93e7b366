"""The backend `fork`: images from layers on disk, a supervisor per slot."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aespec.bundle.recipe import Recipe
from aespec.sandbox.api import Abilities, Build, Difference, Image, SandboxError, SandboxLimits
from aespec.sandbox.dockerfiles import UnsupportedError
from aespec.sandbox.fork import archive, cell, images, roots
from aespec.sandbox.fork.build import BUILD_LIMITS, Base, Workshop, build_steps
from aespec.sandbox.fork.cgroup import ControlGroup, reap_groups
from aespec.sandbox.fork.identity import Identity, find_identity
from aespec.sandbox.fork.pool import GroupLimits, Pool
from aespec.sandbox.fork.probe import Probe, probe
from aespec.sandbox.fork.slot import ForkSlot, Rights
from aespec.sandbox.fork.worker import Worker
from aespec.sandbox.layers import (
    RESERVE_BYTES,
    Store,
    chain_digest,
    difference_digest,
    full_disk,
    layer_id,
)

_CERTIFICATE_PLACES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
_BYTES_PER_INODE = 4096


class ForkSandbox:
    """See `aespec.sandbox.api.Sandbox`. Safe to use from several threads; slots are independent."""

    name = "fork"

    def __init__(
        self,
        *,
        tier: str | None = None,
        roots: Sequence[str] = roots.ORDER,
        allow_host_root: bool = True,
        image_map: Mapping[str, str] | None = None,
        upper: str = "auto",
    ) -> None:
        """`tier` None takes the best there is. `roots` are the ways to a base image, in order of trial.

        `upper` says where what a slot writes lies: `tmpfs` (sized), `disk` (watched), or `auto`, the first
        that works. `image_map` takes a recipe's public name to a name that is to be had here.
        """
        self._tier = tier
        self._roots = tuple(way for way in roots if way != "host" or allow_host_root)
        self._image_map = dict(image_map or {})
        self._upper = upper
        self._found: tuple[Probe, Identity] | None = None
        self._store_found: Store | None = None
        self._pool = Pool()

    # --- what is possible --------------------------------------------------------------------------------

    def abilities(self) -> Abilities:
        """See the contract. The first call starts a sandbox to see."""
        found, identity = self._look()
        return Abilities(self.name, found.tier, found.missing, {**found.facts, "ids": identity.helper})

    def _look(self) -> tuple[Probe, Identity]:
        if self._found is None:
            wanted = [self._tier] if self._tier else ["full", "single-uid"]
            missing: dict[str, str] = {}
            for tier in wanted:
                try:
                    identity = find_identity(tier)
                except SandboxError as error:
                    missing[f"tier {tier}"] = error.remedy
                    continue
                found = probe(identity, self._store_of(identity), upper=self._upper)
                self._found = (found.with_missing(missing), identity)
                if found.tier != "none":
                    break
                missing.update(found.missing)
            if self._found is None:
                self._found = (Probe("none", missing, {}), Identity("none", "none", 0, 0))
        return self._found

    def _ready(self) -> tuple[Probe, Identity]:
        found, identity = self._look()
        if found.tier == "none":
            what, remedy = next(iter(found.missing.items()), ("namespaces", "run `aespec doctor`"))
            raise SandboxError(f"the fork sandbox can't work here: no {what}", remedy=remedy)
        return found, identity

    def _store_of(self, identity: Identity) -> Store:
        if self._store_found is None or self._store_found.folder.name != identity.key:
            owner = (identity.first_uid, identity.first_gid) if identity.helper == "root" else None

            def remove(folder: Path) -> None:
                _remove_tree(folder, identity)

            self._store_found = Store(identity.key, remove, owner=owner)
            self._store_found.reap()
            reap_groups()
        return self._store_found

    # --- images ------------------------------------------------------------------------------------------

    def prepare(
        self, recipe: Recipe, context: Path, *, progress: Callable[[str], None] | None = None
    ) -> Image:
        """See the contract."""
        self._ready()
        say = progress or (lambda _: None)
        workshop = self._workshop()
        base = roots.find_base(recipe, workshop, self._roots, self._image_map, say)
        lowers, digest = build_steps(base, recipe, context, workshop, say)
        env = {**base.env, **dict(recipe.env)}
        return Image(
            digest,
            ForkRoot(lowers, base.trees),
            env,
            recipe.workdir,
            recipe.user,
            is_reproducible=not base.trees,
        )

    def import_image(self, name: str, tar: Path) -> str:
        """Take a root file system from a tar (plain or compressed) as the base image `name`; its digest."""
        self._ready()
        return roots.import_tar(name, tar, self._workshop()).digest

    def build(self, build: Build, *, progress: Callable[[str], None] | None = None) -> Image:
        """See the contract. What only an engine can do is left to one, where one is at hand."""
        self._ready()
        say = progress or (lambda _: None)
        if build.dockerfile is None:
            return self._image(
                images.prebuilt(self._find_base(build.image or "scratch", say), self._workshop())
            )
        try:
            return self._image(
                images.ImageBuilder(
                    build, self._workshop(), lambda name: self._find_base(name, say), say
                ).image()
            )
        except UnsupportedError as error:
            say(f"{error}: an engine builds it")
            return self._image(images.prebuilt(self._built_by_engine(build, error, say), self._workshop()))

    def _find_base(self, name: str, say: Callable[[str], None]) -> Base:
        workshop = self._workshop()
        if name == "scratch":
            return roots.scratch_base(workshop)
        recipe = Recipe(name, (), "")
        return roots.find_base(recipe, workshop, self._roots, self._image_map, say, pulls=True)

    def _built_by_engine(self, wanted: Build, reason: SandboxError, say: Callable[[str], None]) -> Base:
        from aespec.sandbox.docker.backend import DockerSandbox

        try:
            made = DockerSandbox(image_map=self._image_map).build(wanted, progress=say)
        except SandboxError as error:
            if error.boundary == "image":
                raise
            remedy = f"a Docker engine can build it: {error.remedy or error}"
            raise SandboxError(str(reason), remedy, boundary="image") from None
        recipe = Recipe(str(made.reference), (), "")
        return roots.find_base(recipe, self._workshop(), ("engine",), {}, say)

    def _image(self, built: images.Built) -> Image:
        settings = built.settings
        workdir, user = settings.workdir or "/", settings.user or "root"
        content = {"env": settings.env, "workdir": workdir, "user": user, "entry": settings.entrypoint}
        return Image(
            chain_digest(built.digest, content),
            ForkRoot(built.lowers, built.trees),
            dict(settings.env),
            workdir,
            user,
            is_reproducible=not built.trees,
            entrypoint=settings.entrypoint,
        )

    def freeze(self, image: Image, difference: Difference) -> Image:
        """See the contract: one more layer over the image's own."""
        root = _root_of(image)
        store = self._workshop().store
        digest = difference_digest(image, difference)

        def make(name: str) -> dict[str, str]:
            with self._open_root(root.lowers, root.trees, {}, BUILD_LIMITS, name, is_build=True) as slot:
                try:
                    slot.put(difference.archive, clean=difference.deleted)
                except SandboxError as error:
                    if "is full" in str(error):
                        raise full_disk(store.folder) from None
                    raise
            return {"over": image.digest}

        if store.find(digest) is None:
            store.make(digest, make)
        return replace(image, digest=digest, reference=ForkRoot((layer_id(digest), *root.lowers), root.trees))

    def _workshop(self) -> Workshop:
        _, identity = self._ready()
        return Workshop(self._store_of(identity), identity, self._open_root)

    def close(self) -> None:
        """End the supervisors that wait for a next slot; without it they end with this object."""
        self._pool.close()

    def stop(self) -> None:
        """See `Stoppable`."""
        self._pool.stop()

    # --- slots -------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def open(self, image: Image, limits: SandboxLimits) -> Iterator[ForkSlot]:
        """See the contract. What a slot writes is bounded by `disk_bytes` and goes with it."""
        found, _ = self._ready()
        root = _root_of(image)
        with contextlib.ExitStack() as stack:
            upper = ""
            if found.facts["upper"] == "disk":
                upper = stack.enter_context(self._store_of(self._ready()[1]).workspace("slot"))
            yield stack.enter_context(self._open_root(root.lowers, root.trees, image.env, limits, upper))

    @contextlib.contextmanager
    def _open_root(
        self,
        lowers: tuple[str, ...],
        trees: tuple[tuple[str, str], ...],
        env: Mapping[str, str],
        limits: SandboxLimits,
        upper: str,
        *,
        is_build: bool = False,
    ) -> Iterator[ForkSlot]:
        _, identity = self._ready()
        shown = dict(trees)
        certificates = next((place for place in _CERTIFICATE_PLACES if os.path.isfile(place)), None)
        if certificates:
            shown["certificates"] = os.path.realpath(certificates)
        group_limits = None
        if not is_build:
            # In memory, what is written counts as memory: the two limits together are the group's.
            memory_bytes = limits.memory_bytes + (0 if upper else limits.disk_bytes)
            group_limits = GroupLimits(memory_bytes, limits.processes, limits.cpu)
        folder = self._store_of(identity).folder
        with self._pool.post(identity, folder, tuple(sorted(shown.items())), group_limits) as post:
            post.worker.ask(
                {
                    "do": "mount",
                    "lowers": [f"{name}/fs" for name in lowers],
                    "upper": upper,
                    "disk_bytes": limits.disk_bytes,
                    "inodes": max(1024, limits.disk_bytes // _BYTES_PER_INODE),
                }
            )
            rights = Rights(
                cell.BUILD_CAPABILITIES if is_build else cell.ROOT_CAPABILITIES,
                f"{upper}/fs" if upper else "",
                RESERVE_BYTES if upper else 0,
                bounds_address_space=not is_build and not _bounds_memory(post.group),
                pretends_ownership=not identity.switches_user,
                has_certificates=certificates is not None,
            )
            yield ForkSlot(post.worker, env, limits, rights, switches_user=identity.switches_user)


@dataclass(frozen=True, slots=True)
class ForkRoot:
    """An image's own handle: folders of layers, nearest first, and the host's folders shown over them."""

    lowers: tuple[str, ...]
    trees: tuple[tuple[str, str], ...]


def _root_of(image: Image) -> ForkRoot:
    if not isinstance(image.reference, ForkRoot):
        raise SandboxError("this image was not made by the fork sandbox")
    return image.reference


def _bounds_memory(group: ControlGroup | None) -> bool:
    return group is not None and "memory" in group.controllers


def _remove_tree(folder: Path, identity: Identity) -> None:
    """Remove a folder of the store. A helper's range of ids is only reached from a namespace."""
    if identity.helper == "newuidmap":
        with contextlib.closing(Worker(identity, folder)) as worker:
            worker.ask({"do": "remove", "paths": ["./fs", "./work"]})
    archive.remove(str(folder))
