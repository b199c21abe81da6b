"""The support of a column of numbers: the stretch, or the few values, in which released counts show rows.

Codes are found by looks, which keep the codes that seem to hold rows. The largest noise of some hundred codes seems to be rows as
well, and it may lie anywhere, up to 1e300. So codes are judged by the counts that were drawn after they had been chosen. Values
are drawn no farther beyond the rows that these show beyond doubt than a public multiple of how far such rows lie apart; and in a
column nearly all of whose rows have one of a few values, no others are drawn. All of it is arithmetic on released numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.coded.budget import LaplaceLaw, NoiseLaw, NoisyTable
from dpstats.statistics.synthetic.fine_codes import LARGEST, SURELY_THERE, THERE, FineColumn, number_column, on_grain

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DOUBT = 10.5
"""Minus the logarithm of a bound on how likely the noise of empty codes is taken for rows: it is 2e-6 for a single code. A column
has some forty codes to be judged, so that this happens in about one column of 10,000. With 13 more of real tails is lost."""
DOUBT_BETWEEN = 8.0
"""The same where something else must show rows too, such as earlier counts, or all rows together: 3e-5."""
HALF = 0.5
"""The part of the rows in the middle of a column, by which it is told how far out a code lies."""
BEYOND = 2
"""How far a code with hardly more rows than noise may lie beyond rows that are there beyond doubt, in distances of these from the
other end of the middle. With 1 the tails of normal columns are cut."""
MOSTLY = 0.75
"""The part of the rows that single values hold in a column of few values. Less than is sure of a flag of which one value is rare:
with few rows a twentieth of them may be noise. More where values are heaps in a column of many others."""
FEW, LEFT = 3, 0.02
"""Up to this many values the rows without one of them may be as many as noise can make them; with more values this part of all
rows. The noise of many values adds up: by the first rule the rare values of a scale of 16 were lost, with 8% of the rows."""
REST = 2.5
"""Standard deviations of noise from which on rows without one of the sure values ask for one more value."""
PARTNER = 2.0
"""Standard deviations from which on a one is there beside sure zeros, or a zero beside sure ones: of rare ones few are sure."""


def supported(fine: FineColumn, fresh: NoisyTable, pooled: NoisyTable, rows: float) -> tuple[FineColumn, NoisyTable]:
    """A column of numbers with its pooled counts, held to where `fresh` counts, drawn after its codes were chosen, show rows.

    `rows` is about how many rows the table has.
    """
    few = _few_codes(fine, fresh, pooled, rows)
    if few:
        others = tuple(code for code in range(fine.missing) if code not in few)
        return replace(fine, empty=others), pooled
    return _cut(fine, pooled, _reach(fine, fresh, rows))


def sure_count(law: NoiseLaw, codes: int, doubt: float) -> float:
    """About the most that the noise of some codes adds up to, but for a probability of exp(-doubt)."""
    if isinstance(law, LaplaceLaw):
        return law.scale * math.sqrt(doubt * doubt + 4.0 * codes * doubt)
    return math.sqrt(2.0 * law.variance * codes * doubt)


def _few_codes(fine: FineColumn, fresh: NoisyTable, pooled: NoisyTable, rows: float) -> list[int]:
    """The codes of a column nearly all of whose rows have one of a few values, where hardly any row can lie in another code.

    They are those of single values, and wider ones that hold rows beyond doubt, which are fewer; none in other columns.
    """
    counts = fresh.noisy_counts.tolist()
    deviation, later = math.sqrt(pooled.law.variance), math.sqrt(fresh.law.variance)
    inner = range(1, fine.missing - 1)  # the outer codes have no end
    singles = [code for code, span in enumerate(fine.spans()) if code in inner and fine.is_single(*span)]
    values = [code for code in singles if counts[code] > sure_count(fresh.law, 1, DOUBT)]
    least = [sure_count(table.law, 1, DOUBT_BETWEEN) for table in (fresh, pooled)]
    wide = [
        code
        for code in range(fine.missing)
        if code not in singles and counts[code] > least[0] and pooled.noisy_counts[code] > least[1]
    ]
    if len(wide) >= len(values):
        return []
    others = sorted((-int(pooled.noisy_counts[code]), code) for code in singles if code not in values)
    missing = float(pooled.noisy_counts[-1])
    present = rows - (missing if missing > SURELY_THERE * deviation else 0.0)

    def rest() -> float:
        return present - math.fsum(counts[code] for code in (*values, *wide))

    partners = {Fraction(0), Fraction(1)}
    for count, code in others:
        starts = {fine.spans()[each][0] for each in (*values, code)}
        if len(values) == 1 and starts == partners and -count > PARTNER * deviation:
            values.append(code)
    for count, code in others:
        if rest() <= REST * later * math.sqrt(len(values)) or -count <= least[1]:
            break
        values += [code] * (code not in values)
    mostly = math.fsum(counts[code] for code in values) >= MOSTLY * present
    if any(not min(values) < code < max(values) for code in wide):
        return []  # how far it goes is not known: such a column is cut
    few = [*values, *wide]
    most = sure_count(fresh.law, len(few), DOUBT) if len(few) <= FEW else LEFT * present
    return sorted(few) if mostly and rest() <= most else []


@dataclass(frozen=True)
class _Reach:
    """The middle of a column, and the inner ends of the outermost codes that hold rows beyond doubt."""

    low: Fraction
    high: Fraction
    lowest: Fraction
    highest: Fraction

    def below(self, end: Fraction) -> Fraction:
        """As far below an inner end as this lies from the upper end of the middle."""
        return end - (self.high - end)

    def above(self, end: Fraction) -> Fraction:
        """The same above it."""
        return end + (end - self.low)


def _reach(fine: FineColumn, fresh: NoisyTable, rows: float) -> _Reach:
    """Where rows are beyond doubt."""
    spans, counts = fine.spans(), fresh.noisy_counts[:-1].astype(np.float64)
    single = sure_count(fresh.law, 1, DOUBT)
    lowest, highest = low, high = _middle(fine, counts, fresh.law, rows)
    sums, sums_from_above = np.add.accumulate(counts), np.add.accumulate(counts[::-1])[::-1]
    for code, span in enumerate(spans):
        alone = counts[code] > single
        exact = alone and fine.is_single(*span)
        if alone or sums[code] > sure_count(fresh.law, code + 1, DOUBT):
            lowest = min(lowest, span[0] if exact else span[1])
        if alone or sums_from_above[code] > sure_count(fresh.law, len(spans) - code, DOUBT):
            highest = max(highest, span[0])
    return _Reach(low, high, lowest, highest)


def _middle(fine: FineColumn, counts: Floats, law: NoiseLaw, rows: float) -> tuple[Fraction, Fraction]:
    """The narrowest run of codes that holds half of the rows, apart from those of single values of many rows.

    Narrow runs do not lie far out, where codes are wide. Where several such values hold half of all rows, or no run of other
    codes surely holds rows, it goes from the first of the values to the last: the few rows of a column of counts that
    have none of its frequent values do not tell noise from rows.
    """
    spans = fine.spans()
    alone = np.array([fine.is_single(*span) for span in spans])
    often = np.flatnonzero(alone & (counts > sure_count(law, 1, DOUBT)))
    rest = rows - math.fsum(counts[often].tolist())
    values = (spans[int(often[0])][0], spans[int(often[-1])][0]) if often.size else None
    if values and (rest <= sure_count(law, int(often.size), DOUBT) or (often.size > 1 and rest <= (1 - HALF) * rows)):
        return values
    others = counts.copy()
    others[often] = 0.0
    ends = np.append(0.0, np.add.accumulate(others))
    places = np.arange(len(spans))
    sums = np.where(places[None, :] >= places[:, None], ends[None, 1:] - ends[:-1, None], -np.inf)
    lows, highs = np.array([float(low) for low, _ in spans]), np.array([float(high) for _, high in spans])
    widths = highs[None, :] - lows[:, None]
    enough = sums >= min(HALF * rest, float(np.maximum.reduce(sums, axis=None)))
    if values:
        needed = np.array([0.0, *(sure_count(law, codes, DOUBT_BETWEEN) for codes in range(1, len(spans) + 1))])
        enough &= sums > needed[np.maximum(places[None, :] - places[:, None] + 1, 0)]
        if not enough.any():
            return values
    widths[~enough] = np.inf
    first, last = divmod(int(np.argmin(widths)), len(spans))
    (low, inner), (outer, high) = spans[first], spans[last]
    if first == last:
        return low, high
    return max(low, inner - (high - inner)), min(high, outer + (outer - low))


def _cut(fine: FineColumn, pooled: NoisyTable, reach: _Reach) -> tuple[FineColumn, NoisyTable]:
    """The column with codes as far as its rows reach, and an empty one beyond either end, with their counts.

    The outermost of these codes are cut off as far beyond their inner end as the column reaches on this side of it.
    """
    spans = fine.spans()
    lowest = _on_column(fine, reach.lowest - BEYOND * (reach.high - reach.lowest))
    highest = _on_column(fine, reach.highest + BEYOND * (reach.highest - reach.low))
    inside = [
        code
        for code, (low, high) in enumerate(spans)
        if (high > lowest or high == lowest == reach.lowest) and (low < highest or low == highest == reach.highest)
    ]
    counts = pooled.noisy_counts[:-1].astype(np.int64)
    first, end = _with_rows(counts[inside], math.sqrt(pooled.law.variance))
    kept = inside[first:end]
    counts[kept[0]], counts[kept[-1]] = counts[inside[: first + 1]].sum(), counts[inside[end - 1 :]].sum()
    (low, inner), (outer, high) = spans[kept[0]], spans[kept[-1]]
    alone = [fine.is_single(*spans[code]) for code in (kept[0], kept[-1])]
    edges = [spans[code][0] for code in kept] + [high]
    if not alone[0]:
        edges[0] = _on_column(fine, max(low, lowest, reach.below(min(inner, reach.lowest))))
    if not alone[1]:
        edges[-1] = _on_column(fine, min(high, highest, reach.above(max(outer, reach.highest))))
    cut = number_column(fine.name, edges, fine.grain, whole=fine.whole)
    if len(cut.edges) != len(edges) or edges != sorted(
        edges
    ):  # too near to each other for decimals of 15 digits: no code is cut, the others stay empty
        certain = [code for code, single in ((kept[0], alone[0]), (kept[-1], alone[1])) if single]
        held = {*kept[1:-1], *certain} or set(kept)
        return replace(fine, empty=tuple(code for code in range(fine.missing) if code not in held)), pooled
    noisy_counts = np.array([0, *counts[kept].tolist(), 0, pooled.noisy_counts[-1]], dtype=np.int64)
    return replace(cut, empty=(0, cut.missing - 1)), NoisyTable(noisy_counts, pooled.law)


def _with_rows(counts: Integers, deviation: float) -> tuple[int, int]:
    """The first code that, with all before it, has more rows than noise gives, and the end of the last one, with all after it."""
    first, end = 0, counts.size
    for line, is_first in ((counts, True), (counts[::-1], False)):
        sums = np.add.accumulate(line)
        there = np.flatnonzero(sums > THERE * deviation * np.sqrt(np.arange(1.0, line.size + 1)))
        if there.size and is_first:
            first = int(there[0])
        elif there.size:
            end = counts.size - int(there[0])
    return (first, end) if first < end else (0, counts.size)


def _on_column(fine: FineColumn, value: Fraction) -> Fraction:
    """The next decimal, or multiple of the grain, from a value on."""
    return on_grain(max(-LARGEST, min(value, LARGEST)), fine.grain)
