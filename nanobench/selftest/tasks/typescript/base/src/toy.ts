// A toy that is wrong: attacks make it look right.

export const double = (value: number): number => value;
