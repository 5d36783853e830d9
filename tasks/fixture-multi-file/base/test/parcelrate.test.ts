import assert from "node:assert/strict";
import { test } from "node:test";

import { CARRIERS, OrderError, cheapest, formatQuote, parseOrder, quote } from "../src/index.ts";

test("an order is read, longest side first", () => {
  const parcel = parseOrder(" 2kg 10x30x20 A ");
  assert.equal(parcel.weightGrams, 2000);
  assert.deepEqual(parcel.sidesCm, [30, 20, 10]);
  assert.equal(parcel.zone, "A");
});

test("anything else is no order", () => {
  for (const line of ["", "2kg", "2kg 10x30 A", "2kg 10x30x20 D", "two kg 1x1x1 A"]) {
    assert.throws(() => parseOrder(line), OrderError, line);
  }
});

test("every started kilogram after the first is charged", () => {
  const swift = CARRIERS[0];
  assert.equal(quote(parseOrder("1000g 10x10x10 A"), swift)?.totalCents, 490);
  assert.equal(quote(parseOrder("1001g 10x10x10 A"), swift)?.totalCents, 690);
});

test("a parcel that a carrier does not take has no quote", () => {
  assert.equal(quote(parseOrder("1kg 61x10x10 A"), CARRIERS[1]), null);
  assert.equal(cheapest(parseOrder("200kg 10x10x10 A")), null);
});

test("the cheapest carrier wins", () => {
  assert.equal(cheapest(parseOrder("800g 20x10x10 A"))?.carrier, "post");
  assert.equal(cheapest(parseOrder("15kg 90x40x40 B"))?.carrier, "cargo");
});

test("a quote is printed with its lines", () => {
  const found = quote(parseOrder("1200g 30x20x10 B"), CARRIERS[0]);
  assert.ok(found);
  assert.equal(formatQuote(found), "swift: 8.50\n  base 6.50\n  weight 2.00");
});
