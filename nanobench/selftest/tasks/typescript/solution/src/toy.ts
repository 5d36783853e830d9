// A toy that is right.

export const double = (value: number): number => 2 * value;
