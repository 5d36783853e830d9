"""NanoBench: a hermetic benchmark runner for the coding agent Nanocoder."""

__version__ = "0.1.0"
