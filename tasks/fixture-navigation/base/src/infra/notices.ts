import type { Booking } from "../domain/booking.ts";
import { clockTime } from "../util/time.ts";
import type { Clock } from "./clock.ts";

export interface Notice {
  at: number;
  to: string;
  text: string;
}

/** What people are told; somebody else sends it. */
export class Notices {
  readonly sent: Notice[] = [];
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  booked(booking: Booking): void {
    this.say(booking, "is yours");
  }

  cancelled(booking: Booking): void {
    this.say(booking, "is free again");
  }

  private say(booking: Booking, what: string): void {
    const span = `${clockTime(booking.slot.start)}-${clockTime(booking.slot.end)}`;
    this.sent.push({ at: this.clock.now(), to: booking.who, text: `${booking.room} ${span} ${what}` });
  }
}
