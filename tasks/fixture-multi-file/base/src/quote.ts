import { CARRIERS } from "./carriers.ts";
import type { Carrier, Line, Parcel, Quote } from "./types.ts";

/** What a carrier asks for a parcel; null when it does not take it. */
export function quote(parcel: Parcel, carrier: Carrier): Quote | null {
  if (!takes(carrier, parcel)) {
    return null;
  }
  const lines: Line[] = [{ label: "base", cents: carrier.baseCents[parcel.zone] }];
  const kilos = Math.ceil(parcel.weightGrams / 1000) - 1;
  if (kilos > 0) {
    lines.push({ label: "weight", cents: kilos * carrier.kiloCents });
  }
  return { carrier: carrier.name, lines, totalCents: total(lines) };
}

/** The cheapest quote of all carriers; the first one where several are. */
export function cheapest(parcel: Parcel, carriers: readonly Carrier[] = CARRIERS): Quote | null {
  let best: Quote | null = null;
  for (const carrier of carriers) {
    const found = quote(parcel, carrier);
    if (found !== null && (best === null || found.totalCents < best.totalCents)) {
      best = found;
    }
  }
  return best;
}

function takes(carrier: Carrier, parcel: Parcel): boolean {
  return parcel.weightGrams <= carrier.maxGrams && parcel.sidesCm[0] <= carrier.maxSideCm;
}

function total(lines: Line[]): number {
  return lines.reduce((sum, line) => sum + line.cents, 0);
}
