"""The reporters inside real vitest, jest, mocha and Node's own runner: a small TypeScript project of our own, its
packages resolved by the real npm, pinned, installed offline, and its suites run in the sealed sandbox."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nanobench.archives.layer import write_layer
from nanobench.archives.unpack import unpack_layer
from nanobench.ecosystems import node
from nanobench.ecosystems.online import Online
from nanobench.ecosystems.py_sealed import Workshop
from nanobench.ecosystems.python import target_of
from nanobench.formats.converter import structure, unstructure
from nanobench.grading.suites import Grader, Grading
from nanobench.image.realise import Locks, realise_environment
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Limits, NodeRequest
from nanobench.model.lock import Package
from nanobench.model.result import Outcome
from nanobench.model.task import Suite

pytestmark = pytest.mark.network

EPOCH = 1_700_000_000
REQUEST = NodeRequest(
    node="22.23.3",
    manager="npm@11.21.1",
    packages=("vitest@4.1.5", "typescript@5.9.3", "mocha@11.7.5", "jest@30.2.0"),
    before="2026-11-01",
)
Run = Callable[..., Grading]

SUM = "export function sum(a: number, b: number): number {\n  return a + b;\n}\n"
CONFIG = (
    '{"compilerOptions": {"module": "esnext", "moduleResolution": "bundler", "strict": true, "skipLibCheck": true}}'
)

VITEST = """
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { sum } from "./sum";

describe("sum", () => {
  test("adds", () => expect(sum(1, 2)).toBe(3));
  describe("deeper", () => {
    test.each([[1], [2]])("one more than %i", (n) => expect(sum(n, 1)).toBe(n + 1));
  });
  test("is wrong", () => expect(sum(1, 2)).toBe(4));
});
test("throws é", () => {
  throw new TypeError("wrong é \\ud800");
});
test.skip("skipped", () => {});
test.todo("to do");
test.fails("fails as it should", () => expect(1).toBe(2));
test("odd | :: > 'title'", () => {});
test("has the type", () => expectTypeOf(sum(1, 2)).toEqualTypeOf<number>());
test("has not the type", () => expectTypeOf(sum(1, 2)).toEqualTypeOf<string>());
describe("hook", () => {
  afterAll(() => {
    throw new Error("after");
  });
  test("before a broken hook", () => {});
});
describe("never", () => {
  beforeAll(() => {
    throw new Error("before");
  });
  test("kept from running", () => {});
});
"""


@pytest.fixture(scope="module")
def packages(bench: Workbench, tmp_path_factory: pytest.TempPathFactory) -> tuple[Package, ...]:
    """Everything, pinned and in the store; resolved once in a store's life."""
    recipe = hashlib.sha256(f"test javascript {REQUEST}".encode()).hexdigest()
    known = bench.store.recall(recipe)
    if known is None:
        with Online() as online:
            work = tmp_path_factory.mktemp("resolve")
            found = node.resolve(REQUEST, tree=None, store=bench.store, online=online, work=work, say=print)
        known = {"packages": [unstructure(p) for p in found.packages]}
        bench.store.remember(recipe, known)
    return tuple(structure(p, Package, where="test") for p in known["packages"])


@pytest.fixture(scope="module")
def layers(
    bench: Workbench, locks: Locks, packages: tuple[Package, ...], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, ...]:
    """Debian with Node, as an environment has it."""
    ground = tmp_path_factory.mktemp("node")
    (ground / "tree").mkdir()
    with (ground / "layer.tar").open("wb") as out:
        write_layer(node.assemble(packages, bench.store, ground / "unpacked", epoch=EPOCH), out, epoch=EPOCH)
    unpack_layer(ground / "layer.tar", ground / "tree")
    bench.engine.own(ground / "tree")
    return realise_environment(locks.environment, online=None, bench=bench).trees[0], ground / "tree"


