"""Canaries in the real runners: they vouch for an honest suite, and see assertions and runners that were patched."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from nanobench.grading.suites import Grading

Run = Callable[..., Grading]
BIN = "./node_modules/.bin/"
RED = "a test that must fail did not"

COMMANDS = {
    "vitest": (f"{BIN}vitest", "run"),
    "jest": (f"{BIN}jest",),
    "mocha": (f"{BIN}mocha", "test/*.test.*"),
    "node-test": ("node", "--test"),
}
VITEST = (
    "import { expect, test } from 'vitest';\nimport '../src/product.js';\ntest('own', () => { expect(1).toBe(1); })"
)
GLOBAL = "import '../src/product.js';\ntest('own', () => { expect(1).toBe(1); })"
JEST = "require('../src/product.js');\ntest('own', () => { expect(1).toBe(1); })"
MOCHA = "require('../src/product.js');\nit('own', () => {})"
NODE = "import { test } from 'node:test';\nimport '../src/product.mjs';\ntest('own', () => {})"

GLOBALS = "export default { test: { globals: true, bail: 1 } };"
NEVER = "globalThis.expect = () => new Proxy({}, { get: () => () => {} });"
MATCHERS = "import { expect } from 'vitest';\nexpect.extend({ toBe: () => ({ pass: true, message: () => '' }) });"
EMPTY = "const real = globalThis.it; globalThis.it = (title) => real(title, () => {});"
ASSERT = "import assert from 'node:assert';\nassert.strictEqual = assert.strict.equal = () => {};"


@pytest.mark.parametrize(
    ("format", "test", "product", "more", "disagreement"),
    [
        ("vitest", VITEST, "", {}, None),
        ("vitest", GLOBAL, "", {"vitest.config.mjs": GLOBALS}, None),
        ("vitest", VITEST, MATCHERS, {}, RED),
        ("vitest", GLOBAL, NEVER, {"vitest.config.mjs": GLOBALS}, RED),
        ("jest", JEST, "", {"package.json": json.dumps({"jest": {"bail": 1}})}, None),
        ("jest", JEST, NEVER, {"package.json": "{}"}, RED),
        ("mocha", MOCHA, "", {".mocharc.json": json.dumps({"bail": True})}, None),
        ("mocha", MOCHA, EMPTY, {}, RED),
        ("node-test", NODE, "", {}, None),
        ("node-test", NODE, ASSERT, {}, RED),
    ],
)
def test_canaries_vouch_and_see(
    run: Run, format: str, test: str, product: str, more: dict[str, str], disagreement: str | None
) -> None:
    ending = "mjs" if format == "node-test" else "js"
    files = {f"test/a.test.{ending}": test, f"src/product.{ending}": product, **more}
    grading = run(format, files, *COMMANDS[format], canaried=True)
    (end,) = grading.record.suite
    assert (end.complete, end.disagreement) == (True, disagreement), grading.output.decode()
    if disagreement is None:
        assert end.vouched == 1
        assert {test: str(outcome) for test, outcome in grading.outcomes.items()} == {
            f"js|test/a.test.{ending}::own": "passed"
        }
