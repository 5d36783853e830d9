from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from nanobench.image.realise import Locks, realise
from nanobench.image.workbench import Workbench
from nanobench.project.files import Project
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.store.store import Store

FIRST_LOOK = """
from nanobench.sandbox.watch import Watch
begin, look = Watch.__init__, Watch.look
def beginning(self, request, *rest):
    self.phase = request.phase
    begin(self, request, *rest)
Watch.__init__ = beginning
Watch.look = lambda self: look(self) if self.phase == "run" else die()
"""


def test_a_built_image_is_told_with_its_digest(nanobench: Any, repository: Project, demo: str, locks: Locks) -> None:
    done = nanobench("build", demo, "--offline", "--project", repository.root)
    assert (done.code, done.out) == (0, f"{demo}: {locks.task.image.manifest_digest}, as locked\n")
    as_json = nanobench("build", demo, "--offline", "--project", repository.root, "--json")
    assert as_json.document == {demo: locks.task.image.manifest_digest}


def test_everything_that_is_locked_is_built_when_nothing_is_named(nanobench: Any, copied: Project, demo: str) -> None:
    done = nanobench("build", "--offline", "--project", copied.root, "--json")
    assert list(done.document) == [demo]


def test_offline_with_an_empty_store_is_no_verdict_and_lists_what_is_missing(
    nanobench: Any, repository: Project, demo: str, tmp_path: Path, locks: Locks
) -> None:
    done = nanobench("build", demo, "--offline", "--project", repository.root, "--store", tmp_path, "--json")
    assert done.code == 3
    error = done.document["error"]
    assert error["code"] == "NB_OFFLINE"
    assert len(error["details"]) == len({p.digest for p in locks.environment.package})
    assert error["hint"].startswith(f"run `nanobench fetch {demo}` ")
    assert done.err.count("  - pkg:") == 5
    assert f"  - and {len(error['details']) - 5} more" in done.err


def test_what_is_in_the_store_is_not_fetched(nanobench: Any, repository: Project, demo: str) -> None:
    done = nanobench(
        *("fetch", demo, "--project", repository.root, "--json"),
        env=dict.fromkeys(
            ("NANOBENCH_DEBIAN_MIRROR", "NANOBENCH_PYPI_INDEX", "NANOBENCH_NPM_REGISTRY"), "http://127.0.0.1:9"
        ),
    )
    assert done.code == 0
    assert done.document[demo] > 100
    assert "fetch" not in done.err


def until(there: Callable[[], bool]) -> None:
    """Wait for what must come, at most a minute."""
    pause = threading.Event()
    for _ in range(3000):
        if there():
            return
        pause.wait(0.02)
    raise AssertionError("it did not come")


class Slow(BaseHTTPRequestHandler):
    """Sends half of every pool file and then waits."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        whole: dict[str, Path] = self.server.files  # type: ignore[attr-defined]
        path = whole.get(self.path.lstrip("/"))
        if path is None:
            self.send_error(404)
            return
        data = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2])
        self.wfile.flush()
        self.server.halfway.set()  # type: ignore[attr-defined]
        self.server.over.wait(120)  # type: ignore[attr-defined]


@pytest.fixture
def slow(locks: Locks, bench: Workbench) -> Iterator[Any]:
    """A mirror of the locked Debian packages that never sends one whole."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        made: Any = server
        made.handle_error = lambda *_: None  # clients that hang up are what this is about
        packages = [p for p in locks.environment.package if p.role == "debian"]
        made.files = {p.path: bench.store.blob(p.digest) for p in packages}
        made.halfway, made.over = threading.Event(), threading.Event()
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield made
        made.over.set()
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_fetch_that_is_cut_short_leaves_no_half_file_where_a_file_belongs(
    start: Any, slow: Any, nanobench: Any, repository: Project, demo: str, tmp_path: Path, sent: signal.Signals
) -> None:
    mirror = f"http://127.0.0.1:{slow.server_address[1]}"
    nowhere = dict.fromkeys(("NANOBENCH_PYPI_INDEX", "NANOBENCH_NPM_REGISTRY"), "http://127.0.0.1:9")
    place = tmp_path / "store"
    process = start(
        *("fetch", demo, "--project", repository.root, "--store", place),
        env={"NANOBENCH_DEBIAN_MIRROR": mirror, "no_proxy": "*", **nowhere},
    )
    assert slow.halfway.wait(120), "nothing was fetched"
    until(lambda: any(path.stat().st_size for path in (place / "scratch").glob("file-*")))
    process.send_signal(sent)
    _, err = process.communicate(timeout=60)
    assert process.returncode == (130 if sent is signal.SIGINT else -sent), err
    assert not [path for path in (place / "blobs").rglob("*") if path.is_file()]
    doctor = nanobench("doctor", "--store", place, "--project", repository.root)
    assert doctor.code == 0, doctor.out
    assert ("removed: file-" in doctor.out) == (sent is signal.SIGKILL)
    assert not list((place / "scratch").iterdir())
    assert nanobench("store", "verify", "--store", place).code == 0


def test_a_build_that_is_killed_leaves_no_process_and_no_half_layer_and_is_done_again(
    start: Any,
    dying: str,
    descendants: Any,
    spare: Any,
    nanobench: Any,
    repository: Project,
    demo: str,
    locks: Locks,
) -> None:
    task = locks.task.image.diff_ids[-1]
    spare.forget(task)
    where = ("--project", repository.root, "--store", spare.root)
    process = start(
        "build", demo, "--offline", *where, first=dying + FIRST_LOOK, env={"DYING": str(descendants.note)}
    )
    _, err = process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL, err
    assert "building layer task" in err
    assert descendants.count() > 2
    assert descendants.alive() == []
    store = Store(spare.root)
    assert not store.has(task)
    assert store.tree(task[7:]) is None
    assert nanobench("doctor", *where).code == 0
    assert not list((spare.root / "scratch").iterdir())
    built = realise(locks, online=None, bench=Workbench(store=store, engine=Bubblewrap(), say=lambda _: None))
    assert built.locked() == locks.task.image


def test_a_mirror_that_has_other_bytes_is_refused_with_the_package_named(
    slow: Any, nanobench: Any, repository: Project, demo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow.over.set()
    wrong = tmp_path / "wrong"
    wrong.write_bytes(os.urandom(100))
    slow.files = dict.fromkeys(slow.files, wrong)
    monkeypatch.setenv("NANOBENCH_DEBIAN_MIRROR", f"http://127.0.0.1:{slow.server_address[1]}")
    for name in ("NANOBENCH_PYPI_INDEX", "NANOBENCH_NPM_REGISTRY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{slow.server_address[1]}")
    monkeypatch.setenv("no_proxy", "*")
    done = nanobench("build", demo, "--project", repository.root, "--store", tmp_path / "store", "--json")
    assert done.code == 1
    assert done.document["error"]["code"] == "NB_DIGEST"
    assert any("pkg:deb/debian/git@" in line for line in done.document["error"]["details"])
