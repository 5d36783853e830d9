import assert from "node:assert/strict";
import { test } from "node:test";

import { FormatError, readPage, readings } from "../src/index.ts";

const reading = (id: number) => ({ id, at: "2026-03-02T09:00Z", mm: 1200 + id });

/** A feed whose gauge goes on while it is read. */
function growing(newest: number) {
  const asked: string[] = [];
  let last = newest;
  const fetch = async (query: string) => {
    asked.push(query);
    const { before, limit } = Object.fromEntries(new URLSearchParams(query));
    const from = before === undefined ? last : Number(before) - 1;
    const ids = Array.from({ length: from }, (_, at) => from - at);
    const page = ids.slice(0, Number(limit)).map(reading);
    last += 1;
    return { readings: page, total: last - 1, ...(ids.length > page.length ? { next: page.at(-1)?.id } : {}) };
  };
  return { fetch, asked };
}

test("every reading comes once while new ones arrive", async () => {
  const { fetch, asked } = growing(7);
  const found = [];
  for await (const one of readings(fetch, 3)) {
    found.push(one.id);
  }
  assert.deepEqual(found, [7, 6, 5, 4, 3, 2, 1]);
  assert.deepEqual(asked, ["limit=3", "before=5&limit=3", "before=2&limit=3"]);
});

test("a page is fetched only when it is needed", async () => {
  const { fetch, asked } = growing(7);
  for await (const one of readings(fetch, 3)) {
    if (one.id === 5) {
      break;
    }
  }
  assert.equal(asked.length, 1);
});

test("where a page goes on is part of it", () => {
  assert.equal(readPage({ readings: [reading(4)], total: 9, next: 4 }).next, 4);
  assert.equal(readPage({ readings: [reading(4)], total: 9 }).next, undefined);
  for (const next of ["4", -1, 1.5, null]) {
    assert.throws(() => readPage({ readings: [reading(4)], total: 9, next }), FormatError);
  }
});
