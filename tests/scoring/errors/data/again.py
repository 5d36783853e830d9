"""Break the projects again and keep what the real tools say: ``python -m tests.scoring.errors.data.again [NAME…]``.

Python, Node, Go, Cargo, javac and Maven are this machine's; npm and Maven fetch what they need from their registries.
Where a runner has a reporter of ours its lines are kept (``NAME.jsonl``, without their seals), and what it printed
only where that is all there is (``NAME.txt``). Places of this machine are replaced.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from nanobench.grading.interface import REPORTERS
from tests.scoring.errors.data import compiled, projects

HERE = Path(__file__).parent
SEAL = 65
"""Characters before a line of a report."""

NODE_PACKAGES = (
    *("vitest@4.1.5", "typescript@5.9.3", "jest@30.2.0", "ts-jest@29.4.5", "@types/jest@30.0.0", "mocha@11.7.5"),
    *("ts-node@10.9.2", "@types/node@22.19.1"),
)
BIN = "node_modules/.bin"


@frozen(kw_only=True)
class Made:
    """One file of data: the project, the command, the environment; ``reported``: the reporter's lines are kept."""

    files: Mapping[str, str]
    command: tuple[str, ...]
    env: Mapping[str, str] = {}
    reported: bool = False
    node: bool = False


def _node(files: Mapping[str, str], *command: str, reported: bool = True, options: str = "") -> Made:
    return Made(files=files, command=command, env={"NODE_OPTIONS": options}, reported=reported, node=True)


def _python(version: str) -> Made:
    command = (
        "uv",
        "run",
        "--no-project",
        "--quiet",
        "--no-python-downloads",
        "--python",
        version,
        "--with",
        "pytest==8.4.2",
        "--",
    )
    arguments = ("python", "-m", "pytest", "-p", "nanobench_reporter", "--continue-on-collection-errors")
    return Made(files=projects.PYTHON, command=(*command, *arguments), env={"PYTHONPATH": "grade"}, reported=True)


def _javac(name: str) -> Made:
    sources = " ".join(compiled.JAVAC[name])
    return Made(files=compiled.JAVAC[name], command=("sh", "-c", f"javac -d out {sources}"))


def _linked(case: str) -> Made:
    build = "javac -d out Shop.java Use.java && javac -d out later/Shop.java && rm -f out/Price.class"
    return Made(files=compiled.LINKED, command=("sh", "-c", f"{build} && java -cp out Use {case}"))


def _maven(files: Mapping[str, str], *goals: str) -> Made:
    return Made(files={"pom.xml": compiled.POM, **files}, command=("mvn", "-B", "-q", "-Dstyle.color=never", *goals))


def _go(files: Mapping[str, str], *options: str) -> Made:
    return Made(files=files, command=("go", "test", *options, "./..."), env={"GOFLAGS": "", "GOPROXY": "off"})


def _cargo(files: Mapping[str, str]) -> Made:
    return Made(files=files, command=("cargo", "test", "--offline", "--no-fail-fast"))


