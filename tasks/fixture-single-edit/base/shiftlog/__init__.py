"""Hours worked, from a plain text log."""

from shiftlog.parse import LogError, Shift, read_log
from shiftlog.report import weekly

__all__ = ["LogError", "Shift", "read_log", "weekly"]
