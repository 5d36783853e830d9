"""Statistics, by section 7 of the rules: intervals, paired tests, corrections, and what may be claimed at all.

Pure, and the mathematics is scipy's; ``import scipy`` alone is quick, since it loads its parts when they are first
asked for. The unit of a comparison is the task: repeats of one task are not independent, so they collapse to one
mean. Random numbers are drawn from a fixed seed: the same results give the same figures.
"""
