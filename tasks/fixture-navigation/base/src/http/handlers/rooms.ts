import { OPEN_FROM, OPEN_UNTIL } from "../../domain/policy.ts";
import { gaps } from "../../domain/slots.ts";
import type { Store } from "../../infra/store.ts";
import { clockTime, dayOf, minutes } from "../../util/time.ts";
import { Problem } from "../router.ts";
import type { Request, Response } from "../router.ts";

export class RoomHandlers {
  private readonly store: Store;

  constructor(store: Store) {
    this.store = store;
  }

  all(): Response {
    return { status: 200, body: this.store.rooms() };
  }

  free(request: Request): Response {
    const room = this.store.room(request.params?.room ?? "");
    if (room === undefined) {
      throw new Problem(404, "no such room");
    }
    const day = dayOf(request.query?.day ?? "");
    if (day === null) {
      throw new Problem(400, "day is missing or no date");
    }
    const open = { start: day + minutes(OPEN_FROM), end: day + minutes(OPEN_UNTIL) };
    const taken = this.store.bookings(room.name).map((booking) => booking.slot);
    return { status: 200, body: gaps(open, taken).map((slot) => `${clockTime(slot.start)}-${clockTime(slot.end)}`) };
  }
}
