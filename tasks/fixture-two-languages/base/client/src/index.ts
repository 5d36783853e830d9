export { readings } from "./feed.ts";
export { FormatError, readPage } from "./page.ts";
export type { Fetch, Page, Reading } from "./types.ts";