@pytest.fixture(scope="module")
def modules(
    bench: Workbench,
    layers: tuple[Path, ...],
    packages: tuple[Package, ...],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The installed ``node_modules``, unpacked as a task layer is."""
    ground = tmp_path_factory.mktemp("modules")
    for name in ("base", "tree"):
        (ground / name).mkdir()
    with bench.store.scratch("test") as scratch:
        shop = Workshop(
            engine=bench.engine,
            store=bench.store,
            layers=layers,
            scratch=scratch,
            epoch=EPOCH,
            target=target_of("bookworm"),
        )
        made = node.install(ground / "base", packages, REQUEST, shop=shop)
        with (ground / "layer.tar").open("wb") as out:
            write_layer(made.entries, out, epoch=EPOCH)
    unpack_layer(ground / "layer.tar", ground / "tree")
    return ground / "tree/workspace/node_modules"


@pytest.fixture(scope="module")
def run(
    bench: Workbench, layers: tuple[Path, ...], modules: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Run]:
    """Grade a tree of these files by a command in this format, as the suite ``js``."""
    workspace = tmp_path_factory.mktemp("workspace")
    shutil.copytree(modules, workspace / "node_modules", symlinks=True)

    def grade(format: str, files: dict[str, str], *command: str, env: dict[str, str] | None = None) -> Grading:
        for path in workspace.iterdir():
            if path.name != "node_modules":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path_, content in files.items():
            file = workspace / path_
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        bench.engine.own(workspace)
        grader = Grader(
            engine=bench.engine,
            layers=layers,
            limits=Limits(memory_mib=3072, disk_mib=1024),
            env=env or {},
            scratch=tmp_path_factory.mktemp("scratch"),
        )
        suite = Suite(name="js", language="typescript", format=format, command=command, seconds=200)  # type: ignore[arg-type]
        return grader.grade(workspace, [suite])

    yield grade


def outcomes(grading: Grading) -> dict[str, str]:
    return {test.removeprefix("js|"): outcome.value for test, outcome in grading.outcomes.items()}


def ending(grading: Grading) -> tuple[int, bool, str | None]:
    (suite,) = grading.record.suite
    return suite.exit_code, suite.complete, suite.damage


BROKEN = """
import "./sum";
import { test } from "vitest";
test("never run", () => {});
throw new Error("at once");
"""
TYPES = """
import { expectTypeOf, test } from "vitest";
test("only a type", () => expectTypeOf(1).toEqualTypeOf<number>());
test("only a wrong type", () => expectTypeOf(1).toEqualTypeOf<string>());
"""

VITEST_FILES = {
    "src/sum.ts": SUM,
    "src/sum.test.ts": VITEST,
    "tsconfig.json": CONFIG,
    "vitest.config.mjs": (
        "const typecheck = { enabled: true, include: ['**/*.test.ts', '**/*.test-d.ts'] };\n"
        "export default { test: { reporters: ['dot'], typecheck } };\n"
    ),
    "src/broken.test.ts": BROKEN,
    "src/types.test-d.ts": TYPES,
}


@pytest.fixture(scope="module")
def vitest(run: Run) -> Grading:
    return run("vitest", VITEST_FILES, "./node_modules/.bin/vitest", "run")


def test_vitest_every_kind_of_outcome(vitest: Grading) -> None:
    here = "src/sum.test.ts::"
    found = outcomes(vitest)
    assert {test: outcome for test, outcome in found.items() if test.startswith(here)} == {
        f"{here}sum > adds": "passed",
        f"{here}sum > deeper > one more than 1": "passed",
        f"{here}sum > deeper > one more than 2": "passed",
        f"{here}sum > is wrong": "failed",
        f"{here}throws é": "failed",
        f"{here}skipped": "skipped",
        f"{here}to do": "skipped",
        f"{here}fails as it should": "passed",
        f"{here}odd | :: > 'title'": "passed",
        f"{here}has the type": "passed",
        f"{here}has not the type": "failed",
        f"{here}hook > before a broken hook": "passed",
        f"{here}hook": "error",
        f"{here}never": "error",
        f"{here}never > kept from running": "skipped",
    }
    assert ending(vitest) == (1, True, None)


def test_vitest_a_type_test_and_its_run_share_an_id_and_the_worse_counts(vitest: Grading) -> None:
    failure = vitest.failures["js|src/sum.test.ts::has not the type"]
    assert failure.type == "TypeCheckError"
    assert "string" in failure.message


def test_vitest_a_file_that_cannot_be_collected_is_an_error_and_its_types_alone_pass_nothing(
    vitest: Grading,
) -> None:
    found = {test: outcome for test, outcome in outcomes(vitest).items() if test.startswith("src/broken")}
    assert found == {"src/broken.test.ts::": "error"}


def test_vitest_a_file_of_types_alone_stands_for_itself(vitest: Grading) -> None:
    found = {test: outcome for test, outcome in outcomes(vitest).items() if test.startswith("src/types")}
    assert found == {
        "src/types.test-d.ts::only a type": "passed",
        "src/types.test-d.ts::only a wrong type": "failed",
    }


def test_vitest_a_failure_has_its_errors_name_and_words(vitest: Grading) -> None:
    failure = vitest.failures["js|src/sum.test.ts::throws é"]
    assert (failure.type, failure.message.startswith("wrong é ")) == ("TypeError", True)
    assert vitest.failures["js|src/sum.test.ts::sum > is wrong"].type == "AssertionError"


def test_vitest_what_ran_before_a_crash_counts(run: Run) -> None:
    kills = "import { test } from 'vitest';\ntest('kills', () => process.kill(process.ppid, 'SIGKILL'));\n"
    config = """
class ByName {
  shard(found) { return found; }
  sort(found) { return found.sort((a, b) => (a.moduleId < b.moduleId ? -1 : 1)); }
}
export default { test: { fileParallelism: false, pool: "forks", sequence: { sequencer: ByName } } };
"""
    files = {
        "a.test.js": "import { test } from 'vitest';\ntest('ran', () => {});\n",
        "b.test.js": kills,
        "vitest.config.mjs": config,
    }
    grading = run("vitest", files, "./node_modules/.bin/vitest", "run")
    assert outcomes(grading) == {"a.test.js::ran": "passed"}
    assert ending(grading)[1:] == (False, None)


def test_a_report_that_a_test_writes_into_is_not_believed(run: Run) -> None:
    deed = "import fs from 'node:fs';\nfs.appendFileSync('/nanobench/out/report.jsonl', 'junk\\n');\n"
    files = {"a.test.js": f"import {{ test }} from 'vitest';\n{deed}test('a', () => {{}});\n"}
    grading = run("vitest", files, "./node_modules/.bin/vitest", "run")
    assert outcomes(grading) == {}
    assert "strict JSON" in (ending(grading)[2] or "")


def test_a_runner_that_a_test_starts_finds_no_report(run: Run) -> None:
    outer = """
import { spawnSync } from "node:child_process";
import test from "node:test";
import assert from "node:assert";
test("outer", () => {
  assert.strictEqual(process.env.NANOBENCH_REPORT, undefined);
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  assert.strictEqual(spawnSync("node", ["--test", "inner.mjs"], { env }).status, 1);
});
"""
    inner = "import test from 'node:test';\ntest('inner', () => { throw new Error('x'); });\n"
    files = {"outer.test.mjs": outer, "inner.mjs": inner}
    assert outcomes(run("node-test", files, "node", "--test")) == {"outer.test.mjs::outer": "passed"}


MOCHA = """
const assert = require("node:assert");
describe("rule", () => {
  it("valid var x = { a: 'b' };\\n// second line", () => {});
  it("invalid", () => assert.strictEqual(1, 2));
  it("pending");
  it.skip("skipped", () => {});
  it("skips itself", function () { this.skip(); });
  describe("hook", () => {
    before(() => { throw new Error("before"); });
    it("kept from running", () => {});
  });
});
it("twice", () => {});
it("twice", () => { throw "a string"; });
"""


def test_mocha_every_kind_of_outcome(run: Run) -> None:
    files = {"tests/rule.js": MOCHA, ".mocharc.json": '{"reporter": "dot"}'}
    grading = run("mocha", files, "node", "node_modules/mocha/bin/mocha.js", "tests/rule.js")
    here = "tests/rule.js::"
    assert outcomes(grading) == {
        f"{here}rule valid var x = {{ a: 'b' }};\n// second line": "passed",
        f"{here}rule invalid": "failed",
        f"{here}rule pending": "skipped",
        f"{here}rule skipped": "skipped",
        f"{here}rule skips itself": "skipped",
        f'{here}rule hook "before all" hook for "kept from running"': "error",
        f"{here}twice": "failed",
    }
    assert ending(grading) == (3, True, None)
    assert grading.failures[f"js|{here}rule invalid"].type == "AssertionError"


def test_mocha_in_parallel_reports_through_one_process(run: Run) -> None:
    files = {f"tests/{n}.js": f"it('t{n}', () => {{}});" for n in range(3)}
    grading = run("mocha", files, "./node_modules/.bin/mocha", "--parallel", "tests")
    assert outcomes(grading) == {f"tests/{n}.js::t{n}": "passed" for n in range(3)}


JEST = """
describe("sum", () => {
  test("adds", () => expect(1 + 1).toBe(2));
  test("is wrong", () => expect(1).toBe(2));
  test.skip("skipped", () => {});
  test.todo("to do");
});
test("throws", () => { throw new TypeError("wrong"); });
"""


def test_jest_every_kind_of_outcome(run: Run) -> None:
    files = {"a.test.js": JEST, "b.test.js": "require('./nothing');", "package.json": '{"jest": {}}'}
    grading = run("jest", files, "./node_modules/.bin/jest")
    assert outcomes(grading) == {
        "a.test.js::sum > adds": "passed",
        "a.test.js::sum > is wrong": "failed",
        "a.test.js::sum > skipped": "skipped",
        "a.test.js::sum > to do": "skipped",
        "a.test.js::throws": "failed",
        "b.test.js::": "error",
    }
    assert ending(grading) == (1, True, None)
    assert grading.failures["js|a.test.js::throws"].message.startswith("wrong")


NODE_TEST = """
import assert from "node:assert";
import { before, describe, it, test } from "node:test";
test("passes", () => {});
test("fails", () => assert.strictEqual(1, 2));
test("skipped", { skip: true }, () => {});
test("to do", { todo: true }, () => { throw new Error("not yet"); });
test("has subtests", async (t) => {
  await t.test("inner passes", () => {});
  await t.test("inner fails", () => { throw new TypeError("inner"); });
});
describe("suite", () => {
  it("inside", () => {});
  describe("deeper", () => it("inside", () => { throw new Error("deep"); }));
});
describe("broken", () => {
  before(() => { throw new Error("before"); });
  it("kept", () => {});
});
"""


def test_nodes_own_runner_every_kind_of_outcome(run: Run) -> None:
    files = {"a.test.mjs": NODE_TEST, "sub/b.test.mjs": 'import test from "node:test";\ntest("passes", () => {});\n'}
    grading = run("node-test", files, "node", "--test", env={"NODE_OPTIONS": "--no-deprecation"})
    found = outcomes(grading)
    assert {test: outcome for test, outcome in found.items() if "broken" not in test} == {
        "a.test.mjs::passes": "passed",
        "a.test.mjs::fails": "failed",
        "a.test.mjs::skipped": "skipped",
        "a.test.mjs::to do": "skipped",
        "a.test.mjs::has subtests": "failed",
        "a.test.mjs::has subtests > inner passes": "passed",
        "a.test.mjs::has subtests > inner fails": "failed",
        "a.test.mjs::suite > inside": "passed",
        "a.test.mjs::suite > deeper > inside": "failed",
        "sub/b.test.mjs::passes": "passed",
    }
    assert found["a.test.mjs::broken"] == "error"
    assert found.get("a.test.mjs::broken > kept") != "passed"
    assert ending(grading) == (1, True, None)
    assert b"passes" in grading.output
    assert grading.failures["js|a.test.mjs::has subtests > inner fails"].type == "TypeError"


def test_nodes_own_runner_through_npm_and_a_file_that_breaks(run: Run) -> None:
    files = {"package.json": '{"scripts": {"test": "node --test"}}', "a.test.mjs": "throw new Error('at once');\n"}
    grading = run("node-test", files, "npm", "test")
    assert Outcome.PASSED not in grading.outcomes.values()
    assert ending(grading)[0] == 1
