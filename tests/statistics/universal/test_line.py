"""The line as floats: masses, positions and weights miss the exact ones by no more than they say."""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.rounding import cumulative
from dpstats.mechanisms.exponential import QuickWeights, settled_index
from dpstats.statistics.universal.decimals import HIGHEST_ORDINAL, ordinal_of
from dpstats.statistics.universal.draw import CLIP, RankLoss, _piece_weights, draw_piece, quick_weights
from dpstats.statistics.universal.line import MASS_ERROR, PLACE_ERROR, UNIT_ROUNDOFF, CutLine, Stretch
from dpstats.statistics.universal.measure import FINE, MIXED, TOTAL, WHOLE, Measure
from dpstats.statistics.universal.order import COINS

ROUND = [ordinal_of(value) for value in (-1e300, -40, -39.99, -1, 0, 1e-9, 0.5, 9.99, 10, 11, 12.99, 100, 1e6, 1e300)]
points = st.one_of(st.sampled_from(ROUND), st.integers(-HIGHEST_ORDINAL, HIGHEST_ORDINAL), st.integers(ROUND[8], ROUND[8] + 50))
cells = st.dictionaries(st.tuples(points, st.integers(0, COINS - 1)), st.integers(1, 10**6), min_size=1, max_size=30)
slopes = st.sampled_from([Fraction(1, 10**9), Fraction(1, 1000), Fraction(1, 7), Fraction(3), Fraction(60)])


def some_cut(measure: Measure, rows: dict[tuple[int, int], int], with_coins: bool, stretched: random.Random) -> CutLine:
    """The line cut at rows, with a few stretches that start and end at cells, and anywhere."""
    pairs = sorted(rows if with_coins else {(point, 0): count for (point, _), count in rows.items()})
    ordinals, coins = (np.array(each, dtype=np.int64) for each in zip(*pairs, strict=True))
    raw_counts = np.array([rows.get(pair, 3) for pair in pairs], dtype=np.int64)
    factor = COINS if with_coins else 1
    marks = measure.marks(measure.offsets(ordinals), raw_counts, coins if with_coins else None, factor)
    edges = [marks.span(stretched.randrange(len(marks)))[side] for side in (0, 1)]
    edges += [stretched.randrange(TOTAL * factor), marks.span(0)[0] + 1]
    stretches = [Stretch(*sorted(stretched.choices(edges, k=2)), stretched.choice([1, 7, 10**40])) for _ in range(4)]
    low = stretched.choice([0, marks.span(0)[0]])
    high = stretched.choice([TOTAL * factor, marks.span(len(marks) - 1)[1]])
    cut = CutLine(low, high, marks, 17, hidden_below=stretched.random() < 0.5, hidden_above=stretched.random() < 0.5)
    return cut.boosted(stretches)


@given(st.sampled_from([MIXED, WHOLE, FINE]), cells, st.booleans(), st.randoms(use_true_random=False))
def test_pieces_tile_the_line_and_every_mass_is_within_its_error(
    measure: Measure, rows: dict[tuple[int, int], int], with_coins: bool, chooser: random.Random
) -> None:
    cut = some_cut(measure, rows, with_coins, chooser)
    pieces = list(cut)
    for before, after in pairwise(pieces[: len(cut.masses)]):
        assert before.start + before.length == after.start
    for piece, mass in zip(pieces, [*cut.masses.tolist(), *cut.boosted_masses.tolist()], strict=True):
        exact = piece.length * piece.boost
        assert abs(Fraction(mass) - exact) <= exact * Fraction(MASS_ERROR)


