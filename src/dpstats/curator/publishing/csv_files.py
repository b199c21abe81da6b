"""CSV files that programs read back as they were, and that no spreadsheet takes for formulas.

A spreadsheet computes a cell that begins with =, +, - or @, whoever wrote it, and labels may come from anybody. So a text that
begins so, after any apostrophes and blanks, gets one apostrophe in front; one that reads as a number, such as -3.5, stays as it
is. To read back, take one apostrophe off every text that begins with apostrophes and then one of these signs: nothing else is
written so. Numbers are never changed.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from dpstats.foundations.results import plain_value

_FORMULA = re.compile("'*(?:\\s*[=+\\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])")
"""How texts begin that a spreadsheet computes, some of them after dropping a control sign; the wide signs are East Asian."""
_NEEDS_QUOTES = re.compile(r'[,"\r\n]')
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
EMPTY_LINE = '""'
"""A single empty cell: readers pass over lines without any sign."""


def csv_bytes(heads: Sequence[str], lines: Iterable[Sequence[Any]]) -> bytes:
    """Lines as the text of a CSV file; a value that is missing is an empty cell."""
    every = ([_cell(value) for value in line] for line in itertools.chain([heads], lines))
    return "".join(f"{','.join(cells) or EMPTY_LINE}\n" for cells in every).encode()


def _cell(value: Any) -> str:
    """A value as a cell, in quotes where it holds a sign that ends cells or lines; csv.writer leaves a lone CR without."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, (dict, list, tuple)):
        value = json.dumps(plain_value(value), ensure_ascii=False)
    text = _safe_text(value) if isinstance(value, str) else str(value)
    return '"{}"'.format(text.replace('"', '""')) if _NEEDS_QUOTES.search(text) else text


def _safe_text(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
