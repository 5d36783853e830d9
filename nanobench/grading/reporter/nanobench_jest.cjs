// A jest reporter: ids are FILE::SUITE > … > TEST. A file that could not be run is an error of its own.

"use strict";

const { end, identity, test } = require("./nanobench_lines.cjs");

const OUTCOMES = { passed: "passed", failed: "failed", pending: "skipped", skipped: "skipped", todo: "skipped" };

module.exports = class {
  onTestResult(_test, result) {
    for (const each of result.testResults) {
      const id = identity(result.testFilePath, [...each.ancestorTitles, each.title].join(" > "));
      const thrown = each.failureDetails?.[0];
      if (each.status in OUTCOMES) {
        test(id, OUTCOMES[each.status], thrown?.message ? thrown : each.failureMessages?.[0]);
      }
    }
    if (result.testExecError) test(identity(result.testFilePath, ""), "error", result.testExecError);
  }

  onRunComplete(_contexts, results) {
    end(results.success ? 0 : 1);
  }
};
