"""Names that stand in source text, found by each language's own grammar: pure functions over texts and patches."""
