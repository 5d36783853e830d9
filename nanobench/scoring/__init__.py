"""Score, causes, derived tests: pure functions without I/O, by the rules of the benchmark."""
