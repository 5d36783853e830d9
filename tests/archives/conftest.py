from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from nanobench.archives.entries import Entry
from nanobench.archives.layer import LayerFacts, write_layer

EPOCH = 1_700_000_000


@pytest.fixture(scope="session")
def epoch() -> int:
    return EPOCH


@pytest.fixture(scope="session")
def a_file() -> Callable[..., Entry]:
    def make(path: str, data: bytes = b"data", **fields: Any) -> Entry:
        fields = {"mode": 0o644, "mtime": 1000, **fields}
        return Entry(path=path, kind="file", size=len(data), content=lambda: io.BytesIO(data), **fields)

    return make


@pytest.fixture(scope="session")
def packed() -> Callable[[Iterable[Entry]], tuple[bytes, LayerFacts]]:
    def pack(entries: Iterable[Entry]) -> tuple[bytes, LayerFacts]:
        out = io.BytesIO()
        facts = write_layer(entries, out, epoch=EPOCH)
        return out.getvalue(), facts

    return pack


@pytest.fixture(scope="session")
def trees(a_file: Callable[..., Entry]) -> st.SearchStrategy[list[Entry]]:
    """Lists of entries that make a tree: no path twice, nothing below a file, odd names, links of both kinds."""
    odd = st.binary(min_size=1, max_size=12).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
    plain = st.text("ab-.+é\u2028", min_size=1, max_size=5) | st.just("long" * 40)
    name = (odd | plain).filter(lambda n: "/" not in n and n not in (".", "..") and not any(map(_control, n)))
    path = st.lists(name, min_size=1, max_size=4).map("/".join)
    mode, mtime = st.sampled_from([0o644, 0o755]), st.integers(-10, 2**34)
    files = st.builds(a_file, path, st.binary(max_size=2000), mode=mode, mtime=mtime)
    folders = st.builds(Entry, path=path, kind=st.just("dir"), mode=st.just(0o755), mtime=mtime)
    links = st.builds(
        Entry, path=path, kind=st.just("symlink"), mode=st.just(0o777), mtime=mtime, link=path | st.just("/etc/" * 30)
    )
    return st.lists(files | folders | links, max_size=12).map(_consistent).flatmap(_with_hard_links)


def _control(character: str) -> bool:
    return ord(character) < 0x20 or ord(character) == 0x7F


def _consistent(entries: list[Entry]) -> list[Entry]:
    kept: dict[str, Entry] = {}
    for entry in entries:
        above = ["/".join(entry.path.split("/")[:n]) for n in range(1, entry.path.count("/") + 1)]
        below = any(path.startswith(entry.path + "/") for path in kept)
        if entry.path in kept or below or any(kept[p].kind != "dir" for p in above if p in kept):
            continue
        kept[entry.path] = entry
    return list(kept.values())


def _with_hard_links(entries: list[Entry]) -> st.SearchStrategy[list[Entry]]:
    files = [entry for entry in entries if entry.kind == "file"]
    if not files:
        return st.just(entries)

    def linked(targets: list[Entry]) -> list[Entry]:
        paths = {entry.path for entry in entries}
        links = {f"{target.path}{n}": target for n, target in enumerate(targets) if f"{target.path}{n}" not in paths}
        return entries + [
            Entry(path=path, kind="hardlink", mode=0, mtime=0, link=target.path)
            for path, target in links.items()
            if not any(other.startswith(path + "/") for other in paths)
        ]

    return st.lists(st.sampled_from(files), max_size=3).map(linked)


@pytest.fixture
def layer_file(tmp_path: Path, packed: Callable[..., tuple[bytes, LayerFacts]]) -> Callable[..., Path]:
    def make(*entries: Entry) -> Path:
        path = tmp_path / "layer.tar"
        path.write_bytes(packed(entries)[0])
        return path

    return make
