"""Frozen attrs classes of everything that is on disk. They know nothing of files or bytes."""
