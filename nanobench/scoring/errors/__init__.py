"""What an error says that a runtime, a compiler or a test runner gave: a missing name, a mismatch, or something else.

One module a language, from the front :mod:`.recognise`. Pure functions over text that code under test may have
written: whatever it is, nothing raises, and the work grows with its length alone.
"""
