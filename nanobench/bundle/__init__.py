"""The published form of a run: a folder of canonical JSON, locks and blobs, and one manifest of digests."""
