/** Where "now" comes from, in minutes since 1970. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = {
  now: () => Math.floor(Date.now() / 60_000),
};
