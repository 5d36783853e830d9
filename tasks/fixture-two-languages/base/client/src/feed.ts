import { readPage } from "./page.ts";
import type { Fetch, Reading } from "./types.ts";

/** All readings, newest first. Pages are fetched as they are needed. */
export async function* readings(fetch: Fetch, limit = 50): AsyncGenerator<Reading> {
  let offset: number | undefined = 0;
  while (offset !== undefined) {
    const page = readPage(await fetch(`offset=${offset}&limit=${limit}`));
    yield* page.readings;
    offset = page.nextOffset;
  }
}
