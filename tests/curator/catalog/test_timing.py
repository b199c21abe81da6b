"""The time of a reply says nothing about the rows; ten thousand pairs by `python -m tests.curator.catalog.timing 10000`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.curator.catalog.timing import auc, catalog_in, seconds


@pytest.mark.long
def test_nobody_tells_30_rows_from_3000_by_the_time_of_a_reply(tmp_path: Path) -> None:
    with catalog_in(tmp_path) as catalog:
        seconds(catalog, 16, epsilon=2)
        few, many, refused = seconds(catalog, 400)
    assert refused == 0
    assert abs(auc(few, many) - 0.5) < 0.08  # four times what chance does with so few pairs


def test_a_time_that_tells_is_noticed() -> None:
    assert auc([1.0, 2.0, 3.0], [4.0, 5.0]) == 1
    assert auc([1.0, 2.0], [1.0, 2.0]) == 0.5
