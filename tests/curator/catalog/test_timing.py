"""The time of a reply says nothing about the rows; ten thousand pairs by `python -m tests.curator.catalog.timing 10000`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.curator.catalog.timing import FILTERS, ONE_ROW_MORE, Asked, auc, catalog_in, seconds


@pytest.mark.long
@pytest.mark.parametrize("kinds", [FILTERS, ONE_ROW_MORE], ids=["30 against 3,000 rows", "one row more"])
def test_nobody_tells_rows_by_the_time_of_a_reply(kinds: tuple[Asked, Asked], tmp_path: Path) -> None:
    with catalog_in(tmp_path) as catalog:
        seconds(catalog, kinds, 32, epsilon=2)
        first, second, refused = seconds(catalog, kinds, 400)
    assert refused == 0
    assert abs(auc(first, second) - 0.5) < 0.08  # four times what chance does with so few pairs


def test_a_time_that_tells_is_noticed() -> None:
    assert auc([1.0, 2.0, 3.0], [4.0, 5.0]) == 1
    assert auc([1.0, 2.0], [1.0, 2.0]) == 0.5