JEST = (f"{BIN}/jest", "--reporters=./grade/nanobench_jest.cjs")
MOCHA = (f"{BIN}/mocha", "--reporter=./grade/nanobench_mocha.cjs")
VITEST = (f"{BIN}/vitest", "run", "--reporter=./grade/nanobench_vitest.mjs")
EVERYTHING = {
    "pytest-3.9": _python("3.9"),
    "pytest-3.13": _python("3.13"),
    "pytest-conftest": Made(files=projects.PYTHON_CONFTEST, command=(sys.executable, "-m", "pytest")),
    "vitest": _node(projects.VITEST, *VITEST),
    "vitest-types": _node(projects.TYPECHECK, *VITEST, "--typecheck.only"),
    "jest": _node(projects.JEST, *JEST),
    "jest-es": _node(projects.JEST_ES, *JEST, options="--experimental-vm-modules --no-warnings"),
    "mocha": _node(projects.MOCHA, *MOCHA, "calls.js"),
    "mocha-es": _node(projects.MOCHA_ES, f"{BIN}/mocha", "spec.mjs", reported=False),
    "mocha-ts": _node(projects.MOCHA_TS, f"{BIN}/mocha", "-r", "ts-node/register", "spec.ts", reported=False),
    "node-test": _node(projects.NODE, "node", "--test", "--test-reporter=./grade/nanobench_node.mjs"),
    "tsc": _node(projects.TSC, f"{BIN}/tsc", reported=False),
    "tsc-pretty": _node(projects.TSC, f"{BIN}/tsc", "--pretty", reported=False),
    "go-names": _go(compiled.GO_NAMES),
    "go-types": _go(compiled.GO_TYPES),
    "go-json": _go(compiled.GO_NAMES, "-json"),
    "go-package": _go(compiled.go_importing("example.com/other/money")),
    "go-package-of-module": _go(compiled.go_importing("example.org/shop/prices")),
    "go-package-of-std": _go(compiled.go_importing("nothing/like/it")),
    "go-unexported": _go(compiled.GO_UNEXPORTED),
    "go-panic": _go(compiled.GO_PANIC),
    "cargo-names": _cargo(compiled.RUST_NAMES),
    "cargo-members": _cargo(compiled.RUST_MEMBERS),
    "cargo-private": _cargo(compiled.RUST_PRIVATE),
    **{f"javac-{name}": _javac(name) for name in compiled.JAVAC},
    **{f"maven-{name}": _maven(compiled.JAVAC[name], "compile") for name in ("names", "types")},
    "maven-run": _maven(compiled.MAVEN_RUN, "test"),
    **{f"java-{case}": _linked(case) for case in ("method", "field", "class")},
}


def make(name: str, made: Made, room: Path, modules: Path | None) -> None:
    """Run one of them in the empty folder ``room``."""
    for path, content in made.files.items():
        (room / path).parent.mkdir(parents=True, exist_ok=True)
        (room / path).write_text(content)
    if modules is not None:
        (room / "node_modules").symlink_to(modules)
    if made.reported:
        shutil.copytree(REPORTERS, room / "grade")
    out = room / "out-of-reporter"
    out.mkdir()
    (out / "key").write_bytes(b"key")
    env = {**os.environ, "NANOBENCH_REPORT": f"{out}/report.jsonl", "NANOBENCH_ROOT": str(room), "LC_ALL": "C.UTF-8"}
    env |= {**made.env, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    with (out / "said").open("wb") as said:
        subprocess.run(made.command, cwd=room, env=env, stdout=said, stderr=said, check=False)
    places = {str(room): "/workspace", sys.prefix: "/opt/venv", str(Path.home()): "/home/agent"}
    places |= {} if modules is None else {str(modules): "/workspace/node_modules"}
    if made.reported:
        lines = (out / "report.jsonl").read_text().splitlines()
        (HERE / f"{name}.jsonl").write_text("".join(f"{_placeless(line[SEAL:], places)}\n" for line in lines))
    else:
        (HERE / f"{name}.txt").write_text(_placeless((out / "said").read_text(errors="replace"), places))


def _placeless(text: str, places: Mapping[str, str]) -> str:
    for path, shown in places.items():
        text = text.replace(path, shown)
    for pattern, shown in ((r"\b\d+(\.\d+)? ?(ms|s)\b", "0s"), (r"0x[0-9a-f]{8,}", "0x0"), (r"(?m)[ \t]+$", "")):
        text = re.sub(pattern, shown, text)
    return text


def main(names: list[str]) -> None:
    """Make those of these names, or all."""
    wanted = {name: EVERYTHING[name] for name in names or EVERYTHING}
    with tempfile.TemporaryDirectory() as ground:
        modules = None
        if any(made.node for made in wanted.values()):
            subprocess.run(["npm", "install", "--silent", "--prefix", f"{ground}/npm", *NODE_PACKAGES], check=True)
            modules = Path(ground, "npm/node_modules")
        for name, made in wanted.items():
            room = Path(ground, "rooms", name)
            room.mkdir(parents=True)
            make(name, made, room, modules if made.node else None)


if __name__ == "__main__":
    main(sys.argv[1:])
