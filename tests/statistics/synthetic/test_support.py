"""The support of columns: values lie where counts show rows, and a column of few values holds these."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpstats as dp
from dpstats.statistics.coded.budget import GaussianLaw, LaplaceLaw, NoisyTable
from dpstats.statistics.synthetic.columns import MeasuredColumn
from dpstats.statistics.synthetic.decoding import decoded
from dpstats.statistics.synthetic.fine_codes import FineColumn, number_column
from dpstats.statistics.synthetic.support import supported, sure_count
from dpstats.testing import seeded

FLAG = tuple(Fraction(edge) for edge in (0, 1, 2, 3))


def ordinary(seed: int, rows: int = 4000) -> dict[str, np.ndarray]:
    """Columns without anything odd, of decimals and of whole numbers."""
    generator = np.random.default_rng(seed)
    return {
        "age": generator.integers(18, 80, rows).astype(float),
        "flag": (generator.random(rows) < 0.5).astype(float),
        "rare": (generator.random(rows) < 0.04).astype(int),
        "code": generator.choice([1.0, 2.0], rows),
        "income": np.exp(generator.normal(3.4, 0.6, rows)).round(3),
        "wealth": (generator.standard_t(3, rows) * 20 + 10).round(1),
        "children": generator.poisson(1.2, rows).astype(float),
        "year": generator.integers(1950, 2005, rows),
    }


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_no_value_is_absurd_and_flags_hold_their_two_values(delta: float) -> None:
    for seed in range(1, 5):
        table = ordinary(seed)
        release = dp.synthesize(table, epsilon=1, delta=delta, rng=seeded(seed))
        assert isinstance(release, dp.Release)
        for name, truth in table.items():
            values = release.value.values[name]
            low, high = truth.min(), truth.max()
            assert low - 2 * (high - low) <= values.min()
            assert values.max() <= high + 2 * (high - low)
            if name in ("flag", "rare", "code"):
                assert set(np.unique(values)) <= set(np.unique(truth))


def column(counts: list[int], edges: tuple[Fraction, ...] = FLAG, *, whole: bool = True) -> MeasuredColumn:
    """A column whose codes hold these counts, none of which had a say in the codes, with noise of a standard deviation of 10."""
    fine = number_column("x", edges, Fraction(int(whole)), whole=whole)
    noisy = NoisyTable(np.array(counts), GaussianLaw(100.0))
    return MeasuredColumn.of(*supported(fine, noisy, noisy, float(sum(counts))), float(sum(counts)))


def drawn(measured: MeasuredColumn) -> list[float]:
    """The values that may be drawn in a column, one for each code."""
    codes = np.flatnonzero(measured.drawable)
    return decoded(measured.fine, codes, seeded(1)).tolist()


def test_a_flag_has_no_third_value_although_noise_shows_some_rows_of_it() -> None:
    assert drawn(column([30, 700, 600, -25, 28, 0])) == [0, 1]


def test_a_rare_one_beside_sure_zeros_stays() -> None:
    assert drawn(column([3, 1900, 35, 2, -4, 0])) == [0, 1]
    assert drawn(column([3, 1900, 3, 2, -4, 0])) == [0]


def test_rows_beyond_doubt_between_few_values_are_kept() -> None:
    measured = column([0, 700, 150, 600, 0, 0], tuple(Fraction(edge) for edge in (0, 1, 9, 10)))
    assert measured.counts[2] == pytest.approx(150)


def test_a_far_code_needs_rows_beyond_doubt() -> None:
    edges = tuple(Fraction(edge) for edge in (-(10**30), 10, 20, 30, 40, 50, 60, 70, 10**9, 10**30))
    body = [150, 200, 250, 300, 200, 150]
    cut = column([0, 20, *body, 0, 25, 0, 0], edges, whole=False)
    values = decoded(cut.fine, np.flatnonzero(cut.counts > 0), seeded(1))
    assert values.min() >= -60
    assert values.max() <= 150
    kept = column([0, 20, *body, 0, 500, 0, 0], edges, whole=False)
    assert decoded(kept.fine, np.flatnonzero(kept.counts > 0), seeded(1)).max() >= 1e9


@pytest.mark.parametrize("law", [LaplaceLaw(20.0), GaussianLaw(400.0)])
def test_noise_of_empty_codes_hardly_ever_seems_beyond_doubt(law: LaplaceLaw | GaussianLaw) -> None:
    generator = np.random.default_rng(1)
    for codes in (1, 4):
        noise = (
            generator.laplace(0, 20, (100_000, codes))
            if isinstance(law, LaplaceLaw)
            else generator.normal(0, 20, (100_000, codes))
        )
        assert (noise.sum(axis=1) > sure_count(law, codes, 5.0)).mean() < np.exp(-5.0)


def test_empty_codes_are_kept_in_plain_values() -> None:
    fine = column([30, 700, 600, -25, 28, 0]).fine
    assert fine.empty
    assert FineColumn.from_dict(fine.to_dict()) == fine


def test_rows_beyond_few_values_lie_near_them_although_their_code_goes_far() -> None:
    edges = tuple(Fraction(edge) for edge in (0, 1, 2, 3, 10**18))
    values = drawn(column([0, 1200, 1300, 900, 190, 0, 0], edges))
    assert values[:3] == [0, 1, 2]
    assert max(values) <= 6


def test_a_cut_that_rounds_to_the_edge_before_it_takes_the_far_code_away() -> None:
    edges = (*(Fraction(edge) for edge in (10, 20)), Fraction("40.0000000000001"), Fraction(100), Fraction(2 * 10**18))
    measured = column([5, 300, 300, 120, 30, 0, 0], edges, whole=False)
    assert decoded(measured.fine, np.flatnonzero(measured.counts > 0), seeded(1)).max() <= 200
