"""Bytes ↔ model: strict reading, canonical writing, digests, JSON Schemas. No I/O beyond bytes."""
