// A vitest reporter (vitest 1 and later): ids are FILE::SUITE > … > TEST. Type tests report under the id of the test
// that they check, so the reader keeps the worse of the two. A file that could not be collected is an error of its own.

import { createRequire } from "node:module";

const { end, identity, test } = createRequire(import.meta.url)("./nanobench_lines.cjs");

const OUTCOMES = { passed: "passed", failed: "failed", skipped: "skipped" };
const TASKS = { pass: "passed", fail: "failed", skip: "skipped", todo: "skipped" };

export default class {
  #written = new Set();
  #ended = false;

  onTestModuleEnd(module) {
    this.#written.add(module);
    for (const each of module.children.allTests()) {
      const { state, errors } = each.result() ?? {};
      const titles = [each.name];
      for (let above = each.parent; above.type === "suite"; above = above.parent) titles.unshift(above.name);
      if (state in OUTCOMES) test(identity(module.moduleId, titles.join(" > ")), OUTCOMES[state], errors?.[0]);
    }
    for (const suite of module.children.allSuites()) this.#broken(module.moduleId, suite);
    this.#broken(module.moduleId, module);
  }

  onTestRunEnd(modules, _errors, reason) {
    if (this.#ended) return;
    this.#ended = true;
    for (const module of modules) if (!this.#written.has(module)) this.onTestModuleEnd(module);
    end({ passed: 0, interrupted: 130 }[reason] ?? 1);
  }

  // What vitest before 3 calls.
  onFinished(files = [], errors = []) {
    if (this.#ended) return;
    this.#ended = true;
    let failed = errors.length > 0;
    const walk = (task, file, titles) => {
      const { state, errors: found } = task.result ?? {};
      failed ||= state === "fail";
      const outcome = TASKS[task.mode === "run" || task.mode === "only" ? state : task.mode] ?? TASKS[state];
      if (task.type === "test" || task.type === "custom") {
        if (outcome) test(identity(file, titles.join(" > ")), outcome, found?.[0]);
      } else if (found?.length) test(identity(file, titles.join(" > ")), "error", found[0]);
      for (const inner of task.tasks ?? []) walk(inner, file, [...titles, inner.name]);
    };
    for (const file of files) walk(file, file.filepath, []);
    end(failed ? 1 : 0);
  }

  // Errors of a file or suite itself, not of a test in it: hooks, collection.
  #broken(file, task) {
    for (const error of task.errors()) test(identity(file, task.fullName ?? ""), "error", error);
  }
}
