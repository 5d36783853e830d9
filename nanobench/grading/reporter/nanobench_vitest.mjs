// A vitest reporter (vitest 1 and later): ids are FILE::SUITE > … > TEST. A file that could not be collected is an
// error of its own.
//
// A type test reports under the id of the test that it checks, and the reader keeps the worse of the two. Types alone
// never make a test pass where its file is run too: otherwise a change that keeps a file from running would leave
// only the good results of its types. So passing type tests are told at the end, and only of files that are never run.

import { createRequire } from "node:module";

const { end, identity, test } = createRequire(import.meta.url)("./nanobench_lines.cjs");

const OUTCOMES = { passed: "passed", failed: "failed", skipped: "skipped" };
const TASKS = { pass: "passed", fail: "failed", skip: "skipped", todo: "skipped" };

export default class {
  #written = new Set();
  #run = new Set();
  #types = [];
  #ended = false;

  onTestRunStart(specifications = []) {
    for (const each of specifications) if (each.pool !== "typescript") this.#run.add(each.moduleId);
  }

  onTestModuleEnd(module) {
    this.#written.add(module);
    for (const each of module.children.allTests()) {
      const { state, errors } = each.result() ?? {};
      const titles = [each.name];
      for (let above = each.parent; above.type === "suite"; above = above.parent) titles.unshift(above.name);
      this.#tell(module.moduleId, titles, OUTCOMES[state], errors, each.meta());
    }
    for (const suite of module.children.allSuites()) this.#broken(module.moduleId, suite);
    this.#broken(module.moduleId, module);
  }

  onTestRunEnd(modules, _errors, reason) {
    if (this.#ended) return;
    for (const module of modules) if (!this.#written.has(module)) this.onTestModuleEnd(module);
    this.#end({ passed: 0, interrupted: 130 }[reason] ?? 1);
  }

  // What vitest before 3 calls.
  onFinished(files = [], errors = []) {
    if (this.#ended) return;
    let failed = errors.length > 0;
    const walk = (task, file, titles) => {
      const { state, errors: found } = task.result ?? {};
      failed ||= state === "fail";
      if (task.type === "test" || task.type === "custom") {
        const ran = task.mode === "run" || task.mode === "only";
        this.#tell(file, titles, TASKS[ran ? state : task.mode], found, task.meta);
      } else if (found?.length) test(identity(file, titles.join(" > ")), "error", found[0]);
      for (const inner of task.tasks ?? []) walk(inner, file, [...titles, inner.name]);
    };
    for (const file of files) if (!file.meta?.typecheck) this.#run.add(file.filepath);
    for (const file of files) walk(file, file.filepath, []);
    this.#end(failed ? 1 : 0);
  }

  #tell(file, titles, outcome, errors, meta) {
    if (outcome === undefined) return;
    const id = identity(file, titles.join(" > "));
    if (!meta?.typecheck) this.#run.add(file);
    if (meta?.typecheck && outcome === "passed") this.#types.push([file, id]);
    else test(id, outcome, errors?.[0]);
  }

  // Errors of a file or suite itself, not of a test in it: hooks, collection.
  #broken(file, task) {
    for (const error of task.errors()) test(identity(file, task.fullName ?? ""), "error", error);
  }

  #end(status) {
    this.#ended = true;
    for (const [file, id] of this.#types) if (!this.#run.has(file)) test(id, "passed");
    end(status);
  }
}
