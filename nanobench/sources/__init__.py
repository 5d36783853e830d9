"""Where a task's trees come from, its one-commit repository, and the patches between trees."""
