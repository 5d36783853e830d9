from __future__ import annotations

from collections.abc import Callable

import pytest

from nanobench.grading.suites import Grading
from nanobench.model.result import Failure, Outcome

pytestmark = pytest.mark.network

Run = Callable[..., Grading]


def outcomes(grading: Grading) -> dict[str, str]:
    return {test.removeprefix("js|"): outcome.value for test, outcome in grading.outcomes.items()}


def ending(grading: Grading) -> tuple[int, bool, str | None]:
    (suite,) = grading.record.suite
    return suite.exit_code, suite.complete, suite.damage


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
    assert grading.failures["js|a.test.js::throws"] == Failure(type="TypeError", message="wrong")


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
    assert set(grading.failures.values()) == {Failure(type="Error", message="at once")}
    assert ending(grading)[0] == 1
