"""TIME (PROTOCOL section 3): a date-time of RFC 3339 as Unix seconds."""
from __future__ import annotations

import datetime
import re
from typing import Any

from .errors import Flaw

_YEARS_0_TO_9999 = range(-62_167_219_200, 253_402_300_800)  # Unix seconds
_FOUR_CENTURIES = 146_097  # days
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII)


def seconds(text: Any, name: str) -> int:
    """RFC 3339, to the second, of the years 0 to 9999 in UTC. A leap second counts as the second after it."""
    match = _TIME.fullmatch(text) if isinstance(text, str) else None
    if not match:
        raise Flaw(f"{name} isn't a date-time of RFC 3339 with an offset")
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    sign, hours, minutes = match.group(7), int(match.group(8) or 0), int(match.group(9) or 0)
    if hour > 23 or minute > 59 or second > 60 or hours > 23 or minutes > 59:
        raise Flaw(f"{name} isn't a time of day")
    try:  # datetime begins with the year 1, and the calendar repeats after 400 years
        later = datetime.date(year or 400, month, day) - datetime.date(1970, 1, 1)
    except ValueError:
        raise Flaw(f"{name} isn't a date") from None
    days = later.days - (0 if year else _FOUR_CENTURIES)
    offset = (hours * 3600 + minutes * 60) * (-1 if sign == "-" else 1)
    found = days * 86_400 + hour * 3600 + minute * 60 + second - offset
    if found not in _YEARS_0_TO_9999:
        raise Flaw(f"{name} isn't of the years 0000 to 9999 in UTC")
    return found


def time_text(at: int) -> str:
    return datetime.datetime.fromtimestamp(at, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
