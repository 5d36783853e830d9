/** Ids `b1`, `b2`, … for a prefix. */
export function counter(prefix: string): () => string {
  let last = 0;
  return () => {
    last += 1;
    return `${prefix}${last}`;
  };
}
