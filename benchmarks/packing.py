"""Packing: the canonical tar of the largest layer's tree and its digest, beside tar and sha256sum in a pipe."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Place, Row, in_turns
from nanobench.archives.entries import entries_of
from nanobench.archives.layer import write_layer

AIM_RATIO = 2
"""At least half the speed of the pipe."""


def rows(place: Place) -> Iterator[Row]:
    """One row, of the layer ``debian``."""
    environment = place.first.place.image.environment
    tree, epoch = environment.trees[0], environment.epoch
    ours, pipe = in_turns(place.repeats, lambda: _pack(tree, epoch), lambda: _pipe(tree, epoch))
    yield Row(
        name=f"canonical tar and digest of {environment.layers[0].size >> 20} MiB",
        unit="s",
        value=ours,
        yardstick="tar --sort=name | sha256sum",
        against=pipe,
        aim=AIM_RATIO,
        aim_of="ratio",
        runs=place.repeats,
    )


class _Nowhere:
    """The tar is hashed and dropped, as in the pipe."""

    def write(self, data: bytes, /) -> int:
        return len(data)


def _pack(tree: Path, epoch: int) -> None:
    write_layer(entries_of(tree, epoch=epoch), _Nowhere(), epoch=epoch)


def _pipe(tree: Path, epoch: int) -> None:
    owners = ("--owner=0", "--group=0", "--numeric-owner")
    command = ["tar", "--sort=name", "--format=gnu", *owners, f"--mtime=@{epoch}", "-C", str(tree), "-cf", "-", "."]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as tar:
        subprocess.run(["sha256sum"], stdin=tar.stdout, check=True, stdout=subprocess.DEVNULL)
    assert tar.returncode == 0
