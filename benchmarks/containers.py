"""The Docker engine beside bare ``docker run`` of the same image; left out where no daemon answers."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import docker

from benchmarks.cell import run_idle_cell
from benchmarks.measure import Place, Row, in_turns, on_engine
from benchmarks.sandbox import TRUE, run_true
from nanobench.cli.common import say
from nanobench.sandbox.docker import Docker
from nanobench.sandbox.docker_images import STORED


def rows(place: Place) -> Iterator[Row]:
    """Starting a process, and the first task's cell without agent and tests."""
    engine = Docker(place.bench.store)
    problems = engine.check()
    if problems:
        say(f"left out: Docker: {'; '.join(problems)}")
        return
    stage = on_engine(place.first, engine)
    trees = stage.place.image.trees
    with place.bench.store.scratch("bench") as scratch:
        true = partial(run_true, engine, trees, scratch)
        true()  # loads the image
        bare = ["docker", "run", "--rm", "--network", "none", _image(trees), *TRUE]
        works = (true, partial(run_idle_cell, place, stage), partial(subprocess.run, bare, check=True))
        started, cell, against = in_turns(place.repeats, *works)
    task = stage.locked.task.value.task
    figures = {
        "the Docker engine running /bin/true": started,
        f"a cell without agent and tests in Docker, {task}": cell,
    }
    for name, value in figures.items():
        yield Row(name=name, unit="s", value=value, yardstick="docker run", against=against, runs=place.repeats)


def _image(trees: Sequence[Path]) -> str:
    """The daemon's id of the task's layers."""
    with closing(docker.from_env()) as client:
        api = client.api
        layers = [f"sha256:{tree.name}" for tree in trees]
        found = (str(image["Id"]) for image in api.images(name=STORED))
        return next(each for each in found if api.inspect_image(each)["RootFS"]["Layers"] == layers)
