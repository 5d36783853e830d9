import assert from "node:assert/strict";
import { test } from "node:test";

import { CARRIERS, OrderError, cheapest, formatQuote, parseOrder, quote } from "../src/index.ts";

const [swift, post, cargo] = CARRIERS;

test("an order says what the parcel is insured for", () => {
  assert.equal(parseOrder("2kg 30x20x10 A insured 250.00").insuredCents, 25_000);
  assert.equal(parseOrder("2kg 30x20x10 A insured 250").insuredCents, 25_000);
  assert.equal(parseOrder("2kg 30x20x10 A insured 0.05").insuredCents, 5);
});

test("without a word about it a parcel is not insured", () => {
  assert.equal(parseOrder("2kg 30x20x10 A").insuredCents, 0);
});

test("half an insurance is no order", () => {
  for (const end of ["insured", "insured much", "insured 2.5", "insured -1", "insured 1 2"]) {
    assert.throws(() => parseOrder(`2kg 30x20x10 A ${end}`), OrderError, end);
  }
});

test("every started hundred is charged on a line of its own, after the weight", () => {
  const lines = (value: string) => quote(parseOrder(`1200g 30x20x10 B insured ${value}`), swift)?.lines;
  const before = [
    { label: "base", cents: 650 },
    { label: "weight", cents: 200 },
  ];
  assert.deepEqual(lines("100.00"), [...before, { label: "insurance", cents: 120 }]);
  assert.deepEqual(lines("100.01"), [...before, { label: "insurance", cents: 240 }]);
  assert.deepEqual(lines("0"), before);
});

test("the total holds the insurance and the quote shows it", () => {
  const found = quote(parseOrder("800g 30x20x10 A insured 500"), swift);
  assert.ok(found);
  assert.equal(found.totalCents, 490 + 600);
  assert.equal(formatQuote(found), "swift: 10.90\n  base 4.90\n  insurance 6.00");
});

test("a carrier insures up to its limit and not beyond", () => {
  assert.ok(quote(parseOrder("1kg 10x10x10 A insured 500.00"), swift));
  assert.equal(quote(parseOrder("1kg 10x10x10 A insured 500.01"), swift), null);
  assert.ok(quote(parseOrder("1kg 10x10x10 A insured 5000"), cargo));
  assert.equal(quote(parseOrder("1kg 10x10x10 A insured 5000.01"), cargo), null);
});

test("a carrier that insures nothing takes what needs no insurance", () => {
  assert.equal(quote(parseOrder("1kg 10x10x10 A insured 0.01"), post), null);
  assert.equal(quote(parseOrder("1kg 10x10x10 A"), post)?.totalCents, 420);
});

test("the cheapest is the cheapest of those that insure enough", () => {
  assert.equal(cheapest(parseOrder("800g 20x10x10 A insured 80"))?.carrier, "swift");
  assert.equal(cheapest(parseOrder("800g 20x10x10 A insured 800"))?.carrier, "cargo");
  assert.equal(cheapest(parseOrder("800g 20x10x10 A insured 8000")), null);
});
