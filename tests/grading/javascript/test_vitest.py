from __future__ import annotations

from collections.abc import Callable

import pytest

from nanobench.grading.suites import Grading

pytestmark = pytest.mark.network

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
    assert "not our reporter's" in (ending(grading)[2] or "")


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
