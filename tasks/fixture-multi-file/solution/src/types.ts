export type Zone = "A" | "B" | "C";

export interface Parcel {
  weightGrams: number;
  /** Longest side first. */
  sidesCm: [number, number, number];
  zone: Zone;
  /** What it is insured for; 0 when it is not. */
  insuredCents: number;
}

export interface Carrier {
  name: string;
  baseCents: Record<Zone, number>;
  /** For every started kilogram after the first. */
  kiloCents: number;
  maxGrams: number;
  maxSideCm: number;
  /** What it insures at most, and the price of every started 100.00; null when it insures nothing. */
  insurance: Insurance | null;
}

export interface Insurance {
  maxCents: number;
  stepCents: number;
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
