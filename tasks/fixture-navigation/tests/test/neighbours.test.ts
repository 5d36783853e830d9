import assert from "node:assert/strict";
import { test } from "node:test";

import { createApp } from "../src/app.ts";
import type { App } from "../src/app.ts";
import { instant } from "../src/util/time.ts";

function house(): App {
  const rooms = [{ name: "atlas", seats: 8, longest: 240 }];
  return createApp(rooms, { now: () => instant("2026-03-02T08:00") ?? 0 });
}

function book(app: App, start: string, end: string): number {
  const body = { room: "atlas", who: "ada", start: `2026-03-02T${start}`, end: `2026-03-02T${end}` };
  return app.handle({ method: "POST", path: "/bookings", body }).status;
}

test("a booking may end when the next begins, whichever came first", () => {
  for (const order of [["09:00-10:00", "10:00-11:00"], ["10:00-11:00", "09:00-10:00"]]) {
    const app = house();
    for (const slot of order) {
      const [start, end] = slot.split("-");
      assert.equal(book(app, start, end), 201, `${slot} of ${order.join(", ")}`);
    }
  }
});

test("a gap is filled to the minute", () => {
  const app = house();
  book(app, "09:00", "10:00");
  book(app, "11:00", "12:00");
  assert.equal(book(app, "10:00", "11:00"), 201);
  const free = app.handle({ method: "GET", path: "/rooms/atlas/free", query: { day: "2026-03-02" } });
  assert.deepEqual(free.body, ["07:00-09:00", "12:00-21:00"]);
});

test("one minute too long is still refused", () => {
  const app = house();
  book(app, "10:00", "11:00");
  assert.equal(book(app, "09:00", "10:01"), 409);
  assert.equal(book(app, "10:59", "12:00"), 409);
});
