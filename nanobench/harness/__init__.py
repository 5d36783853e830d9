"""Nanocoder: its locked closure, configuration, invocation and the contract of its report."""
