import type { Carrier } from "./types.ts";

export const CARRIERS: readonly Carrier[] = [
  {
    name: "swift",
    baseCents: { A: 490, B: 650, C: 1290 },
    kiloCents: 200,
    maxGrams: 20_000,
    maxSideCm: 120,
    insurance: { maxCents: 50_000, stepCents: 120 },
  },
  {
    name: "post",
    baseCents: { A: 420, B: 690, C: 1490 },
    kiloCents: 150,
    maxGrams: 10_000,
    maxSideCm: 60,
    insurance: null,
  },
  {
    name: "cargo",
    baseCents: { A: 1500, B: 1500, C: 1900 },
    kiloCents: 40,
    maxGrams: 100_000,
    maxSideCm: 300,
    insurance: { maxCents: 500_000, stepCents: 80 },
  },
];
