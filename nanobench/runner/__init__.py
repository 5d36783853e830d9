"""Runs what is locked: plan, cells, attempts, and the bundle at the end."""
