/** A time from `start` to `end`, in minutes since 1970. */
export interface Slot {
  start: number;
  end: number;
}

/** Do two times stand in each other's way? */
export function collides(one: Slot, other: Slot): boolean {
  return one.start < other.end && other.start < one.end;
}

/** What of `open` is left between the taken times, in order. */
export function gaps(open: Slot, taken: Slot[]): Slot[] {
  const found: Slot[] = [];
  let from = open.start;
  for (const slot of within(open, taken)) {
    if (slot.start > from) {
      found.push({ start: from, end: slot.start });
    }
    from = Math.max(from, slot.end);
  }
  if (from < open.end) {
    found.push({ start: from, end: open.end });
  }
  return found;
}

function within(open: Slot, taken: Slot[]): Slot[] {
  return taken.filter((slot) => collides(slot, open)).sort((a, b) => a.start - b.start);
}
