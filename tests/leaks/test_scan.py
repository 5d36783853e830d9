"""The solution in files of an image: as it is, compiled, minified, packed, installed. Each is found at its place."""

from __future__ import annotations

import base64
import bz2
import gzip
import html
import io
import json
import lzma
import os
import py_compile
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from attrs import evolve

from nanobench.leaks.scan import Scanner
from nanobench.leaks.search import Search
from nanobench.model.fields import Digest
from nanobench.store.store import Store

Plant = Callable[[str, "str | bytes"], Path]
SITE = "usr/lib/python3/site-packages"


def zipped(members: dict[str, str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return out.getvalue()


def tarred(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def test_a_clean_image_has_nothing(toy: Any, image: Path) -> None:
    strays, scanned = toy.survey(image)
    assert (strays, scanned.found, scanned.unread) == ((), (), ())


def test_a_newer_release_that_is_installed_is_found_by_its_version_and_its_files(
    toy: Any, plant: Plant, fixed: str
) -> None:
    plant(f"{SITE}/toy/parser.py", fixed)
    image = plant(f"{SITE}/toy-1.1.dist-info/METADATA", "Metadata-Version: 2.4\nName: Toy\nVersion: 1.1\n\nA toy\n")
    assert toy.places(image) == {
        (f"/{SITE}/toy/parser.py", "file"),
        (f"/{SITE}/toy/parser.py", "lines"),
        (f"/{SITE}/toy-1.1.dist-info/METADATA", "version"),
    }


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (f"{SITE}/toy-1.0.dist-info/METADATA", "Name: toy\nVersion: 1.0\n"),
        (f"{SITE}/toy-0.9.dist-info/METADATA", "Name: toy\nVersion: 0.9\n"),
        (f"{SITE}/toys-2.0.dist-info/METADATA", "Name: toys\nVersion: 2.0\n"),
        ("app/node_modules/toy/package.json", '{"name": "toy", "version": "1.0.0-rc.1"}'),
        ("app/node_modules/toy/package.json", '{"name": "toy", "version": 3}'),
        ("app/node_modules/toy/package.json", "[" * 3000),
    ],
)
def test_a_copy_that_is_not_newer_passes(path: str, text: str, toy: Any, plant: Plant) -> None:
    assert toy.places(plant(path, text)) == set()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("opt/venv/lib/toy.egg-info/PKG-INFO", "Name: toy\nVersion: 1.0.post1\n"),
        ("opt/venv/lib/toy-1.1.egg-info", "Name: toy\nVersion: 1.1\n"),
        ("app/node_modules/x/node_modules/toy/package.json", '{"name": "toy", "version": "1.0.1"}'),
        ("app/node_modules/toy/package.json", '{"name": "toy", "version": "2.0.0-beta.1"}'),
    ],
)
def test_a_newer_version_alone_is_found(path: str, text: str, toy: Any, plant: Plant) -> None:
    assert toy.places(plant(path, text)) == {(f"/{path}", "version")}


def test_a_wheel_in_a_cache_is_opened(toy: Any, plant: Plant, fixed: str) -> None:
    metadata = "toy-1.1.dist-info/METADATA"
    wheel = zipped({"toy/parser.py": fixed, metadata: "Name: toy\nVersion: 1.1\n"})
    image = plant("root/.cache/pip/http-v2/a/b/c/abc.body", wheel)
    assert toy.places(image) == {
        ("/root/.cache/pip/http-v2/a/b/c/abc.body!toy/parser.py", "file"),
        ("/root/.cache/pip/http-v2/a/b/c/abc.body!toy/parser.py", "lines"),
        (f"/root/.cache/pip/http-v2/a/b/c/abc.body!{metadata}", "version"),
    }


def test_an_npm_cache_is_opened(toy: Any, plant: Plant) -> None:
    package = b'{"name": "toy", "version": "1.1.0"}'
    path = "root/.npm/_cacache/content-v2/sha512/ab/cd/ef"
    image = plant(path, gzip.compress(tarred({"package/package.json": package})))
    assert toy.places(image) == {(f"/{path}!package/package.json", "version")}


