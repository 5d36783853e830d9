import assert from "node:assert/strict";
import { test } from "node:test";

import { createApp } from "../src/app.ts";
import type { App } from "../src/app.ts";
import { instant } from "../src/util/time.ts";

function house(): App {
  const rooms = [
    { name: "atlas", seats: 8, longest: 240 },
    { name: "nook", seats: 2, longest: 60 },
  ];
  return createApp(rooms, { now: () => instant("2026-03-02T08:00") ?? 0 });
}

function book(app: App, start: string, end: string, room = "atlas", who = "ada"): number {
  const body = { room, who, start: `2026-03-02T${start}`, end: `2026-03-02T${end}` };
  return app.handle({ method: "POST", path: "/bookings", body }).status;
}

test("a booking is made, told, and gone when it is cancelled", () => {
  const app = house();
  assert.equal(book(app, "09:00", "10:00"), 201);
  assert.equal(app.handle({ method: "DELETE", path: "/bookings/b1", query: { who: "bob" } }).status, 403);
  assert.equal(app.handle({ method: "DELETE", path: "/bookings/b1", query: { who: "ada" } }).status, 204);
  assert.deepEqual(
    app.notices.sent.map((notice) => notice.text),
    ["atlas 09:00-10:00 is yours", "atlas 09:00-10:00 is free again"],
  );
});

test("what overlaps is refused", () => {
  const app = house();
  assert.equal(book(app, "10:00", "12:00"), 201);
  for (const [start, end] of [["09:00", "10:01"], ["11:59", "13:00"], ["10:30", "11:00"], ["09:30", "12:30"]]) {
    assert.equal(book(app, start, end), 409, `${start}-${end}`);
  }
  assert.equal(book(app, "10:00", "11:00", "nook"), 201);
});

test("the rules of the house hold", () => {
  const app = house();
  assert.equal(book(app, "07:00", "08:30"), 422);
  assert.equal(book(app, "20:00", "21:30"), 422);
  assert.equal(book(app, "10:00", "10:00"), 422);
  assert.equal(book(app, "10:00", "11:01", "nook"), 422);
});

test("the free times of a day are shown", () => {
  const app = house();
  book(app, "09:00", "10:00");
  book(app, "12:00", "13:00");
  const free = app.handle({ method: "GET", path: "/rooms/atlas/free", query: { day: "2026-03-02" } });
  assert.deepEqual(free.body, ["07:00-09:00", "10:00-12:00", "13:00-21:00"]);
});
