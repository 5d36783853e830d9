"""Another order of the same tests, as the flakiness gate asks for it; every test is reported all the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nanobench.grading.suites import Grading

pytestmark = pytest.mark.network

Run = Callable[..., Grading]

SEEN = "globalThis.seen ??= [];\n"
TEST = 't("t{0}", () => {{ seen.push({0}); if (seen.length !== {1}) throw Error("order"); }});\n'
TESTS = "".join(TEST.format(n, n + 1) for n in range(5))
ONE_A_FILE = """
const { appendFileSync, readFileSync } = require("node:fs");
test("t", () => {
  appendFileSync("/tmp/seen", "x");
  expect(readFileSync("/tmp/seen", "utf8").length).toBe(NUMBER);
});
"""
FILES = {
    "vitest": {"tests/a.test.js": f'import {{ test as t }} from "vitest";\n{SEEN}{TESTS}'},
    "mocha": {"tests/a.js": f"const t = it;\n{SEEN}{TESTS}"},
    "jest": {
        "package.json": '{"jest": {}}',
        **{f"{n}.test.js": ONE_A_FILE.replace("NUMBER", str(n + 1)) for n in range(4)},
    },
}
COMMANDS = {
    "vitest": ("./node_modules/.bin/vitest", "run"),
    "mocha": ("node", "node_modules/mocha/bin/mocha.js", "tests/a.js"),
    "jest": ("./node_modules/.bin/jest", "--runInBand"),
}


@pytest.mark.parametrize("runner", COMMANDS)
def test_the_order_is_another_one_and_every_test_is_reported(run: Run, runner: str) -> None:
    first = run(runner, FILES[runner], *COMMANDS[runner])
    other = run(runner, FILES[runner], *COMMANDS[runner], shuffled=True)
    again = run(runner, FILES[runner], *COMMANDS[runner], shuffled=True)
    assert len(other.outcomes) == len(first.outcomes) > 0
    assert first.outcomes != other.outcomes
    assert other.outcomes == again.outcomes
