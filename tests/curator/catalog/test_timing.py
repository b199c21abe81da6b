"""The measure of what the time of a reply tells about rows. Times themselves are taken by their own command, because load moves
them: `python -m tests.curator.catalog.timing 10000`.
"""

from __future__ import annotations

from tests.curator.catalog.timing import auc


def test_a_time_that_tells_is_noticed() -> None:
    assert auc([1.0, 2.0, 3.0], [4.0, 5.0]) == 1
    assert auc([1.0, 2.0], [1.0, 2.0]) == 0.5
