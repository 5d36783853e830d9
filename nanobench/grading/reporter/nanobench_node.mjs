// A reporter of Node's own test runner: ids are FILE::SUITE > … > TEST. What it yields is nothing: Node's own "spec"
// reporter talks to people. A suite is an error of its own only when something else than a test in it failed. A file
// that could not be run is a test named after it; why, only its process said.

import { createRequire } from "node:module";
import { resolve } from "node:path";

const { end, identity, test } = createRequire(import.meta.url)("./nanobench_lines.cjs");

const THROWN = /^(?<name>\w*Error)(?: \[\w+\])?: (?<message>.*)/;

export default async function* (source) {
  const open = new Map();
  const thrown = new Map();
  let failed = false;
  for await (const { type, data } of source) {
    const titles = open.get(data.file) ?? [];
    open.set(data.file, titles);
    if (type === "test:stderr") {
      const found = THROWN.exec(data.message)?.groups;
      if (found) thrown.set(resolve(data.file), found); // Node 22 and later tell it below the working folder
    } else if (type === "test:start") {
      titles.splice(data.nesting, Infinity, data.name);
    } else if (type === "test:pass" || type === "test:fail") {
      const id = identity(data.file ?? "", [...titles.slice(0, data.nesting), data.name].join(" > "));
      failed ||= type === "test:fail" && data.todo === undefined;
      report(id, type, data, thrown.get(resolve(data.file ?? "")));
    }
  }
  end(failed ? 1 : 0);
  yield "";
}

function report(id, type, { details, skip, todo }, printed) {
  const error = details?.error;
  const below = error?.failureType === "subtestsFailed";
  if (details?.type === "suite") {
    if (type === "test:fail" && !below) test(id, "error", error?.cause ?? error);
  } else if (skip !== undefined || todo !== undefined) {
    test(id, "skipped");
  } else {
    const ended = error?.exitCode !== undefined;
    test(id, type === "test:pass" ? "passed" : "failed", (ended && printed) || (error?.cause ?? error));
  }
}
