import { minuteOfDay, minutes, sameDay } from "../util/time.ts";
import type { Wish } from "./booking.ts";
import type { Room } from "./room.ts";

export const OPEN_FROM = "07:00";
export const OPEN_UNTIL = "21:00";

/** Why a wish is against the rules of the house; null when it is not. */
export function checkPolicy(wish: Wish, room: Room, now: number): string | null {
  const { start, end } = wish.slot;
  if (end <= start) {
    return "the end is not after the start";
  }
  if (start < now) {
    return "that is over";
  }
  if (!sameDay(start, end)) {
    return "one day at a time";
  }
  if (minuteOfDay(start) < minutes(OPEN_FROM) || minuteOfDay(end) > minutes(OPEN_UNTIL)) {
    return `the house is open from ${OPEN_FROM} to ${OPEN_UNTIL}`;
  }
  if (end - start > room.longest) {
    return `at most ${room.longest} minutes`;
  }
  return null;
}
