export type Zone = "A" | "B" | "C";

export interface Parcel {
  weightGrams: number;
  /** Longest side first. */
  sidesCm: [number, number, number];
  zone: Zone;
}

export interface Carrier {
  name: string;
  baseCents: Record<Zone, number>;
  /** For every started kilogram after the first. */
  kiloCents: number;
  maxGrams: number;
  maxSideCm: number;
}

export interface Line {
  label: string;
  cents: number;
}

export interface Quote {
  carrier: string;
  lines: Line[];
  totalCents: number;
}
