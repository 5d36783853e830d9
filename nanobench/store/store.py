"""The store of everything that is known by its digest, on one file system, used by many processes at once.

``blobs/<algorithm>/<aa>/<hex>`` with a ``.seal`` beside each, ``trees/<key>`` with ``.seal`` and ``.contents``,
``recipes/<aa>/<hex>``, ``roots/``, ``scratch/``, ``quarantine/``, ``locks/``. Directories are 0755 and files
0444, whatever the umask. Nothing gets its final name before it is complete and checked.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import platformdirs

from nanobench.errors import CannotTell, MachineFailure, NanobenchError, Refused
from nanobench.formats import json
from nanobench.formats.digest import sha256, sha256_hex
from nanobench.model.fields import DIGEST, Digest, Document
from nanobench.store import roots, seals
from nanobench.store.files import full_disk, make_folder
from nanobench.store.incoming import Incoming, check_space
from nanobench.store.locks import Say, key_lock, usage_of
from nanobench.store.scratch import Scratch

_KEY = re.compile(r"[a-z0-9][a-z0-9_-]{0,127}")
_ROOMS = ("blobs/sha256", "blobs/sha512", "trees", "recipes", "roots", "quarantine", "locks")


def default_root() -> Path:
    """``$NANOBENCH_STORE``, else ``nanobench`` in the user's cache directory (``$XDG_CACHE_HOME``).

    Raises:
        MachineFailure: ``NB_STORE`` for a user without a home.
    """
    chosen = os.environ.get("NANOBENCH_STORE")
    try:
        return Path(chosen).absolute() if chosen else platformdirs.user_cache_path("nanobench")
    except RuntimeError:  # a uid that nobody named, and no $HOME
        hint = "choose a place with --store or $NANOBENCH_STORE"
        raise MachineFailure("NB_STORE", "this user has no home for a store", hint=hint) from None


class Store:
    """The store at ``root``, made when it is not there. Several threads may use one object.

    Args:
        say: told at once what is waited for.
        patience: seconds that any one wait may last.

    Raises:
        MachineFailure: ``NB_STORE`` when there can be no store at ``root``.
    """

    def __init__(self, root: Path, *, say: Say = lambda _: None, patience: float = 1800) -> None:
        self.root, self.say, self.patience = root.absolute(), say, patience
        try:
            for room in _ROOMS:
                make_folder(self.root / room)
            self._scratch = Scratch(self.root / "scratch")
            self._usage = usage_of(self.root / "in-use", patience=patience, say=say)
        except OSError as error:
            hint = "choose another place with --store or $NANOBENCH_STORE"
            raise MachineFailure("NB_STORE", f"no store can be here: {error}", where=str(root), hint=hint) from error

    # Blobs ------------------------------------------------------------------------------------------------------

    def has(self, digest: Digest) -> bool:
        """Whether the blob is here (it is verified when it is used)."""
        return self._place(digest).is_file()

    def blob(self, digest: Digest) -> Path:
        """The file that holds the blob, verified; it must not be changed nor hard-linked.

        Raises:
            CannotTell: ``NB_BLOB_MISSING``.
            Refused: ``NB_BLOB_CORRUPT``; the blob is then in quarantine, so that it can be fetched again.
        """
        path = self._place(digest)
        try:
            look = seals.look_at_file(path)
            if self._seal(path).get("look") == look.stamp:
                return path
            found = seals.file_hash(path, digest.partition(":")[0])
        except FileNotFoundError:
            raise _missing(digest) from None
        if found != path.name:
            raise self._corrupt(digest)
        if look.still:
            self._write_seal(path, {"look": look.stamp})
        return path

    def read(self, digest: Digest) -> bytes:
        """The blob's bytes, hashed at every call; raises like :meth:`blob`."""
        path = self._place(digest)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise _missing(digest) from None
        if hashlib.new(digest.partition(":")[0], data).hexdigest() != path.name:
            raise self._corrupt(digest)
        return data

    def put(self, data: bytes) -> Digest:
        """Keep ``data`` and return its sha256."""
        digest = sha256(data)
        if not self.has(digest):
            with self.incoming(digest, len(data)) as incoming:
                incoming.write(data)
        return digest

    @contextmanager
    def incoming(self, digest: Digest | None = None, size: int | None = None) -> Iterator[Incoming]:
        """Write a blob piece by piece; it is in the store after the with-block, or not at all.

        Args:
            digest: what it must be; None when only the writing tells (sha256 then).
            size: how many bytes it must have; the space is checked before the first.

        Raises:
            Refused: ``NB_DIGEST`` when other bytes were written.
            MachineFailure: ``NB_DISK_FULL``.
        """
        if digest is not None:
            self._place(digest)
        check_space(self.root, size or 0)
        with self._scratch.file() as (descriptor, path):
            incoming = Incoming(descriptor, digest, size)
            yield incoming
            incoming.finish()
            place = self._place(incoming.digest)
            make_folder(place.parent)
            path.replace(place)

    def obtain(self, digest: Digest, fill: Callable[[Incoming], None]) -> Path:
        """The blob, verified; ``fill`` is called to write it when it is not here. Never by two processes at once."""
        if not self.has(digest):
            with self._lock(digest.replace(":", "-")):
                if not self.has(digest):
                    with self.incoming(digest) as incoming:
                        fill(incoming)
        return self.blob(digest)

    # Trees ------------------------------------------------------------------------------------------------------

    def tree(self, key: str) -> Path | None:
        """The published tree of ``key``, verified by how every path looks, else by its contents; None without one.

        Raises:
            Refused: ``NB_TREE_CHANGED`` naming the first path that is not as published; the tree is then in
                quarantine, so that it will be made again.
        """
        place = self._tree(key)
        seal = self._seal(place)
        if not seal or not place.is_dir():
            return None
        look = seals.look_at_tree(place)
        if look.stamp != seal.get("look"):
            self._compare(place, seal)
            if look.still:
                self._write_seal(place, {**seal, "look": look.stamp})
        return place

    def make_tree(self, key: str, fill: Callable[[Path], None]) -> Path:
        """The tree of ``key``; ``fill`` makes it in the empty directory it is given when it is not here yet.

        Never made by two processes at once. Raises like :meth:`tree`, and whatever ``fill`` raises.
        """
        found = self.tree(key)
        if found is not None:
            return found
        with self._lock(f"tree-{key}"):
            return self.tree(key) or self._build(key, fill)

    def _build(self, key: str, fill: Callable[[Path], None]) -> Path:
        place = self._tree(key)
        with self.scratch("tree") as work:
            made = work / "tree"
            make_folder(made)
            fill(made)
            contents = seals.tree_contents(made).dump()
            if place.exists():  # published by somebody who was killed before he could seal it
                place.rename(work / "unsealed")
            self._publish(_contents_of(place), contents, durable=False)
            made.rename(place)
            time.sleep(2 * seals.TICK_NS / 1e9)  # so that it is still
            self._write_seal(place, {"contents": sha256_hex(contents), "look": seals.look_at_tree(place).stamp})
        return place

    def _compare(self, place: Path, seal: Document) -> None:
        try:
            known = _contents_of(place).read_bytes()
        except FileNotFoundError:
            known = b""
        if sha256_hex(known) != seal.get("contents"):
            raise self._changed(place, "its list of contents")
        path = seals.Contents.parse(known).difference(seals.tree_contents(place))
        if path is not None:
            raise self._changed(place, path.decode("utf-8", "backslashreplace") or ".")

    # Recipes ----------------------------------------------------------------------------------------------------

    def recall(self, recipe: str) -> Document | None:
        """What :meth:`remember` was told for this recipe (hex digest); None when unknown or no longer readable."""
        place = self._recipe(recipe)
        try:
            document = json.parse(place.read_bytes(), where=str(place))
            output: Document = document["output"]
            sound = document["sha256"] == sha256_hex(json.dump(output))
        except (FileNotFoundError, KeyError, Refused):
            return None
        return output if sound else None

    def remember(self, recipe: str, output: Document) -> None:
        """Note that the recipe (hex digest) gave ``output``."""
        document = {"output": output, "sha256": sha256_hex(json.dump(output))}
        self._publish(self._recipe(recipe), json.dump(document))

    # Scratch ----------------------------------------------------------------------------------------------------

    def scratch(self, purpose: str) -> AbstractContextManager[Path]:
        """A private work directory (mode 0755) on the store's file system, removed on any exit."""
        _check_key(purpose)
        return self._scratch.directory(purpose)

    def leftovers(self) -> tuple[Path, ...]:
        """Scratch whose owner is dead."""
        return self._scratch.leftovers()

    def sweep(self) -> tuple[Path, ...]:
        """Remove the scratch of dead owners; returns what was removed."""
        return self._scratch.sweep()

    # Keeping and removing ---------------------------------------------------------------------------------------

    def register_root(self, file: Path, keep: Iterable[str]) -> None:
        """Keep blobs (digests) and trees (keys) from :meth:`gc` as long as ``file`` exists.

        A tree whose key is the hex of a kept digest is kept too. Registering a file again replaces its list.
        """
        name, data = roots.record(file, keep)
        self._publish(self.root / "roots" / name, data)

    def gc(self) -> int:
        """Remove what no registered file that still exists reaches; the bytes of disk that were freed.

        Waits until no other process uses the store, and needs no free space. Other threads of this process must not
        use it meanwhile.

        Raises:
            MachineFailure: ``NB_LOCK_TIMEOUT`` when others do not end.
            Refused: ``NB_ROOT`` when a root cannot be read: nothing is removed then.
        """
        with self._usage.alone(patience=self.patience, say=self.say):
            self.sweep()
            return roots.collect(self.root)

    def verify(self) -> tuple[NanobenchError, ...]:
        """Hash every blob and every tree anew; what was wrong, each of which is now in quarantine."""
        bad: list[NanobenchError] = []
        for digest in roots.blobs(self.root):
            try:
                _seal_of(self._place(digest)).unlink(missing_ok=True)
                self.blob(digest)
            except NanobenchError as error:
                bad.append(error)
        for key in roots.trees(self.root):
            try:
                self._recheck(key)
            except NanobenchError as error:
                bad.append(error)
        return tuple(bad)

    def _recheck(self, key: str) -> None:
        seal = self._seal(self._tree(key))
        if seal:
            self._compare(self._tree(key), seal)

    # Inside -----------------------------------------------------------------------------------------------------

    def _place(self, digest: Digest) -> Path:
        if not re.fullmatch(DIGEST, digest):
            raise Refused("NB_DIGEST", f"not a digest: {digest!r:.160}")
        algorithm, value = digest.split(":")
        return self.root / "blobs" / algorithm / value[:2] / value

    def _tree(self, key: str) -> Path:
        return self.root / "trees" / _check_key(key)

    def _recipe(self, recipe: str) -> Path:
        return self.root / "recipes" / _check_key(recipe)[:2] / recipe

    def _lock(self, key: str) -> AbstractContextManager[None]:
        return key_lock(self.root / "locks", key, patience=self.patience, say=self.say)

    def _seal(self, place: Path) -> Document:
        """The seal beside ``place``; empty when there is none, or none that can be read."""
        try:
            return json.parse(_seal_of(place).read_bytes(), where="seal")
        except (FileNotFoundError, Refused):
            return {}

    def _write_seal(self, place: Path, seal: Document) -> None:
        self._publish(_seal_of(place), json.dump(seal), durable=False)  # one that is lost costs a hashing

    def _publish(self, place: Path, data: bytes, *, durable: bool = True) -> None:
        make_folder(place.parent)
        try:
            with self._scratch.file() as (descriptor, path):
                with open(descriptor, "wb", closefd=False) as file:
                    file.write(data)
                os.fchmod(descriptor, 0o444)
                if durable:
                    os.fsync(descriptor)
                path.replace(place)
        except OSError as error:
            raise full_disk(error) from error

    def _quarantine(self, place: Path) -> None:
        with suppress(FileNotFoundError):  # another process was quicker
            place.rename(self.root / "quarantine" / f"{place.name}-{secrets.token_hex(4)}")
        _seal_of(place).unlink(missing_ok=True)

    def _corrupt(self, digest: Digest) -> Refused:
        self._quarantine(self._place(digest))
        hint = "it was put into quarantine; `nanobench fetch` brings it again"
        return Refused("NB_BLOB_CORRUPT", "the stored bytes have another digest", where=digest, hint=hint)

    def _changed(self, place: Path, path: str) -> Refused:
        self._quarantine(place)
        _contents_of(place).unlink(missing_ok=True)
        return Refused(
            "NB_TREE_CHANGED",
            "not as it was published: something wrote into the store",
            where=f"{place}: {path}",
            hint="it was put into quarantine; the same command now makes it anew from its blob",
        )


def _missing(digest: Digest) -> CannotTell:
    hint = "`nanobench fetch` or `nanobench build` brings it"
    return CannotTell("NB_BLOB_MISSING", "not in the store", where=digest, hint=hint)


def _check_key(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise ValueError(f"not a key of the store: {key!r}")
    return key


def _seal_of(place: Path) -> Path:
    return place.with_name(place.name + ".seal")


def _contents_of(place: Path) -> Path:
    return place.with_name(place.name + ".contents")
