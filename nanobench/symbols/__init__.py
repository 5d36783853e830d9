"""Names that stand in source text, found by each language's own grammar, and words that stand in any."""