def test_byte_code_is_found_by_the_names_and_texts_in_it(
    toy: Any, plant: Plant, image: Path, fixed: str, tmp_path: Path
) -> None:
    (tmp_path / "parser.py").write_text(re.sub(r'"""[^"]*"""', '"""Another text."""', fixed))
    compiled = py_compile.compile(str(tmp_path / "parser.py"), cfile=str(tmp_path / "parser.pyc"), doraise=True)
    assert compiled is not None
    path = f"{SITE}/toy/__pycache__/parser.cpython-311.pyc"
    plant(path, Path(compiled).read_bytes())
    assert toy.places(image) == {(f"/{path}", "names")}


def test_a_source_map_is_unquoted(toy: Any, plant: Plant, fixed: str) -> None:
    document = {"version": 3, "sources": ["parser"], "sourcesContent": ["x = 1\n", fixed], "mappings": "AAAA"}
    image = plant("app/dist/main.js.map", json.dumps(document))
    assert ("/app/dist/main.js.map", "lines") in toy.places(image)


def test_a_minified_bundle_is_found_by_its_joined_lines_or_by_its_names(toy: Any, plant: Plant, fixed: str) -> None:
    joined = "var a=1;" * 100 + fixed.replace("\n", " ")
    renamed = "".join(f"var {name}=function(e){{return e}};" for name in ("next_field", "x" * 300))
    renamed += "throw Error(`the quote at column ${e} is never closed`);class UnclosedQuote extends Error{}"
    plant("app/dist/joined.js", joined)
    image = plant("app/dist/renamed.js", renamed)
    assert toy.places(image) >= {("/app/dist/joined.js", "lines"), ("/app/dist/renamed.js", "names")}


def test_one_name_alone_is_chance(toy: Any, plant: Plant) -> None:
    assert toy.places(plant("app/dist/other.js", "var next_field=1;" + "x" * 500)) == set()


def test_names_in_a_text_of_lines_are_no_leak(toy: Any, plant: Plant) -> None:
    assert toy.places(plant("usr/share/doc/other.txt", "next_field\nUnclosedQuote\n" * 20)) == set()


@pytest.mark.parametrize(
    "pack",
    [gzip.compress, bz2.compress, lzma.compress, zlib.compress, zstandard.ZstdCompressor().compress,
     lambda data: lzma.compress(data, format=lzma.FORMAT_ALONE),
     lambda data: gzip.compress(data) + b"what tools pass over",
     lambda data: gzip.compress(data + os.urandom(50_000))[:-30_000],
     lambda data: bz2.compress(data[:100]) + bz2.compress(data[100:]),
     lambda data: lzma.compress(data[:100]) + bytes(4) + lzma.compress(data[100:])],
    ids=["gzip", "bzip2", "xz", "zlib", "zstd", "lzma", "gzip and more", "gzip, cut off",
         "two bzip2 streams", "two xz streams, padded"],
)  # fmt: skip
def test_a_compressed_file_is_opened(pack: Callable[[bytes], bytes], toy: Any, plant: Plant, fixed: str) -> None:
    image = plant("usr/share/doc/toy/parser.py.packed", pack(fixed.encode()))
    assert ("/usr/share/doc/toy/parser.py.packed", "lines") in toy.places(image)


def test_a_zip_in_a_tar_in_xz_is_opened(toy: Any, plant: Plant, fixed: str) -> None:
    data = lzma.compress(tarred({"release/toy.zip": zipped({"toy/parser.py": fixed})}))
    image = plant("srv/release.tar.xz", data)
    assert ("/srv/release.tar.xz!release/toy.zip!toy/parser.py", "lines") in toy.places(image)


def test_a_zip_behind_something_else_is_opened(toy: Any, plant: Plant, fixed: str) -> None:
    image = plant("usr/bin/toy", b"#!/usr/bin/env python3\n" + zipped({"toy/parser.py": fixed}))
    assert ("/usr/bin/toy!toy/parser.py", "file") in toy.places(image)


