"""Names of columns that look like values: a CSV file without a header has a person in its first line."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"[+-]?[\d.,' ]*\d[\d.,' ]*(e[+-]?\d+)?%?", re.IGNORECASE)
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*")
_LONGEST = 60


def looks_like_a_value(name: str) -> bool:
    """Whether a name is a number, a date or an address of mail, or is much longer than names are."""
    text = name.strip()
    return not text or "@" in text or len(text) > _LONGEST or bool(_NUMBER.fullmatch(text) or _DATE.fullmatch(text))


def suspicious(names: Iterable[str]) -> list[str]:
    """The names that look like values."""
    return [name for name in names if looks_like_a_value(name)]
