// What every JavaScript reporter here writes: one JSON line a test, as it comes, as nanobench_reporter.py does.
//
//   {"id": "src/a.test.ts::adds > small numbers", "message": "…", "outcome": "failed", "type": "AssertionError"}
//   {"end": 1}
//
// Lines go to $NANOBENCH_REPORT, opened for appending and never buffered, so that a crash keeps what ran; each begins
// with its seal (see seal.py). The variable and the key of the seals are taken at once: a runner that a test starts finds
// nothing to write with. `end` is the runner's exit status; it is missing when the runner did not get that far. Needs
// Node 20 and nothing else.

"use strict";

const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");

const LIMIT = 2000;

const target = process.env.NANOBENCH_REPORT;
const root = process.env.NANOBENCH_ROOT ?? process.cwd();
delete process.env.NANOBENCH_REPORT;
let key = take();
const descriptor = key ? fs.openSync(target, "a", 0o644) : null;

function take() {
  try {
    const beside = path.join(path.dirname(target), "key");
    const found = fs.readFileSync(beside, "latin1");
    fs.unlinkSync(beside);
    return found;
  } catch {
    return null;
  }
}

const sealed = (text) => createHash("sha256").update(text).digest("hex");

function line(document) {
  if (descriptor === null) return;
  const body = JSON.stringify(document);
  let rest = Buffer.from(`${sealed(key + body)} ${body}\n`);
  key = sealed(key);
  while (rest.length) rest = rest.subarray(fs.writeSync(descriptor, rest));
}

// Plain text of whatever a project throws.
function words(value) {
  try {
    return String(value ?? "").toWellFormed();
  } catch {
    return "";
  }
}

// A test's id: its file below the workspace, and its titles.
exports.identity = (file, title) => {
  const absolute = path.resolve(root, words(file));
  return `${path.relative(root, absolute)}::${words(title)}`;
};

// What became of a test; `error` (name and message) belongs to one that did not pass.
exports.test = (id, outcome, error) => {
  const document = { id: words(id), outcome };
  if (outcome === "failed" || outcome === "error") {
    document.message = words(error?.message ?? error).slice(0, LIMIT).toWellFormed();
    document.type = words(error?.name ?? error?.constructor?.name).slice(0, LIMIT).toWellFormed();
  }
  line(document);
};

exports.end = (status) => line({ end: status });
