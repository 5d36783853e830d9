"""Whole cents."""

from __future__ import annotations


def share(cents: int, per_mille: int) -> int:
    """So many thousandths of an amount, rounded to the nearest cent, half a cent to the even one."""
    whole, rest = divmod(cents * per_mille, 1000)
    if rest > 500 or (rest == 500 and whole % 2 == 1):
        whole += 1
    return whole


def shown(cents: int) -> str:
    """``12.05`` or ``-0.30``."""
    sign, cents = ("-", -cents) if cents < 0 else ("", cents)
    return f"{sign}{cents // 100}.{cents % 100:02}"
