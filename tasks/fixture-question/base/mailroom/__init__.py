"""Sorts mail."""
