export { CARRIERS } from "./carriers.ts";
export { formatQuote } from "./format.ts";
export { OrderError, parseOrder } from "./parse.ts";
export { cheapest, quote } from "./quote.ts";
export type { Carrier, Line, Parcel, Quote, Zone } from "./types.ts";
