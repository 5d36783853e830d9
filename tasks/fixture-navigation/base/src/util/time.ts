const DAY = 24 * 60;
const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)$/;

/** The minute since 1970 that `2026-03-02T09:00` is; null for anything else. */
export function instant(text: string): number | null {
  const match = TIME.exec(text);
  const day = match === null ? null : dayOf(match[1]);
  return match === null || day === null || minutes(match[2]) >= DAY ? null : day + minutes(match[2]);
}

/** The first minute of a day such as `2026-03-02`; null for anything else. */
export function dayOf(text: string): number | null {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(time) ? null : time / 60_000;
}

/** Minutes of a clock time such as `09:30`. */
export function minutes(text: string): number {
  const [hours, rest] = text.split(":").map(Number);
  return hours * 60 + rest;
}

export function minuteOfDay(time: number): number {
  return time % DAY;
}

export function sameDay(one: number, other: number): boolean {
  return Math.floor(one / DAY) === Math.floor(other / DAY);
}

/** `09:30` for a time. */
export function clockTime(time: number): string {
  const minute = minuteOfDay(time);
  return `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
}