def test_a_zip_behind_more_than_is_looked_at_at_once_is_opened(
    toy: Any, plant: Plant, fixed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nanobench.leaks.contents.PIECE", 100_000)
    image = plant("usr/bin/toy", b"#!/bin/sh\n" + bytes(150_000) + zipped({"toy/parser.py": fixed}))
    assert ("/usr/bin/toy!toy/parser.py", "file") in toy.places(image)


def test_a_zip_before_something_else_is_opened(toy: Any, plant: Plant, fixed: str) -> None:
    image = plant("toy.zip", zipped({"toy/parser.py": fixed}) + b"what tools pass over")
    assert ("/toy.zip!toy/parser.py", "file") in toy.places(image)


def test_a_debian_package_is_opened(toy: Any, plant: Plant, fixed: str) -> None:
    members = {"debian-binary": b"2.0\n", "data.tar.xz": lzma.compress(tarred({"./toy/parser.py": fixed.encode()}))}
    package = b"!<arch>\n"
    for name, data in members.items():
        package += b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name.encode(), 0, 0, 0, b"100644", len(data))
        package += data + b"\n" * (len(data) % 2)
    image = plant("var/cache/apt/archives/python3-toy.deb", package)
    path = "/var/cache/apt/archives/python3-toy.deb!data.tar.xz!./toy/parser.py"
    assert (path, "file") in toy.places(image)


def test_what_an_older_pip_keeps_of_an_answer_is_opened(toy: Any, plant: Plant, fixed: str) -> None:
    sdist = gzip.compress(tarred({"toy/parser.py": fixed.encode()}))
    kept = b"cc=4,\x82\xa8response\x82\xa4body\xc6" + len(sdist).to_bytes(4, "big") + sdist
    image = plant("root/.cache/pip/http/a/b/c", kept + b"\xa7headers\x80\xa4vary\x80")
    assert ("/root/.cache/pip/http/a/b/c!body!toy/parser.py", "file") in toy.places(image)


def test_a_tar_with_devices_is_opened(toy: Any, plant: Plant, fixed: str) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        device = tarfile.TarInfo("dev/null")
        device.type = tarfile.CHRTYPE
        archive.addfile(device)
        packed = gzip.compress(fixed.encode())
        info = tarfile.TarInfo("parser.py.gz")
        info.size = len(packed)
        archive.addfile(info, io.BytesIO(packed))
    assert ("/rootfs.tar!parser.py.gz", "lines") in toy.places(plant("rootfs.tar", out.getvalue()))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_no_encoding_of_text_hides_lines(encoding: str, toy: Any, plant: Plant, fixed: str) -> None:
    assert ("/parser.txt", "lines") in toy.places(plant("parser.txt", fixed.encode(encoding)))


def test_a_source_map_within_its_file_is_found(toy: Any, plant: Plant, fixed: str) -> None:
    document = json.dumps({"version": 3, "sourcesContent": [fixed]}).encode()
    address = b"data:application/json;charset=utf-8;base64," + base64.b64encode(document)
    image = plant("app/dist/main.js", b"x()\n//# sourceMappingURL=" + address + b"\n")
    assert ("/app/dist/main.js!base64", "lines") in toy.places(image)


@pytest.mark.parametrize("indent", [None, 1])
def test_a_notebook_is_unquoted(indent: int | None, toy: Any, plant: Plant, fixed: str) -> None:
    cell = {"cell_type": "code", "source": fixed.splitlines(keepends=True)}
    image = plant("doc/toy.ipynb", json.dumps({"cells": [cell]}, indent=indent))
    assert ("/doc/toy.ipynb", "lines") in toy.places(image)


def test_a_page_that_shows_a_source_is_found(toy: Any, plant: Plant, fixed: str) -> None:
    words = re.sub(r"\S+", lambda word: f'<span class="n">{html.escape(word[0])}</span>', fixed)
    image = plant("usr/share/doc/toy/html/_modules/parser.html", f"<div><pre>{words}</pre></div>")
    assert toy.places(image) == {("/usr/share/doc/toy/html/_modules/parser.html", "lines")}


def test_lines_of_the_hidden_test_in_a_document_are_found(toy: Any, plant: Plant) -> None:
    quoted = """Example::

    def test_a_quoted_field_may_hold_the_separator():
        assert fields('"a,b",c') == ["a,b", "c"]
        assert fields('"",x') == ["", "x"]
"""
    (found,) = toy.survey(plant("usr/share/doc/toy/quoting.rst", quoted))[1].found
    assert (found.place, found.by) == ("/usr/share/doc/toy/quoting.rst", "lines")
    assert found.what.startswith("test patch: tests/test_parser.py:")


