// A jest reporter: ids are FILE::SUITE > … > TEST. A file that could not be run is an error of its own. An error of a
// test crosses from jest's worker without its name, which its stack still begins with.

"use strict";

const { end, identity, test } = require("./nanobench_lines.cjs");

const OUTCOMES = { passed: "passed", failed: "failed", pending: "skipped", skipped: "skipped", todo: "skipped" };
const NAME = /^\w*Error\b/;

module.exports = class {
  onTestResult(_test, result) {
    for (const each of result.testResults) {
      const id = identity(result.testFilePath, [...each.ancestorTitles, each.title].join(" > "));
      const stack = each.failureMessages?.[0];
      const { message, name = NAME.exec(stack)?.[0] } = each.failureDetails?.[0] ?? {};
      if (each.status in OUTCOMES) test(id, OUTCOMES[each.status], message ? { message, name } : stack);
    }
    if (result.testExecError) test(identity(result.testFilePath, ""), "error", result.testExecError);
  }

  onRunComplete(_contexts, results) {
    end(results.success ? 0 : 1);
  }
};
