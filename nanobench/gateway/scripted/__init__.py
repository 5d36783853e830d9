"""Providers that follow a script instead of a model, behind the same wire as any other.

They prove the harness: what a perfect agent and an idle one score is known in advance.
"""
