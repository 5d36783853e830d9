// The mocha reporter, which before the run turns the order of suites and of the tests in each around.

"use strict";

const Reporter = require("./nanobench_mocha.cjs");

const turn = (suite) => {
  suite.tests.reverse();
  suite.suites.reverse();
  suite.suites.forEach(turn);
};

module.exports = class extends Reporter {
  constructor(runner, options) {
    turn(runner.suite);
    super(runner, options);
  }
};
