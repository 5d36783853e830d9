export interface Reading {
  id: number;
  at: string;
  mm: number;
}

export interface Page {
  readings: Reading[];
  total: number;
  nextOffset?: number;
}

/** Gets the body for a query such as `limit=50`. */
export type Fetch = (query: string) => Promise<unknown>;