def test_a_reindented_and_rewrapped_copy_is_found(toy: Any, plant: Plant, fixed: str) -> None:
    text = "\r\n".join("\t" + line.replace(" = ", "=").replace(", ", " , ") for line in fixed.splitlines())
    assert ("/vendored.py", "lines") in toy.places(plant("vendored.py", text))


def test_what_stands_in_the_base_anyway_does_not_count(toy: Any, image: Path) -> None:
    """A copy of the base is no leak, though the patch quotes it as context and moves some of it."""
    base = (image / "workspace/src/toy/parser.py").read_bytes()
    (image / "copy.py").write_bytes(base)
    assert toy.places(image) == set()


def test_the_answer_of_a_question_is_found(question: Any, plant: Plant) -> None:
    plant("notes.txt", "so it is.\nANSWER:  the parser\n")
    image = plant("srv/task/answer.txt", "the parser\n")
    assert question.places(image) == {("/notes.txt", "answer"), ("/srv/task/answer.txt", "answer")}


def test_a_large_file_is_looked_at_in_pieces_that_overlap(
    toy: Any, plant: Plant, fixed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nanobench.leaks.contents.PIECE", 1000)
    for shift in range(0, 1000, 250):
        image = plant("large.txt", "x" * (2500 + shift) + fixed + "y" * 3000)
        assert ("/large.txt", "lines") in toy.places(image)


def test_a_bomb_is_named_and_left_and_all_else_is_looked_at(toy: Any, plant: Plant, fixed: str) -> None:
    bomb = lzma.compress(lzma.compress(bytes(66 << 20), preset=0))
    plant("a/bomb.xz.xz", bomb)
    scanned = toy.survey(plant("b/parser.py", fixed))[1]
    assert [text.partition(":")[0] for text in scanned.unread] == ["/a/bomb.xz.xz"]
    assert {found.place for found in scanned.found} == {"/b/parser.py"}


@pytest.mark.parametrize(
    "data",
    [zipped({"a": "b"}, zipfile.ZIP_LZMA), b"7z\xbc\xaf\x27\x1c" + bytes(99), b"\x04\x22\x4d\x18" + bytes(99)],
    ids=["a zip with lzma", "7z", "lz4"],
)
def test_what_is_packed_in_a_way_that_is_not_opened_is_named(data: bytes, toy: Any, plant: Plant) -> None:
    (unread,) = toy.survey(plant("packed", data))[1].unread
    assert unread.startswith("/packed: ")


def test_what_is_packed_too_often_is_named(toy: Any, plant: Plant) -> None:
    data = b"x"
    for _ in range(10):
        data = gzip.compress(data)
    (unread,) = toy.survey(plant("onion.gz", data))[1].unread
    assert unread == "/onion.gz: packed more than 8 times"


def test_of_what_is_cut_off_all_is_looked_at_that_came_before(toy: Any, plant: Plant, fixed: str) -> None:
    whole = tarred({"parser.py": fixed.encode(), "rest": bytes(5000)})
    scanned = toy.survey(plant("cut.tar", whole[:4000]))[1]
    assert ("/cut.tar!parser.py", "file") in {(f.place, f.by) for f in scanned.found}
    assert scanned.unread == ()


def test_links_are_not_followed(toy: Any, image: Path, fixed: str, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text(fixed)
    (image / "link.py").symlink_to(tmp_path / "outside.py")
    (image / "folder").symlink_to(tmp_path)
    assert toy.places(image) == set()


def test_a_layer_is_scanned_once_for_the_same_solution(
    toy: Any, plant: Plant, fixed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, store, digest = plant("parser.py", fixed), Store(tmp_path / "store"), Digest(f"sha256:{'1' * 64}")
    scanner = Scanner(search=Search(toy.wanted))
    first = scanner.layer(digest, tree, store=store)
    monkeypatch.setattr(Scanner, "tree", None)
    assert scanner.layer(digest, tree, store=store) == first
    other = Scanner(search=Search(evolve(toy.wanted, files={})))
    with pytest.raises(TypeError):
        other.layer(digest, tree, store=store)
