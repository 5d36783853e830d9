from datetime import date, timedelta

import pytest

from shiftlog import LogError, read_log, weekly


def test_a_shift_over_midnight_ends_on_the_next_day():
    (shift,) = read_log("2026-03-04 22:00-06:00 45 night round")
    assert (shift.day, shift.worked) == (date(2026, 3, 4), timedelta(hours=7, minutes=15))


def test_an_end_at_midnight_is_the_end_of_the_day():
    (shift,) = read_log("2026-03-04 16:00-00:00 0 late")
    assert shift.worked == timedelta(hours=8)


def test_the_same_time_twice_is_a_whole_day():
    (shift,) = read_log("2026-03-04 08:00-08:00 60 on call")
    assert shift.worked == timedelta(hours=23)


def test_a_night_belongs_to_the_week_of_its_day():
    log = "2026-03-08 22:00-06:00 0 sunday\n2026-12-31 20:00-04:00 0 last of the year\n"
    assert weekly(read_log(log)) == {"2026-W10": timedelta(hours=8), "2026-W53": timedelta(hours=8)}


def test_a_break_is_no_longer_than_a_night():
    with pytest.raises(LogError, match="longer than the shift"):
        read_log("2026-03-04 22:00-02:00 241 night")
