import { BookingHandlers } from "./http/handlers/bookings.ts";
import { RoomHandlers } from "./http/handlers/rooms.ts";
import { Router } from "./http/router.ts";
import type { Request, Response } from "./http/router.ts";
import type { Room } from "./domain/room.ts";
import type { Clock } from "./infra/clock.ts";
import { Notices } from "./infra/notices.ts";
import { Store } from "./infra/store.ts";
import { counter } from "./util/ids.ts";

export interface App {
  handle(request: Request): Response;
  notices: Notices;
}

export function createApp(rooms: Room[], clock: Clock): App {
  const store = new Store(rooms);
  const notices = new Notices(clock);
  const bookings = new BookingHandlers(store, clock, notices, counter("b"));
  const listing = new RoomHandlers(store);
  const router = new Router();
  router.add("GET", "/rooms", () => listing.all());
  router.add("GET", "/rooms/:room/free", (request) => listing.free(request));
  router.add("POST", "/bookings", (request) => bookings.create(request));
  router.add("DELETE", "/bookings/:id", (request) => bookings.cancel(request));
  return { handle: (request) => router.handle(request), notices };
}
