import type { Parcel, Zone } from "./types.ts";

const ORDER = /^(\d+)(g|kg)\s+(\d+)x(\d+)x(\d+)\s+([ABC])(?:\s+insured\s+(\d+)(?:\.(\d\d))?)?$/;

export class OrderError extends Error {
  constructor(line: string) {
    super(`not an order: ${line}`);
    this.name = "OrderError";
  }
}

/** Read an order such as `1200g 30x20x10 B` or `2kg 30x20x10 A insured 250.00`. */
export function parseOrder(line: string): Parcel {
  const match = ORDER.exec(line.trim());
  if (match === null) {
    throw new OrderError(line);
  }
  const [, weight, unit, a, b, c, zone, insured, insuredRest] = match;
  const sides = [Number(a), Number(b), Number(c)].sort((x, y) => y - x);
  return {
    weightGrams: Number(weight) * (unit === "kg" ? 1000 : 1),
    sidesCm: sides as [number, number, number],
    zone: zone as Zone,
    insuredCents: Number(insured ?? 0) * 100 + Number(insuredRest ?? 0),
  };
}
