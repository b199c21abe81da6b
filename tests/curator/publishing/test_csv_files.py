"""CSV files: no cell is a formula, and what was written can be read back."""

from __future__ import annotations

import csv
import io
import re

from hypothesis import example, given
from hypothesis import strategies as st

from dpstats.curator.publishing.csv_files import csv_bytes

SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20\t\r\n"


def written(*texts: str) -> list[str]:
    return next(csv.reader(io.StringIO(csv_bytes(texts, []).decode(), newline="")))


def read_back(cell: str) -> str:
    """As docs/publishing.md says."""
    return re.sub(rf"^'(?='*\s*[{SIGNS}])", "", cell)


@given(st.text(alphabet=f"{SIGNS}' ,\"A1.;\n", max_size=6))
@example("=HYPERLINK(1)")
@example("'=1")
@example("-5 to 4")
@example(" =1")
def test_no_text_is_a_formula_and_all_are_read_back(text: str) -> None:
    (cell,) = written(text)
    assert not re.match(rf"\s*[{SIGNS}]", cell) or re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", cell)
    assert read_back(cell) == text


def test_numbers_stay_numbers() -> None:
    cells = csv_bytes(["-3.5", "+1e-9"], [[-3.5, -1], [float("nan"), None]]).decode().splitlines()
    assert cells == ["-3.5,+1e-9", "-3.5,-1", ","]
