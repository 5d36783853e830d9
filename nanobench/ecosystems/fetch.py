"""Bring pinned files into the store: in parallel, bounded, each checked by size and hash before it counts.

With ``online=None`` this looks into the store and nowhere else: no client exists that could connect.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial

import httpx
from attrs import frozen

from nanobench.ecosystems.locations import Locations
from nanobench.ecosystems.online import Gone, Online, Unreachable
from nanobench.ecosystems.registries import safe
from nanobench.errors import CannotTell, NanobenchError, Refused
from nanobench.model.lock import Package
from nanobench.store.incoming import check_space
from nanobench.store.store import Store

__all__ = ["Online", "fetch"]

_THREADS = 6


def fetch(
    packages: Iterable[Package],
    store: Store,
    *,
    online: Online | None,
    say: Callable[[str], None],
    progress: Callable[[int], None] | None = None,
) -> None:
    """Make sure that the store holds every file of ``packages``.

    Args:
        online: the permission to use the network; ``None`` forbids it.
        say: told in words what is done.
        progress: told the number of bytes of each piece that arrived (from several threads).

    Raises:
        CannotTell: ``NB_CAPTURED`` when one is missing that no registry has; ``NB_OFFLINE`` when files are missing
            and the network is forbidden; ``NB_SOURCE_GONE`` when a registry no longer has one; ``NB_UNREACHABLE``
            when none answered. All missing files are listed.
        Refused: ``NB_DIGEST`` when what came is not what is locked.
    """
    missing = {p.digest: p for p in packages if not store.has(p.digest)}
    if not missing:
        return
    wanted = tuple(sorted(missing.values(), key=lambda p: p.purl))
    _check_captured(wanted, store)
    if online is None:
        raise CannotTell(
            "NB_OFFLINE",
            f"{len(wanted)} files are not in the store, and the network may not be used",
            where=str(store.root),
            details=tuple(p.purl for p in wanted),
            shown=5,
            hint="run `nanobench fetch` with network first, or leave out --offline",
        )
    total = sum(package.size for package in wanted)
    check_space(store.root, total)
    say(f"fetching {len(wanted)} files, {_mib(total)}")
    _raise_all(_Fetcher(store, online, progress).all(wanted))
    say(f"fetched {len(wanted)} files")


def _check_captured(wanted: Iterable[Package], store: Store) -> None:
    for package in (p for p in wanted if p.role == "captured"):
        value = package.digest.partition(":")[2]
        raise CannotTell(
            "NB_CAPTURED",
            "not in the store, and no registry has it: Docker built it where it was locked",
            where=f"{store.root}: {package.digest}",
            details=(f"in the store of that machine it is blobs/sha256/{value[:2]}/{value}",),
            hint="get that file, run `nanobench store add FILE`, and try again",
        )


def _mib(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"


@frozen
class _Failure:
    package: Package
    kind: type[Exception]
    reasons: tuple[str, ...]


class _Wrong(Exception):
    """The bytes are not the locked ones."""


class _Fetcher:
    def __init__(self, store: Store, online: Online, progress: Callable[[int], None] | None) -> None:
        self._store, self._online, self._progress = store, online, progress or (lambda _: None)
        self._locations = Locations(online)
        self._stop = threading.Event()
        self._arriving: set[socket.socket] = set()

    def all(self, packages: tuple[Package, ...]) -> list[_Failure]:
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="fetch") as pool:
            try:
                return [failure for failure in pool.map(self._one, packages) if failure is not None]
            except BaseException:
                # Disk full or ^C: what is under way ends at its next piece, what waits never starts.
                self._stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                self._hang_up()
                raise

    def _hang_up(self) -> None:
        """Wake who waits for bytes of a server that has fallen silent."""
        for connection in tuple(self._arriving):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _one(self, package: Package) -> _Failure | None:
        """Try each URL in turn; the gravest kind of failure is reported, with the reason of every URL."""
        kinds: list[type[Exception]] = []
        reasons: list[str] = []
        try:
            for url in self._locations.of(package):
                try:
                    self._online.retrying(url, partial(self._download, url, package))
                    return None
                except (Gone, Unreachable, _Wrong) as error:
                    kinds.append(type(error))
                    reasons.append(str(error))
        except (Gone, Unreachable) as error:
            kinds.append(type(error))
            reasons.append(str(error))
        gravest = next(kind for kind in (_Wrong, Unreachable, Gone) if kind in kinds)
        return _Failure(package, gravest, tuple(reasons))

    def _download(self, url: str, package: Package) -> None:
        if self._stop.is_set():
            raise Unreachable(f"{safe(url)}: stopped")
        # Identity: the pinned bytes are the file's own, never those of a transfer coding.
        headers = {"Accept-Encoding": "identity", **self._locations.headers(package)}
        with self._online.stream(url, headers=headers) as response:
            declared = response.headers.get("Content-Length")
            if declared is not None and declared != str(package.size):
                raise _Wrong(f"{safe(url)}: {declared} bytes instead of {package.size}")
            with self._listed(response):
                self._receive(response, safe(url), package)

    @contextmanager
    def _listed(self, response: httpx.Response) -> Iterator[None]:
        stream = response.extensions.get("network_stream")
        connection = stream.get_extra_info("socket") if stream else None
        if connection is None:  # not over a wire
            yield
            return
        self._arriving.add(connection)
        try:
            yield
        finally:
            self._arriving.discard(connection)

    def _receive(self, response: httpx.Response, url: str, package: Package) -> None:
        try:
            with self._store.incoming(package.digest, package.size) as incoming:
                for chunk in self._online.paced(response.iter_raw(), url):
                    if self._stop.is_set():
                        raise Unreachable(f"{url}: stopped")
                    incoming.write(chunk)
                    self._progress(len(chunk))
        except Refused as error:
            raise _Wrong(f"{url}: {error.message}") from error


def _raise_all(failures: list[_Failure]) -> None:
    if not failures:
        return
    details = tuple(f"{f.package.purl}: {'; '.join(f.reasons)}" for f in failures)
    kinds = {f.kind for f in failures}
    count = f"{len(failures)} file{'s' if len(failures) > 1 else ''}"
    error: NanobenchError
    if _Wrong in kinds:
        hint = "a registry or proxy serves other bytes than are pinned: try another mirror, or mend the pin"
        error = Refused("NB_DIGEST", f"{count} could not be had as locked", details=details, hint=hint)
    elif Gone in kinds:
        hint = "name a mirror or snapshot that still has them (NANOBENCH_DEBIAN_MIRROR takes several), or lock again"
        error = CannotTell("NB_SOURCE_GONE", f"{count} could not be had", details=details, hint=hint)
    else:
        hint = "check network, proxy, certificates (SSL_CERT_FILE) and the configured registries, then try again"
        error = CannotTell("NB_UNREACHABLE", f"{count} could not be had", details=details, hint=hint)
    raise error
