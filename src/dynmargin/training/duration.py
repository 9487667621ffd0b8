"""Durations as people say them."""

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


def in_words(seconds: float) -> str:
    """Write a duration with the unit that leaves few digits: 97 s, 25 min, 3.5 h, 2.6 days."""
    if seconds < 2 * MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 2 * HOUR:
        return f"{seconds / MINUTE:.0f} min"
    if seconds < 2 * DAY:
        return f"{seconds / HOUR:.1f} h"
    return f"{seconds / DAY:.1f} days" if seconds < 10 * DAY else f"{seconds / DAY:.0f} days"
