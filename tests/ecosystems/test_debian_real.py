"""Real packages, unpacked and run. The files are kept in the checkout's cache."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import frozen

from nanobench.archives.layer import LayerFacts, write_layer
from nanobench.archives.unpack import unpack_layer
from nanobench.ecosystems.base import Resolution
from nanobench.ecosystems.debian import assemble, resolve
from nanobench.ecosystems.fetch import Online, fetch
from nanobench.model.environment import DebianBase
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.interface import Request, SandboxLimits
from nanobench.store.store import Store

pytestmark = pytest.mark.network

BASE = DebianBase(debian="bookworm", packages=("python3", "python3-venv"))


@frozen
class Real:
    resolution: Resolution
    facts: LayerFacts
    warnings: tuple[str, ...]
    tree: Path


@pytest.fixture(scope="module")
def real(kept_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Real:
    work = tmp_path_factory.mktemp("real")
    with Online() as session:
        resolution = resolve(BASE, online=session, work=work / "apt")
        fetch(resolution.packages, kept_store, online=session, say=lambda _: None)
    with kept_store.scratch("debian") as scratch, (work / "layer.tar").open("wb") as out:
        done = assemble(resolution.packages, kept_store, scratch, epoch=resolution.source_date_epoch)
        facts = write_layer(done.entries, out, epoch=resolution.source_date_epoch)
    tree = kept_store.make_tree(facts.diff_id.partition(":")[2], lambda dest: _unpacked(work / "layer.tar", dest))
    return Real(resolution, facts, done.warnings, tree)


def _unpacked(layer: Path, dest: Path) -> None:
    unpack_layer(layer, dest)
    Bubblewrap().own(dest)


def test_the_base_with_python_and_git_needs_no_maintainer_script(real: Real) -> None:
    assert real.warnings == ()
    assert 100 < len(real.resolution.packages) < 200


_PROGRAM = """
set -e
python3 -c 'import ssl, sqlite3, lzma, ctypes, socket; socket.getaddrinfo("localhost", 1); \
assert ssl.create_default_context().get_ca_certs()'
git --version
python3 -m venv --without-pip /tmp/v && /tmp/v/bin/python -c 'import sys; print(sys.prefix)'
echo a b | awk '{print $2}'
perl -e 'print "perl\\n"'
dpkg --audit
dpkg -S /usr/bin/git
which sh
id -un
python3 -c 'import time; print(time.tzname[0])'
for place in /workspace /home/agent /opt/venv /nanobench /tmp; do test -d $place; done
"""


def test_the_unpacked_tree_runs_in_the_sandbox(real: Real, tmp_path: Path) -> None:
    out, err = tmp_path / "out", tmp_path / "err"
    limits = SandboxLimits(cpus=1, memory_mib=1024, pids=64, disk_mib=256, seconds=120)
    finished = Bubblewrap().run(
        Request(layers=(real.tree,), argv=("bash", "-c", _PROGRAM), limits=limits, stdout=out, stderr=err, cwd="/")
    )
    assert (finished.exit_code, err.read_text()) == (0, "")
    lines = out.read_text().splitlines()
    assert lines[0].startswith("git version 2.")
    assert lines[1:] == ["/tmp/v", "b", "perl", "git: /usr/bin/git", "/usr/bin/sh", "agent", "UTC"]


_AGAIN = """
import json, sys
from pathlib import Path
from nanobench.archives.layer import write_layer
from nanobench.ecosystems.debian import assemble
from nanobench.model.lock import Package
from nanobench.store.store import Store
asked = json.load(sys.stdin)
store = Store(Path(asked["store"]))
class Nothing:
    def write(self, data): return len(data)
with store.scratch("again") as scratch:
    done = assemble([Package(**p) for p in asked["packages"]], store, scratch, epoch=asked["epoch"])
    print(write_layer(done.entries, Nothing(), epoch=asked["epoch"]).diff_id)
# Not ru_maxrss: that counts what the process was before it became this program, a copy of pytest.
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(int(status["VmHWM"].split()[0]) // 1024)
"""


def test_another_process_with_another_umask_time_zone_and_order_gives_the_same_layer_in_little_memory(
    real: Real, kept_store: Store, tmp_path: Path
) -> None:
    packages = [
        {"purl": p.purl, "role": p.role, "path": p.path, "digest": p.digest, "size": p.size}
        for p in real.resolution.packages
    ]
    random.Random(7).shuffle(packages)
    asked = {"store": str(kept_store.root), "packages": packages, "epoch": real.resolution.source_date_epoch}
    paths = os.pathsep.join(sys.path)
    env = {"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "PYTHONHASHSEED": "7", "PATH": "/nowhere", "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-c", _AGAIN],
        input=json.dumps(asked), env=env, cwd=tmp_path, umask=0o077, capture_output=True, text=True, check=True,
    )  # fmt: skip
    diff_id, peak_mib = done.stdout.split()
    assert diff_id == real.facts.diff_id
    assert int(peak_mib) < 200
