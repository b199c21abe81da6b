"""Synthetic rows of odd tables: a fixed part of what `fuzz` draws. Nothing fails, and nothing warns."""

from __future__ import annotations

import numpy as np
import pytest

import dpstats as dp
from dpstats.testing import seeded
from tests.statistics.synthetic.fuzz import KINDS, run, use

BLOCKS = 5


@pytest.mark.floors
@pytest.mark.parametrize("block", range(BLOCKS))
def test_no_odd_table_ends_in_an_error(block: int) -> None:
    for seed in range(block, 60, BLOCKS):
        assert run(seed) in ("answered", "refused")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_column_can_be_used_beside_itself(kind: str) -> None:
    chance = np.random.default_rng(1)
    column = KINDS[kind](60, chance)
    words = {"levels": {"x": ["v1"], "y": ["v1"]}} if column.dtype == object else {}
    reply = dp.synthesize({"x": column, "y": column}, epsilon=8, rng=seeded(1), **words)
    assert isinstance(reply, dp.Release)
    use(reply.value, chance)
