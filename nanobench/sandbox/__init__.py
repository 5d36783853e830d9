"""Run one command in an image, sealed: no network, no keys, limits, and nothing left behind."""
