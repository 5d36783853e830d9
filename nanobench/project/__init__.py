"""The project folder: where specs and locks are, how they are read, and when a lock is stale."""
