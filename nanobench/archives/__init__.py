"""Archives: the one canonical tar that layers are made of, and the careful reading of everybody else's."""
