import { Problem } from "../http/router.ts";
import { instant } from "../util/time.ts";
import type { Slot } from "./slots.ts";

export interface Wish {
  room: string;
  who: string;
  slot: Slot;
}

export interface Booking extends Wish {
  id: string;
}

/** What a request asks for; a problem of status 400 when it does not say. */
export function readWish(body: unknown): Wish {
  const { room, who, start, end } = (body ?? {}) as Record<string, unknown>;
  if (typeof room !== "string" || typeof who !== "string" || who === "") {
    throw new Problem(400, "room and who are needed");
  }
  return { room, who, slot: { start: time(start, "start"), end: time(end, "end") } };
}

function time(value: unknown, name: string): number {
  const found = typeof value === "string" ? instant(value) : null;
  if (found === null) {
    throw new Problem(400, `${name} is missing or no time`);
  }
  return found;
}
