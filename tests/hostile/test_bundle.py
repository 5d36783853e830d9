"""A bundle that a stranger made: a deed done to a sound one, and the reason that ``verify`` gives."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.audit.verify import Audit, verify
from nanobench.formats import json
from nanobench.formats.digest import sha256_hex
from nanobench.image.workbench import Workbench

Deed = Callable[[Path], object]
ESCAPE = "\x1b]0;title\x07\nbytes    pass"


def in_manifest(name: str) -> Deed:
    """The manifest names one more file."""

    def do(bundle: Path) -> None:
        document = json.parse((bundle / "manifest.json").read_bytes(), where="manifest")
        document["files"][name] = sha256_hex(b"")
        (bundle / "manifest.json").write_bytes(json.dump(document))

    return do


def instead_of_manifest(data: bytes) -> Deed:
    return lambda bundle: (bundle / "manifest.json").write_bytes(data)


def instead_of_blob(make: Callable[[Path], object]) -> Deed:
    def do(bundle: Path) -> None:
        (blob,) = (bundle / "blobs/sha256").iterdir()
        blob.unlink()
        make(blob)

    return do


def nested(bundle: Path) -> None:
    at = os.open(bundle, os.O_RDONLY)
    for _ in range(2000):
        os.mkdir("deep", dir_fd=at)
        below = os.open("deep", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)


def linked_folder(bundle: Path) -> None:
    (bundle / "cells").rename(bundle.parent / "elsewhere")
    (bundle / "cells").symlink_to(bundle.parent / "elsewhere")


def sparse(blob: Path) -> None:
    with blob.open("wb") as file:
        file.truncate(1 << 40)


ROWS: list[tuple[str, Deed, str]] = [
    ("a name that leads out", in_manifest("../../etc/passwd"), "leads out"),
    ("an absolute name", in_manifest("/etc/passwd"), "leads out"),
    ("a name with NUL", in_manifest("a\0b"), "leads out"),
    ("a name with an escape and a line", in_manifest(ESCAPE), "cannot be read"),
    ("a name of 300 bytes", in_manifest("n" * 300), "cannot be read"),
    ("a link to a file", instead_of_blob(lambda blob: blob.symlink_to("/etc/passwd")), "a symbolic link"),
    ("a link to a folder", linked_folder, "cells: not in the manifest"),
    ("a loop of links", lambda bundle: (bundle / "loop").symlink_to("loop"), "loop: not in the manifest"),
    ("a pipe", instead_of_blob(os.mkfifo), "not a regular file"),
    ("a file of a terabyte", instead_of_blob(sparse), "not a regular file of at most"),
    ("2000 folders in each other", nested, "deep/deep/deep/deep: not in the manifest"),
    ("an undecodable name", lambda b: open(os.fsencode(b) + b"/\xff\n\x1b", "w").close(), r"\377\n\033"),
    ("a manifest of floats", instead_of_manifest(b'{"files":{"a":1.5},"schema":1}'), "the float 1.5"),
    ("a key twice", instead_of_manifest(b'{"files":{},"schema":1,"schema":1}'), "stands twice"),
    ("a million keys, the last twice", instead_of_manifest(b"{" + b'"a":1,' * 10**6 + b'"a":1}'), "stands twice"),
    ("endless nesting", instead_of_manifest(b'{"files":' * 10**6), "nested deeper"),
    ("five million values", instead_of_manifest(b'{"files":[' + b"{}," * 5_000_000), "more than 4000000 values"),
    ("endless digits", instead_of_manifest(b'{"schema":' + b"9" * 10**6 + b"}"), "not strict JSON"),
    ("no UTF-8", instead_of_manifest(b'{"files":{"\xff":""}}'), "not strict JSON"),
    ("a byte order mark", instead_of_manifest(b'\xef\xbb\xbf{"files":{},"schema":1}'), "not strict JSON"),
    ("line ends of another system", instead_of_manifest(b'{"files":{},\r\n"schema":1}'), "not the canonical JSON"),
    ("lone surrogates", instead_of_manifest(b'{"files":{"\\ud800":"x"},"schema":1}'), "a lone surrogate"),
]


@pytest.mark.parametrize(("deed", "reason"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_hostile_bundle_fails_with_its_reason(bundle: Path, bench: Workbench, deed: Deed, reason: str) -> None:
    deed(bundle)
    found = verify(bundle, Audit(project=None, bench=bench, online=None))[0]
    assert (found.name, found.verdict) == ("bytes", "fail")
    assert any(reason in line for line in found.reasons), found.reasons
