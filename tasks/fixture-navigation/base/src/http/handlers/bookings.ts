import type { Booking } from "../../domain/booking.ts";
import { readWish } from "../../domain/booking.ts";
import { checkPolicy } from "../../domain/policy.ts";
import { collides } from "../../domain/slots.ts";
import type { Clock } from "../../infra/clock.ts";
import type { Notices } from "../../infra/notices.ts";
import type { Store } from "../../infra/store.ts";
import { Problem } from "../router.ts";
import type { Request, Response } from "../router.ts";

export class BookingHandlers {
  private readonly store: Store;
  private readonly clock: Clock;
  private readonly notices: Notices;
  private readonly nextId: () => string;

  constructor(store: Store, clock: Clock, notices: Notices, nextId: () => string) {
    this.store = store;
    this.clock = clock;
    this.notices = notices;
    this.nextId = nextId;
  }

  create(request: Request): Response {
    const wish = readWish(request.body);
    const room = this.store.room(wish.room);
    if (room === undefined) {
      throw new Problem(404, `no room ${wish.room}`);
    }
    const refusal = checkPolicy(wish, room, this.clock.now());
    if (refusal !== null) {
      throw new Problem(422, refusal);
    }
    if (this.store.bookings(room.name).some((other) => collides(wish.slot, other.slot))) {
      throw new Problem(409, `${room.name} is taken then`);
    }
    const booking: Booking = { ...wish, id: this.nextId() };
    this.store.add(booking);
    this.notices.booked(booking);
    return { status: 201, body: { id: booking.id } };
  }

  cancel(request: Request): Response {
    const booking = this.store.booking(request.params?.id ?? "");
    if (booking === undefined) {
      throw new Problem(404, "no such booking");
    }
    if (booking.who !== request.query?.who) {
      throw new Problem(403, "not yours");
    }
    this.store.remove(booking.id);
    this.notices.cancelled(booking);
    return { status: 204 };
  }
}
