"""Steps in the demo task's real environment, on a small tree: what they make, and what they must not do."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.errors import Refused
from nanobench.grading.locked import LockedArena
from nanobench.grading.trial import fresh_workspace
from nanobench.image.environment import BuiltEnvironment
from nanobench.image.task import BuiltTask, build_task
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Step
from nanobench.model.lock import Package
from nanobench.sources.difference import take_patch
from nanobench.sources.gitbox import Gitbox
from nanobench.store.store import Store

PURL = "pkg:pypi/front-end@1.0"
COPY = Step(
    name="front-end",
    command=("cp", "-R", "/nanobench/inputs/front-end/front/static", "app/static"),
    inputs=(PURL,),
    outputs=("app/static",),
)
Build = Callable[..., BuiltTask]


def sh(script: str, *outputs: str, **more: Any) -> Step:
    return Step(name="shell", command=("sh", "-c", script), outputs=outputs or ("made",), **more)


@pytest.fixture
def source(tmp_path: Path, folder_source: Callable[[Path], Any]) -> Any:
    folder = tmp_path / "project"
    (folder / "app").mkdir(parents=True)
    (folder / "app/main.py").write_text("print('here')\n")
    return folder_source(folder)


@pytest.fixture
def front_end(bench: Workbench) -> Package:
    """A wheel with a built front end, in the store."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as wheel:
        wheel.writestr(zipfile.ZipInfo("front/static/index.html"), "<p>built</p>")
    digest = bench.store.put(data.getvalue())
    path = "front-end/front_end-1.0-py3-none-any.whl"
    return Package(purl=PURL, role="step", path=path, digest=digest, size=len(data.getvalue()))


@pytest.fixture
def with_steps(place: LockedArena, front_end: Package) -> Callable[..., BuiltEnvironment]:
    """The demo's environment with these steps."""

    def make(*steps: Step) -> BuiltEnvironment:
        environment = place.image.environment
        spec = evolve(environment.spec, step=steps)
        return evolve(environment, spec=spec, packages=(*environment.packages, front_end))

    return make


@pytest.fixture
def build(source: Any, with_steps: Any, bench: Workbench) -> Build:
    return lambda *steps: build_task(source, with_steps(*steps), bench=bench)


def git(workspace: Path, *arguments: str) -> list[str]:
    command = ["git", "-c", "safe.directory=*", "-C", str(workspace), *arguments]
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_OPTIONAL_LOCKS": "0"}
    return subprocess.run(command, capture_output=True, check=True, text=True, env=env).stdout.splitlines()


def test_a_front_end_of_a_wheel_lands_in_the_workspace_and_in_no_patch(
    build: Build, bench: Workbench, tmp_path: Path
) -> None:
    image = build(COPY)
    assert (image.workspace / "app/static/index.html").read_text() == "<p>built</p>"
    assert image.notes["products"] == ["app/static"]
    assert (git(image.workspace, "ls-files"), git(image.workspace, "status", "--porcelain")) == (["app/main.py"], [])
    workspace = fresh_workspace(image.workspace, tmp_path / "agents")
    shutil.copy(workspace / "app/static/index.html", workspace / "app/static/other.html")
    (workspace / "app/new.py").write_text("new\n")
    gitbox = Gitbox(engine=bench.engine, layers=image.trees, scratch=tmp_path)
    assert take_patch(gitbox, workspace).files_changed == ("app/new.py",)


def test_a_step_has_what_is_installed_and_what_steps_before_it_made_but_no_history_and_no_network(
    build: Build,
) -> None:
    script = "mkdir made; python -m pytest --version && ls -A > made/names && id -u > made/id"
    net = "cut -d: -f1 /proc/net/dev | tail -n +3 > made/net"
    image = build(COPY, sh(f"{script} && {net} && cat app/static/* > made/copy"))
    made = {path.name: path.read_text().split() for path in (image.workspace / "made").iterdir()}
    assert made == {"names": ["app", "made"], "id": ["1000"], "copy": ["<p>built</p>"], "net": ["lo"]}


def test_only_outputs_are_kept_and_beside_files_of_the_project_each_is_ignored_by_name(build: Build) -> None:
    image = build(sh("echo 1 > app/made.py; mkdir cache; echo 2 > cache/x", "app"))
    assert image.notes["products"] == ["app/made.py"]
    assert sorted(os.listdir(image.workspace)) == [".git", "app"]
    (exclude,) = (image.workspace / ".git/info/exclude").read_text().splitlines()[1:]
    assert exclude == "/app/made.py"


def test_a_second_build_into_an_empty_store_gives_the_same_image(
    build: Build, source: Any, with_steps: Any, front_end: Package, bench: Workbench, tmp_path: Path
) -> None:
    steps = (COPY, sh("echo $SOURCE_DATE_EPOCH > made; umask 077; echo $PPID > app/rest"))
    first = build(*steps)
    empty = Store(tmp_path / "store")
    empty.put(bench.store.read(front_end.digest))
    assert build_task(source, with_steps(*steps), bench=evolve(bench, store=empty)).locked() == first.locked()
    changing = sh("date +%s%N > made")
    first = build(changing)
    assert build_task(source, with_steps(changing), bench=evolve(bench, store=empty)).locked() != first.locked()


def test_a_step_that_is_another_makes_another_layer(build: Build) -> None:
    assert build(sh("echo 1 > made")).locked() != build(sh("echo 2 > made")).locked()


@pytest.mark.parametrize(
    ("step", "code", "said"),
    [
        (sh("echo building; echo 'no luck' >&2; exit 3"), "NB_STEP", ("exit code 3", "building", "no luck")),
        (sh("echo begun; sleep 60", seconds=1), "NB_STEP", ("stopped after 1 seconds", "begun")),
        (sh("echo 1 > made; echo 2 >> app/main.py"), "NB_STEP_TRACKED", ("app/main.py",)),
        (sh("echo 1 > made; rm -r app; ln -s /etc app"), "NB_STEP_TRACKED", ("app/main.py",)),
        (sh("mkdir made"), "NB_STEP_OUTPUT", ()),
        (sh("true", "app/main.py"), "NB_STEP_OUTPUT", ()),
        (sh("mkfifo made"), "NB_STEP_OUTPUT", ()),
    ],
)
def test_a_step_that_fails_or_does_what_it_must_not_is_refused_with_its_last_words(
    build: Build, step: Step, code: str, said: tuple[str, ...]
) -> None:
    with pytest.raises(Refused) as refused:
        build(step)
    assert (refused.value.code, refused.value.where, refused.value.details) == (code, "step shell", said)


def test_a_link_that_a_step_makes_is_kept_and_never_followed(build: Build, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/key").write_text("host's own")
    image = build(sh(f"ln -s {tmp_path}/secret made"))
    assert (image.workspace / "made").readlink() == tmp_path / "secret"
    with pytest.raises(Refused, match="NB_STEP_OUTPUT"):
        build(sh(f"ln -s {tmp_path}/secret made", "made/key"))
