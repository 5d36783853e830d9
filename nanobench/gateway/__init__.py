"""The sandbox's single way out to a model: it holds the key, pins the sampling, records every exchange.

It knows the wires in :mod:`nanobench.gateway.dialects` and nothing of the agent that speaks them.
"""