@given(cells, st.booleans(), st.randoms(use_true_random=False), st.integers(-(10**6), 10**7), slopes, slopes)
def test_every_weight_is_within_its_error_and_a_settled_index_is_the_exact_one(
    rows: dict[tuple[int, int], int], with_coins: bool, chooser: random.Random, target: int, over: Fraction, under: Fraction
) -> None:
    cut = some_cut(MIXED, rows, with_coins, chooser)
    loss = RankLoss(target + Fraction(chooser.randrange(8), 8), over, under, chooser.choice([Fraction(14), CLIP]))
    quick = quick_weights(cut, loss)
    lows, highs = _piece_weights(cut, loss)(256)
    for weight, low, high in zip(quick.weights.tolist(), lows, highs, strict=True):
        scaled = Fraction(weight) * 2**256
        assert low * (1 - Fraction(quick.error)) <= scaled <= high * (1 + Fraction(quick.error))
    ends = cumulative(lows)
    for word in [0, 2**64 - 1, *(chooser.getrandbits(64) for _ in range(20)), *((end << 64) // ends[-1] for end in ends[:-1])]:
        index = settled_index(quick, word)
        if index is not None:
            assert index == bisect_left(ends, -(-((word + 1) * ends[-1]) >> 64)) == bisect_left(ends, (word * ends[-1] >> 64) + 1)


@pytest.mark.parametrize("measure", [MIXED, FINE])
def test_positions_find_their_pieces_however_close_the_marks_are(measure: Measure) -> None:
    near = np.arange(ROUND[8] - 40, ROUND[8] + 40)
    marks = measure.marks(measure.offsets(np.repeat(near, 2)), np.ones(160, dtype=np.int64), np.tile([0, COINS - 1], 80), COINS)
    for floats, side in ((marks.starts, 0), (marks.ends, 1)):
        missed = [abs(float(marks.span(index)[side] - int(place))) for index, place in enumerate(floats.tolist())]
        assert max(missed) <= TOTAL * COINS * PLACE_ERROR / 2 == marks.doubt / 2
    spans = [marks.span(index) for index in range(len(marks))]
    places = [edge + step for span in spans for edge in span for step in (-1, 0, 1)]
    found = marks.pieces_at(places)
    assert found == [sum((start <= place) + (end <= place) for start, end in spans) for place in places]


class Words:
    """A source that gives one word of 128 bits, and then zeros."""

    private = False

    def __init__(self, word: int) -> None:
        self._octets = word.to_bytes(16, "big")

    def octets(self, count: int) -> bytes:
        """The next octets."""
        given, self._octets = self._octets[:count], self._octets[count:]
        return given + bytes(count - len(given))


def without_doubt(quick: QuickWeights, word: int) -> int:
    """The broken twin: the index that floats show, whether or not they can tell."""
    ends = np.cumsum(quick.weights)
    return int(np.searchsorted(ends, math.ldexp(word, -64) * float(ends[-1]), side="right"))


def test_a_word_beside_a_boundary_is_in_doubt_and_drawn_exactly_where_a_draw_without_doubt_is_wrong() -> None:
    rows = {(point, coin): 1 for point in ROUND[4:] for coin in (5, 60_000)}
    cut = some_cut(MIXED, rows, True, random.Random(1))
    loss = RankLoss(Fraction(25), Fraction(1, 9), Fraction(1, 9))
    quick = quick_weights(cut, loss)
    ends = cumulative(_piece_weights(cut, loss)(512)[0])
    wrong = 0
    for end in filter(None, ends[:-1]):
        boundary = (end << 128) // ends[-1]
        for word in (boundary - 1, boundary + 1):
            exact = bisect_left(ends, (word * ends[-1] >> 128) + 1)
            rng: RandomSource = Words(word)
            assert settled_index(quick, word >> 64) in (None, exact)
            assert cut[exact].start <= draw_piece(cut, loss, rng)[1] < cut[exact].start + cut[exact].length
            wrong += without_doubt(quick, word >> 64) != exact
    assert wrong > len(ends) // 4


def test_doubt_is_rare() -> None:
    quick = QuickWeights(np.ones(10_000), 30 * UNIT_ROUNDOFF)
    chooser = random.Random(4)
    assert all(settled_index(quick, chooser.getrandbits(64)) is not None for _ in range(2000))
