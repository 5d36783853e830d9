import { readPage } from "./page.ts";
import type { Fetch, Reading } from "./types.ts";

/** All readings, newest first. Pages are fetched as they are needed. */
export async function* readings(fetch: Fetch, limit = 50): AsyncGenerator<Reading> {
  let query = `limit=${limit}`;
  for (;;) {
    const page = readPage(await fetch(query));
    yield* page.readings;
    if (page.next === undefined) {
      return;
    }
    query = `before=${page.next}&limit=${limit}`;
  }
}
