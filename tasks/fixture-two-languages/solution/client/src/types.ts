export interface Reading {
  id: number;
  at: string;
  mm: number;
}

export interface Page {
  readings: Reading[];
  total: number;
  /** Where the next page goes on; the last page has none. */
  next?: number;
}

/** Gets the body for a query such as `limit=50`. */
export type Fetch = (query: string) => Promise<unknown>;
