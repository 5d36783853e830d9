from datetime import date, timedelta

import pytest

from shiftlog import LogError, read_log, weekly
from shiftlog.report import hours


def test_a_shift_is_read_without_its_break():
    (shift,) = read_log("# log\n\n2026-03-02 09:00-17:30 30 office, first floor\n")
    assert (shift.day, shift.worked) == (date(2026, 3, 2), timedelta(hours=8))
    assert shift.note == "office, first floor"


@pytest.mark.parametrize("line", ["2026-03-02 9-17 30 office", "2026-02-30 09:00-17:00 0 x", "2026-03-02 09:00-17:00 0"])
def test_a_line_that_is_no_shift_is_named(line):
    with pytest.raises(LogError) as error:
        read_log(f"# first\n{line}\n")
    assert error.value.number == 2


def test_a_break_is_no_longer_than_the_shift():
    with pytest.raises(LogError, match="longer than the shift"):
        read_log("2026-03-02 09:00-10:00 61 office")


def test_weeks_are_the_calendars():
    log = "2025-12-29 09:00-17:00 0 a\n2026-01-04 10:00-12:00 0 b\n2026-01-05 10:00-11:00 0 c\n"
    assert weekly(read_log(log)) == {"2026-W01": timedelta(hours=10), "2026-W02": timedelta(hours=1)}


def test_hours_are_shown_with_minutes():
    assert hours(timedelta(hours=31, minutes=5)) == "31:05"
