// A mocha reporter: ids are FILE::FULL TITLE (titles joined by blanks, as mocha says them). A failing hook is an error
// of its own; the tests that it kept from running are absent.

"use strict";

const { end, identity, test } = require("./nanobench_lines.cjs");

module.exports = class {
  constructor(runner) {
    let failures = 0;
    const named = (each) => identity(each.file ?? each.parent?.file ?? "", each.fullTitle());
    runner.on("pass", (each) => test(named(each), "passed"));
    runner.on("pending", (each) => test(named(each), "skipped"));
    runner.on("fail", (each, error) => {
      failures += 1;
      test(named(each), each.type === "hook" ? "error" : "failed", error);
      console.error(`${each.fullTitle()}\n${error?.stack ?? error}\n`);
    });
    runner.once("end", () => end(Math.min(failures, 255)));
  }
};
