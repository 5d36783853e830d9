"""What NanoBench costs, measured in one run on one machine beside the bare tools. ``make bench`` runs it.

Nothing here is a test: machines differ and other work disturbs. What is read is the ratio of two medians that were
taken in turns.
"""
