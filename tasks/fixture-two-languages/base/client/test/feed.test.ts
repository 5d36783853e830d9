import assert from "node:assert/strict";
import { test } from "node:test";

import { FormatError, readPage, readings } from "../src/index.ts";

const reading = (id: number) => ({ id, at: "2026-03-02T09:00Z", mm: 1200 + id });

test("a single page is read to its end", async () => {
  const found = [];
  for await (const one of readings(async () => ({ readings: [reading(2), reading(1)], total: 2 }))) {
    found.push(one.id);
  }
  assert.deepEqual(found, [2, 1]);
});

test("what is no page is told", () => {
  for (const body of [null, {}, { readings: [], total: -1 }, { readings: [{ id: "1" }], total: 1 }, "page"]) {
    assert.throws(() => readPage(body), FormatError);
  }
});
