import type { Page, Reading } from "./types.ts";

export class FormatError extends Error {}

/** A page out of a body; a FormatError when it is none. */
export function readPage(body: unknown): Page {
  const { readings, total, nextOffset } = (body ?? {}) as Record<string, unknown>;
  if (!Array.isArray(readings) || !isCount(total)) {
    throw new FormatError("no page");
  }
  if (nextOffset !== undefined && !isCount(nextOffset)) {
    throw new FormatError("nextOffset is no number");
  }
  return { readings: readings.map(readReading), total, nextOffset };
}

function readReading(value: unknown): Reading {
  const { id, at, mm } = (value ?? {}) as Record<string, unknown>;
  if (!isCount(id) || typeof at !== "string" || !Number.isInteger(mm)) {
    throw new FormatError("no reading");
  }
  return { id, at, mm: mm as number };
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}
