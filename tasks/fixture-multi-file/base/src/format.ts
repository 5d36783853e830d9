import type { Quote } from "./types.ts";

/** A quote for people: the total, and what it is made of. */
export function formatQuote(quote: Quote): string {
  const lines = quote.lines.map((line) => `  ${line.label} ${money(line.cents)}`);
  return [`${quote.carrier}: ${money(quote.totalCents)}`, ...lines].join("\n");
}

export function money(cents: number): string {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`;
}
