"""Single files of the npm registry: what a version's integrity is, and its tarball in the store."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

from nanobench.ecosystems.npm_lockfile import Placed, tarball_path
from nanobench.ecosystems.online import Gone, Online, Unreachable
from nanobench.errors import CannotTell, Refused
from nanobench.formats import json
from nanobench.formats.digest import from_integrity
from nanobench.model.fields import Digest
from nanobench.store.incoming import Incoming
from nanobench.store.store import Store

_MAX_MANIFEST = 4 << 20
_MAX_TARBALL = 512 << 20
_THREADS = 6


def look_up(name: str, version: str, *, online: Online, target: str = "") -> Placed:
    """One exact version, with the integrity that the registry states now.

    Raises:
        CannotTell: ``NB_SOURCE_GONE``, ``NB_UNREACHABLE``.
        Refused: ``NB_INTEGRITY`` when the answer states no sha512.
    """
    url = f"{online.registries.npm()}/{quote(name, safe='@')}/{quote(version)}"
    where = f"npm: {name}@{version}"
    try:
        answer = json.foreign(online.get(url, limit=_MAX_MANIFEST, accept="application/json").content)
    except Gone as error:
        raise CannotTell("NB_SOURCE_GONE", str(error), where=where) from error
    except (Unreachable, ValueError) as error:
        raise CannotTell("NB_UNREACHABLE", str(error), where=where, hint="check the network and registry") from error
    stated = answer.get("dist") if isinstance(answer, dict) else None
    integrity = stated.get("integrity") if isinstance(stated, dict) else None
    digest = from_integrity(str(integrity), where=where)
    path = tarball_path(name, version)
    script = isinstance(answer, dict) and bool(answer.get("hasInstallScript"))
    return Placed(target=target, name=name, version=version, path=path, digest=digest, script=script)


def obtain(placed: Iterable[Placed], store: Store, *, online: Online) -> dict[Digest, int]:
    """Bring every tarball into the store, checked by its integrity; its size in bytes by digest.

    Raises:
        CannotTell: ``NB_SOURCE_GONE``, ``NB_UNREACHABLE``.
        Refused: ``NB_DIGEST`` when other bytes came.
    """
    distinct = {p.digest: p for p in placed}
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="npm") as pool:
        sizes = pool.map(lambda p: _size(p, store, online), distinct.values())
        return dict(zip(distinct, sizes, strict=True))


def _size(placed: Placed, store: Store, online: Online) -> int:
    def fill(incoming: Incoming) -> None:
        with online.stream(url, headers={"Accept-Encoding": "identity"}) as response:
            received = 0
            for chunk in online.paced(response.iter_raw(), url):
                received += len(chunk)
                if received > _MAX_TARBALL:
                    raise Refused("NB_DIGEST", f"more than {_MAX_TARBALL} bytes", where=placed.purl)
                incoming.write(chunk)

    url = f"{online.registries.npm()}/{placed.path}"
    try:
        return online.retrying(url, lambda: store.obtain(placed.digest, fill)).stat().st_size
    except Gone as error:
        raise CannotTell("NB_SOURCE_GONE", str(error), where=placed.purl) from error
    except Unreachable as error:
        raise CannotTell("NB_UNREACHABLE", str(error), where=placed.purl, hint="check the network") from error
