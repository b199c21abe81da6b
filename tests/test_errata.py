"""Every entry of docs/errata.md, reproduced: what is printed fails (or is loose), and what is put in its place holds.

One test for each entry, named after it, in one file, so that page and tests can be compared.
"""

from __future__ import annotations

import inspect
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpstats.statistics.propose_test_release.distances import Rows, steps_to_leave_bin, steps_to_leave_range
from dpstats.statistics.propose_test_release.ranks import BEYOND, interquantile_ranks
from tests.laws.mechanisms import noisy_max_law
from tests.laws.printed import NO_REPLY, fail_probability, pass_probability, reply_law, runner_up_wins, some_pass
from tests.laws.universes import database_law, marginal_queries
from tests.privacy_loss.exact import hockey_stick, largest_log_ratio
from tests.small_graphs import Edges, all_graphs, degrees, toggled, without_node
from tests.twins.universes import stated_rows_law

PAGE = (Path(__file__).parents[1] / "docs" / "errata.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([a-z0-9-]+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
HAIR = 1e-12  # what floats may add


def page_says(slug: str, numbers: str) -> None:
    """The line of numbers in this entry is what was just computed."""
    assert re.findall(r"^- \*Numbers\.\* (.*)$", SECTIONS[slug], re.MULTILINE) == [numbers]


def ranked(table: Iterable[int]) -> Rows:
    rows = sorted(table)
    return lambda rank: -BEYOND if rank < 1 else BEYOND if rank > len(rows) else rows[rank - 1]


def leave_range(table: Sequence[int], ranks: tuple[int, int], least: int, beyond: int) -> int:
    return steps_to_leave_range(ranked(table), *ranks, least, beyond, len(table) + 1)


def spread(table: Sequence[int], ranks: tuple[int, int]) -> int:
    at = ranked(table)
    return at(ranks[1]) - at(ranks[0])


def binary_bin(width: int) -> tuple[int, int]:
    """The bin [2**k, 2**(k+1)) of a whole width; 0 has its own."""
    return (0, 1) if not width else (1 << width.bit_length() - 1, 1 << width.bit_length())


def changed_rows(table: Sequence[int], values: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for place, value in itertools.product(range(len(table)), values):
        yield tuple(sorted((*table[:place], value, *table[place + 1 :])))


def negligible(n: float, epsilon: float) -> float:
    """n**(-epsilon ln n) / 2, the delta of one test in Dwork & Lei 2009."""
    return math.exp(-epsilon * math.log(n) ** 2) / 2


# The page itself


def test_the_page_and_the_tests_list_the_same_entries() -> None:
    tested = {name.removeprefix("test_").replace("_", "-") for name in globals() if name.startswith("test_")}
    entries = {slug for slug in tested if not slug.startswith("the-page")}
    assert entries == set(SECTIONS)
    assert re.findall(r"^\| \[([a-z0-9-]+)\]\(#\1\) \|", PAGE, re.MULTILINE) == list(SECTIONS)


@pytest.mark.parametrize("slug", SECTIONS)
def test_the_page_gives_each_entry_its_parts(slug: str) -> None:
    section, name = SECTIONS[slug], f"test_{slug.replace('-', '_')}"
    assert f"`{name}`" in section
    assert re.search(rf'page_says\(\s*"{slug}"', inspect.getsource(globals()[name]))  # so its numbers are compared
    for part in ("Printed", "Numbers", "Instead", "Test"):
        assert len(re.findall(rf"^- \*{part}\.\* ", section, re.MULTILINE)) == 1
    verdict = re.search(rf"^\| \[{slug}\]\(#{slug}\) \| [^|]+ \| ([a-z]+) \|", PAGE, re.MULTILINE)
    assert verdict is not None
    assert verdict[1] in {"false", "loose", "misprint", "ambiguous"}
    assert f" Verdict: {verdict[1]}" in section


# Scale


def test_scale_threshold() -> None:
    epsilon, delta = 0.1, 1e-6
    zero, one, ranks = [0] * 6 + [1] * 2, [0] * 5 + [1] * 3, (2, 6)
    assert (spread(zero, ranks), spread(one, ranks)) == (0, 1)
    assert leave_range(zero, ranks, 0, 1) == leave_range(one, ranks, 1, 2) == 1  # the same in the shifted bins

    def laws(threshold: float) -> tuple[dict[str, float], dict[str, float]]:
        reply = some_pass([pass_probability(1, threshold, epsilon)] * 2)
        return {"zero": reply, NO_REPLY: 1 - reply}, {"positive": reply, NO_REPLY: 1 - reply}

    printed, corrected = laws(1 - math.log(delta)), laws(1 - math.log(delta) / epsilon)
    assert printed[0]["zero"] == pytest.approx(1 - (1 - delta**epsilon / 2) ** 2)
    assert hockey_stick(*printed, 4 * epsilon) > 200_000 * delta
    assert hockey_stick(*corrected, 2 * epsilon) <= delta
    page_says(
        "scale-threshold", f"P(0 | D) = {printed[0]['zero']:.4f} as printed, {corrected[0]['zero']:.3e} corrected; P(0 | D') = 0."
    )


def test_scale_bins() -> None:
    table, ranks = [0, 0, 0, 100, 100, 100, 170, 170], (2, 6)  # hundredths: the range is 1, its binary logarithm 0
    factor = 2 ** math.log(2)
    printed = leave_range(table, ranks, 100, math.ceil(100 * factor))
    meant = leave_range(table, ranks, 100, 200)
    assert printed < meant
    page_says(
        "scale-bins",
        f"bins of log2 as printed span a factor {factor:.4f}; on the table above A_0 = {printed} instead of {meant}.",
    )


def test_same_bin() -> None:
    values, ranks = (-BEYOND, 0, 1, 4, 6, 7, BEYOND), (3, 7)
    deep = leaving = 0
    for table in itertools.combinations_with_replacement(values[1:-1], 9):
        home = binary_bin(spread(table, ranks))
        if leave_range(table, ranks, *home) >= 2:
            deep += 1
            leaving += sum(not home[0] <= spread(other, ranks) < home[1] for other in changed_rows(table, values))
    assert deep > 50
    assert leaving == 0
    epsilon, delta = 1.0, 1e-3  # the bin itself, without noise: A_0 = 1 on both sides of an edge, or the same bin
    threshold = 1 + math.log(1 / (2 * delta)) / epsilon
    for distance, other in itertools.product(range(1, 30), repeat=2):
        if abs(distance - other) <= 1:
            reply, other_reply = (pass_probability(steps, threshold, epsilon) for steps in (distance, other))
            other_bin = "another bin" if distance == other == 1 else "bin"
            laws = {"bin": reply, NO_REPLY: 1 - reply}, {other_bin: other_reply, NO_REPLY: 1 - other_reply}
            assert hockey_stick(*laws, epsilon) <= delta + HAIR
    page_says("same-bin", f"of {deep} small tables with A_0 >= 2, {leaving} have a neighbour in another bin.")


def test_scale_cascade() -> None:
    n, epsilon = 20, 0.5
    threshold = math.log(n) ** 2 + 1
    delta = some_pass([negligible(n, epsilon)] * 2)
    replied = refused = 0.0
    for first, second, up, right in itertools.product(range(1, 25), range(1, 25), (-1, 0, 1), (-1, 0, 1)):
        here, there = (first, second), (max(1, first + up), max(1, second + right))
        replies = [some_pass(pass_probability(steps, threshold, epsilon) for steps in tests) for tests in (here, there)]
        refusals = [math.prod(fail_probability(steps, threshold, epsilon) for steps in tests) for tests in (here, there)]
        replied = max(replied, math.log(replies[0] / replies[1]) / epsilon)
        refused = max(refused, math.log(refusals[0] / refusals[1]) / epsilon)
        if max(*here, *there) == 1:  # the two ranges may be anything
            assert replies[0] <= delta + HAIR
    assert replied <= 1 + HAIR  # and the release itself loses 1 more: two neighbours are in one bin
    assert refused <= 2 + HAIR
    tests = [[pass_probability(steps, threshold, epsilon) for steps in pair] for pair in ((3, 4), (2, 3))]
    laws = [reply_law(some_pass(pair), centre, 8, epsilon, -80, 80) for pair, centre in zip(tests, (0, 8), strict=True)]
    assert 1.5 * epsilon < largest_log_ratio(*laws) <= 2 * epsilon + HAIR
    with pytest.raises(ZeroDivisionError):
        1 / math.log(1)
    page_says(
        "scale-cascade",
        f"n = 20, epsilon = 0.5: a reply loses at most {replied:.2f} + 1 epsilon, a refusal {refused:.2f} epsilon, "
        f"delta = {delta:.5f} < {2 * negligible(n, epsilon):.5f}.",
    )


def test_poster_lemma() -> None:
    n, epsilon = 100, 0.5
    threshold = math.log(n) ** 2 + 1
    printed, meant = fail_probability(1, threshold, epsilon), pass_probability(1, threshold, epsilon)
    assert printed > negligible(n, epsilon)
    assert meant == pytest.approx(negligible(n, epsilon), rel=1e-9)
    page_says(
        "poster-lemma", f"n = 100, epsilon = 0.5, A_0 = 1: printed {printed:.5f}, meant {meant:.3e} = n^(-epsilon ln n) / 2."
    )


def test_poster_bins() -> None:
    table, ranks = [0, 0, 1, 1, 8, 8, 8, 8], (2, 6)
    lower, upper = leave_range(table, ranks, 4, 9), leave_range(table, ranks, 8, 17)
    assert spread(table, ranks) == 8
    assert lower != upper
    assert leave_range(table, ranks, *binary_bin(8)) == upper
    page_says("poster-bins", f"A_0 = {lower} in [4, 8] and {upper} in [8, 16], for a range of 8.")


def test_poster_theorem() -> None:
    n, epsilon, ranks, unit = 1000, 0.5, (250, 750), 10**12
    base = 1 + 1 / math.log(n)
    low, home, away, high = (round(unit * base**power) for power in (0.45, 0.55, 0.95, 1.05))
    there = [0] * 400 + [low] * 306 + [home] * 44 + [away] * 52 + [high] * 198
    here = [*there[1:], high]
    assert len(here) == len(there) == n
    edges = [math.ceil(unit * base**power) for power in (0, 1, 0.5, 1.5)]
    distances = [[leave_range(table, ranks, *bin_) for bin_ in (edges[:2], edges[2:])] for table in (here, there)]
    assert distances == [[52, 45], [53, 44]]
    assert (spread(here, ranks), spread(there, ranks)) == (away, home)
    threshold = math.log(n) ** 2 + 1
    refused = [fail_probability(steps[0], threshold, epsilon) for steps in distances]
    passed = [pass_probability(steps[1], threshold, epsilon) for steps in distances]
    above = [0.5, math.exp(-0.4 * epsilon) / 2]  # the release is at least the range of `here`
    joint = [math.prod(parts) for parts in zip(refused, passed, above, strict=True)]
    loss = math.log(joint[0] / joint[1]) / epsilon
    assert joint[0] > math.exp(2 * epsilon) * joint[1] + negligible(n, epsilon)
    replies = [some_pass(pass_probability(steps, threshold, epsilon) for steps in pair) for pair in distances]
    laws = [reply_law(reply, centre, 20, epsilon, -200, 200) for reply, centre in zip(replies, (8, 0), strict=True)]
    assert hockey_stick(laws[0], laws[1], 2 * epsilon) <= 2 * negligible(n, epsilon)
    page_says(
        "poster-theorem",
        f"distances (52, 45) and (53, 44): the joint event loses {loss:.2f} epsilon, not 2; the theorem still holds.",
    )


def test_floor_ranks() -> None:
    epsilon, delta = 1.0, 1e-6
    here = [0, 0, 7, 7, 7, 8, 8, 8, 15, 15, 15]
    there = sorted([*here, 7])
    threshold = 1 - math.log(delta) / epsilon

    def excess(ranks_of: Callable[[int], tuple[int, int]]) -> tuple[float, list[int]]:
        replies, centres, distances = [], [], []
        for table in (here, there):
            ranks = ranks_of(len(table))
            width = spread(table, ranks)
            whole = binary_bin(width)
            half = math.floor(math.log2(width) + 0.5)  # the shifted bin [2**(half - 1/2), 2**(half + 1/2))
            steps = leave_range(table, ranks, *whole)
            shifted = leave_range(table, ranks, math.ceil(2 ** (half - 0.5)), math.ceil(2 ** (half + 0.5)))
            replies.append(some_pass(pass_probability(count, threshold, epsilon) for count in (steps, shifted)))
            centres.append(round(16 * math.log2(width)))
            distances.append(steps)
        laws = [reply_law(reply, centre, 16, epsilon, -300, 360) for reply, centre in zip(replies, centres, strict=True)]
        return hockey_stick(laws[0], laws[1], 2 * epsilon) / delta, distances

    floor, distances = excess(lambda n: (n // 4, n - n // 4))
    ceiling, others = excess(lambda n: interquantile_ranks(Fraction(1, 4), Fraction(3, 4), n))
    assert (distances, others) == ([2, 1], [1, 1])
    assert ceiling <= 1 < 1.25 < floor
    page_says(
        "floor-ranks",
        f"A_0(D) = 2, yet one more row turns the range 15 into 1; at (2 epsilon, delta) the excess is {floor:.2f} delta, with "
        f"ceilings {ceiling:.2f} delta.",
    )


# Location and trimmed mean


def test_median_test() -> None:
    here = list(range(1, 1001))
    there = [*here[1:], 1000]
    threshold = math.log(1000) ** 2 + 2
    distances = [steps_to_leave_bin(ranked(table), 500, 450, 550, 1000) for table in (here, there)]
    assert distances[0] > threshold > distances[1]
    silent = [{NO_REPLY: float(steps < threshold), "reply": float(steps >= threshold)} for steps in distances]
    assert hockey_stick(silent[0], silent[1], 100) == 1
    epsilon = 0.5
    noised = []
    for steps in distances:  # in the bins [500, 600) one row is enough in both tables
        reply = some_pass(pass_probability(count, threshold, epsilon) for count in (steps, 1))
        noised.append({NO_REPLY: 1 - reply, "reply": reply})
    assert largest_log_ratio(*noised) <= epsilon
    page_says(
        "median-test",
        f"threshold {threshold:.2f}, distances {distances[0]} and {distances[1]}: without noise D replies always and D' never.",
    )


def test_trimmed_mean() -> None:
    low, high, most = 2, 6, Fraction(0)
    for table in itertools.combinations_with_replacement((0, 1, 5, 9), 7):
        bound = spread(table, (low, high))
        moves = [
            abs(sum(other[low : high - 1]) - sum(table[low : high - 1])) for other in changed_rows(table, (-99, 0, 1, 5, 9, 99))
        ]
        assert max(moves) <= bound
        if bound:
            most = max(most, Fraction(max(moves), bound))
    assert most == 1
    n, share = 1000, 0.5

    def too_narrow(epsilon: float) -> float:
        """The noise of the scale divides it by more than n**share."""
        return pass_probability(0, share * math.log(n) / math.log1p(1 / math.log(n)), epsilon)

    assert too_narrow(0.1) > 2 * negligible(n, 0.1)  # it may not be left out
    page_says(
        "trimmed-mean",
        f"n = 1000, kappa = 1/2: the second term is {too_narrow(1):.2e} at epsilon = 1, {too_narrow(0.1):.4f} at 0.1.",
    )


def test_trimmed_fraction() -> None:
    rows, share = list(range(1, 101)), Fraction(1, 5)
    lowest, highest = math.ceil(100 * share / 2), math.floor(100 * (1 - share / 2))
    lei = rows[lowest : highest - 1]
    roth = rows[math.floor(100 * share) : 100 - math.floor(100 * share)]
    assert lei[0] - rows[0] != rows[-1] - lei[-1]
    assert roth[0] - rows[0] == rows[-1] - roth[-1]
    page_says(
        "trimmed-fraction",
        f"1 ... 100, alpha = 1/5: Dwork & Lei keep {lei[0]} ... {lei[-1]} (mean {sum(lei) / len(lei):g}), Dwork & Roth "
        f"{roth[0]} ... {roth[-1]} (mean {sum(roth) / len(roth):g}).",
    )


# Propose-test-release put together


def test_cascade() -> None:
    chances = [Fraction(1, 100), Fraction(1, 7), Fraction(2, 5), Fraction(9, 10)]
    for count, factor in itertools.product(range(1, 5), [Fraction(11, 10), Fraction(2), Fraction(5)]):
        for passes in itertools.product(chances, repeat=count):
            once = 1 - math.prod(1 - p for p in passes)
            raised = 1 - math.prod(1 - min(Fraction(1), factor * p) for p in passes)
            assert raised <= factor * once
    epsilon, threshold = 0.5, 20.0
    pairs = ((30, 10), (31, 9))  # the first test fails less often in the neighbour, the second passes less often
    told, untold = [], []
    for centre, (first, second) in zip((8, 0), pairs, strict=True):
        tests = [pass_probability(steps, threshold, epsilon) for steps in (first, second)]
        second_alone = fail_probability(first, threshold, epsilon) * tests[1]
        law = {(2, value): p for value, p in reply_law(second_alone, centre, 8, epsilon, -80, 80).items() if value != NO_REPLY}
        told.append(law | {"otherwise": 1 - sum(law.values())})
        untold.append(reply_law(some_pass(tests), centre, 8, epsilon, -80, 80))
    tied = [
        reply_law(some_pass([pass_probability(steps, 20, epsilon)] * 2), 8 * steps, 8, epsilon, -20, 160) for steps in (10, 9)
    ]
    shown, hidden, largest = (largest_log_ratio(*laws) / epsilon for laws in (told, untold, tied))
    assert shown == pytest.approx(3)  # K + J with K = 1, J = 2: reached when the answer shows which test passed
    assert hidden < largest <= 2
    page_says(
        "cascade",
        f"distances (30, 10) and (31, 9): {shown:.2f} epsilon if the answer shows its test, {hidden:.2f} if not; "
        f"(10, 10) and (9, 9): {largest:.2f} if not.",
    )


def test_short_cut_claim() -> None:
    epsilon, worst = 0.5, 0.0
    threshold = 6.0
    grid = range(2, 12, 3)
    for scale_tests, median_tests in itertools.product(itertools.product(grid, repeat=2), repeat=2):
        for moves in itertools.product((-1, 1), repeat=4):
            refusals = []
            for shift in (0, 1):
                steps = [count + shift * move for count, move in zip((*scale_tests, *median_tests), moves, strict=True)]
                fails = [fail_probability(count, threshold, epsilon) for count in steps]
                refusals.append(1 - (1 - fails[0] * fails[1]) * (1 - fails[2] * fails[3]))
            worst = max(worst, abs(math.log(refusals[0] / refusals[1])) / epsilon)
    lengths = (2, 2)  # of the cascade for the scale and of that for the median
    printed, sharper = len(lengths) + sum(lengths), sum(max(length, 2) for length in lengths)
    assert worst <= sharper
    page_says(
        "short-cut-claim",
        f"per coordinate {printed} epsilon printed, {sharper} epsilon enough; a refusal lost at most {worst:.2f}.",
    )


Row = tuple[int, int, int]
Coefficients = tuple[Fraction, Fraction] | None


def solve(first: Row, second: Row) -> Coefficients:
    (a, b, u), (c, d, v) = first, second
    determinant = a * d - b * c
    return (Fraction(u * d - b * v, determinant), Fraction(a * v - u * c, determinant)) if determinant else None


def test_singular_blocks() -> None:
    here: list[Row] = [(1, 0, 0), (0, 1, 0), (1, 1, 1), (1, 2, 1)]
    there: list[Row] = [(1, 0, 0), (2, 0, 5), (1, 1, 1), (1, 2, 1)]
    orders = list(itertools.permutations(range(4)))
    lengths_differ = 0
    for order in orders:
        tables = []
        for rows in (here, there):
            shuffled = [rows[place] for place in order]
            tables.append([solve(*shuffled[:2]), solve(*shuffled[2:])])
        dropped = [[value for value in table if value is not None] for table in tables]
        lengths_differ += len(dropped[0]) != len(dropped[1])
        kept = [[value or (Fraction(0), Fraction(0)) for value in table] for table in tables]
        assert sum(one != other for one, other in zip(*kept, strict=True)) <= 1
    assert lengths_differ
    page_says(
        "singular-blocks",
        f"dropping gives tables of different length for {lengths_differ} of {len(orders)} permutations, a fixed value for 0.",
    )


def test_permutation_blocks() -> None:
    rows = list(range(1, 9))

    def cut(kept: list[int]) -> set[tuple[int, ...]]:
        return {tuple(kept[start : start + 2]) for start in range(0, len(kept) - 1, 2)}

    same = cut(rows) & cut(rows[1:])
    placed = [{block: tuple(row for row in kept if row * 5 % 4 == block) for block in range(4)} for kept in (rows, rows[1:])]
    moved = sum(placed[0][block] != placed[1][block] for block in range(4))
    assert moved == 1
    page_says(
        "permutation-blocks",
        f"8 rows in blocks of 2, the first removed: {len(same)} of {len(cut(rows))} blocks stay; if each row picks its own "
        f"block, {4 - moved} of 4 do.",
    )


# Robust regression


def deletions_and_additions(ratios: Sequence[int], low: int, beyond: int) -> int:
    """p = 1: the fewest rows to add or delete until some minimiser of sum |r - b|, a median, lies outside [low, beyond)."""
    for steps in itertools.count():
        for left, right in itertools.product(range(steps + 1), repeat=2):
            for deleted in itertools.combinations(range(len(ratios)), steps - left - right) if left + right <= steps else ():
                rows = sorted([r for place, r in enumerate(ratios) if place not in deleted] + [-BEYOND] * left + [beyond] * right)
                if not rows or rows[(len(rows) - 1) // 2] < low or rows[len(rows) // 2] >= beyond:
                    return steps
    raise AssertionError


def test_regression_sensitivity() -> None:
    inside = deletions_and_additions([4] * 10, 0, 10)
    moved = deletions_and_additions([4] * 9 + [10], 0, 10)
    assert (inside, moved) == (10, 8)
    epsilon, threshold = 1.0, 7.0

    def loss(scale: float) -> float:
        return math.log(fail_probability(moved, threshold, 1 / scale) / fail_probability(inside, threshold, 1 / scale))

    assert loss(1 / epsilon) > epsilon
    assert loss(2 / epsilon) <= epsilon + HAIR
    page_says("regression-sensitivity", f"ten ratios in the cell: A_2 = {inside}; one of them moved out: A_2 = {moved}.")


def test_regression_coordinates() -> None:
    p, each, width = 3, 20, 0.9

    def objective(point: Sequence[float], pull: float) -> float:
        axes = sum(each * (abs(b) + abs(width - b)) for b in point)
        return axes + abs(pull - sum(point)) / math.sqrt(p)

    grid = list(itertools.product((-0.5, -0.01, 0.0, 0.01, 0.45, 0.89, 0.9, 0.91, 1.5), repeat=p))
    best = [min(grid, key=lambda point: objective(point, pull)) for pull in (-100.0, 100.0)]
    assert best == [(0.0,) * p, (width,) * p]
    least = 2 * each - 1 / math.sqrt(p)  # outside [0, 1)^p some coordinate of every subgradient is as large
    assert least > math.log(p * 2 * each + 1) ** 2 + 2
    loss = sum(abs(a - b) for a, b in zip(*best, strict=True))
    assert loss > 2  # a PTR function may lose 2 epsilon with its test; this release alone loses more
    assert loss <= p
    page_says(
        "regression-coordinates",
        f"p = 3, cell [0, 1)^3, both tables pass by a margin (A_2 >= {math.ceil(least)}): the release loses {loss:.1f} epsilon.",
    )


def test_regression_claim() -> None:
    p, copies, n, epsilon = 4, 1665, 9992, 0.5
    rows = 2 * (p - 1) * copies
    assert n == rows + 2
    tilt = 87.5 / rows  # the last coordinate of every unit row; the rest lies along an axis
    rest = math.sqrt(1 - tilt**2)

    def slopes(directions: np.ndarray, far_row: int) -> np.ndarray:
        """A lower bound on g . u over all subgradients g at points in direction u, for either sign of the last coordinate."""
        axes, last = rest * directions[:, :-1], tilt * directions[:, -1:]
        pairs = copies * (np.abs(axes + last) + np.abs(axes - last)).sum(axis=1)
        return np.asarray(pairs + np.abs(directions[:, 0]) + far_row * np.abs(directions[:, -1]))

    angles = np.concatenate([np.linspace(0, 0.1, 400), np.linspace(0.1, math.pi / 2, 100)])
    axes = np.array([axis for axis in itertools.product(range(5), repeat=p - 1) if any(axis)], dtype=float)
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    directions = np.concatenate([np.column_stack([np.sin(angle) * axes, np.full(len(axes), np.cos(angle))]) for angle in angles])
    distances = []
    for far_row in (-1, 1):
        attained = rows * tilt + far_row  # at a point along the last axis the other coordinates cancel
        lowest = slopes(directions, far_row).min()
        proved = attained * math.cos(math.atan(math.sqrt(p - 1) * tilt / rest))
        assert proved <= lowest + 1e-9
        assert math.ceil(proved) == math.ceil(attained)
        distances.append(math.ceil(attained))
    assert distances == [87, 89]

    blocks = n // p  # every block gives 0, but for the one with the far row
    zeros = [0] * (blocks - 1) + [1]
    ranks = interquantile_ranks(Fraction(1, 4), Fraction(3, 4), blocks)
    scale_fails = p * fail_probability(leave_range(zeros, ranks, 0, 1), math.log(blocks) ** 2 + 1, epsilon) ** 2
    threshold = math.log(n) ** 2 + 2
    refused = [fail_probability(steps, threshold, epsilon) ** 2**p for steps in distances]
    least, most = (1 - scale_fails) * refused[0], scale_fails + refused[1]
    delta = (2 * p + 2**p) * negligible(n / p, epsilon)
    claimed = 2**p + 3 * p + 1
    assert least > math.exp(claimed * epsilon) * most + delta
    assert [size for size in range(1, 12) if 2 * 2**size > 2**size + 3 * size + 1] == list(range(4, 12))
    page_says(
        "regression-claim",
        f"p = 4, n = 9992, epsilon = 0.5: A_2 = {distances[0]} and {distances[1]}, P(no reply | D) = {least:.2e}, the log ratio "
        f"is {math.log(least / most) / epsilon:.2f} epsilon > {claimed} epsilon.",
    )


def test_regression_log() -> None:
    n, epsilon = 10_000, 0.1
    printed, meant = (pass_probability(2, threshold + 2, epsilon) for threshold in (math.log(n**2), math.log(n) ** 2))
    assert printed > 100 * meant
    assert meant == pytest.approx(negligible(n, epsilon))
    page_says(
        "regression-log",
        f"n = 10000, epsilon = 0.1, A_2 = 2: a false pass has probability {printed:.4f} as printed, {meant:.2e} as meant.",
    )


def test_regression_length() -> None:
    p = 2
    printed, meant = ((p + 2 * p) + (1 + length) for length in (2, 2**p))
    assert meant == 2**p + 3 * p + 1
    page_says(
        "regression-length",
        f"p = 2: cascades of length 2 would give {printed} epsilon, of length 2^p {meant} epsilon, as Theorem 6 says.",
    )


def test_subgradient_lemma() -> None:
    rows = [(Fraction(7, 25), Fraction(24, 25)), (Fraction(7, 25), Fraction(-24, 25))]  # unit rows, both residuals of one sign
    assert all(a * a + b * b == 1 for a, b in rows)
    first, second = (sum(column, Fraction(0)) for column in zip(*rows, strict=True))
    length = first  # the gradient lies along the first axis
    assert second == 0
    needed = math.ceil(length)
    assert needed == 1
    assert length != needed  # one unit row whose hyperplane misses the point adds exactly a unit vector
    assert -1 <= -length <= 1  # one through the point adds t times its unit vector, for every t in [-1, 1]
    page_says("subgradient-lemma", f"gradient ({first}, {second}), so k = {needed}, and no unit vector equals it.")


# Stability


def test_stability_threshold() -> None:
    epsilon, delta = 1.0, 1e-6
    box, prose, ours = -math.log(delta) / epsilon, -2 * math.log(delta) / epsilon, -math.log(2 * delta) / epsilon
    unstable = [pass_probability(0, threshold, epsilon) for threshold in (box, ours)]
    assert unstable == pytest.approx([delta / 2, delta])
    at_prose = [pass_probability(prose, threshold, epsilon) for threshold in (prose, box)]
    page_says(
        "stability-threshold",
        f"delta = 1e-6: an unstable table passes the box with {unstable[0]:.1e}, ours with {unstable[1]:.1e}; at distance "
        f"2 ln(1/delta)/epsilon the prose passes with {at_prose[0]:.1f}, the box with {at_prose[1]:.7f}.",
    )


def test_stability_distance() -> None:
    epsilon, delta = 1.0, 1e-6
    box, ours = (pass_probability(1, threshold, epsilon) for threshold in (-math.log(delta), 1 - math.log(2 * delta)))
    assert box > delta
    assert ours == pytest.approx(delta)
    page_says(
        "stability-distance",
        f"epsilon = 1, delta = 1e-6: where one row changes the value the box passes with {box:.2e}, "
        f"1 + ln(1/(2 delta))/epsilon with {ours:.2e}.",
    )


def sample_runs(n: int, epsilon: float, delta: float) -> tuple[float, int]:
    chance = epsilon / (64 * -math.log(delta))
    return chance, math.ceil(math.log(n / delta) / chance**2)


def test_sample_runs() -> None:
    chance, runs = sample_runs(10_000, 1, 1e-6)
    assert runs * chance**2 > 20  # the text counts 1/q**2 runs
    threshold = 2 + 2 * math.log(1 / 2e-6)  # one row in one block: the gap of the counts moves by 2
    assert pass_probability(0, threshold - 2, 0.5) == pytest.approx(1e-6)
    passing = next(gap for gap in itertools.count() if pass_probability(gap, threshold, 0.5) >= 0.95)
    page_says(
        "sample-runs",
        f"epsilon = 1, delta = 1e-6, n = 10000: {runs} runs on {10_000 * chance:.1f} rows each; "
        f"disjoint blocks pass with 95% from a gap of {passing}.",
    )


def test_sample_size() -> None:
    runs = [sample_runs(n, 1, 1e-6)[1] for n in (10_000, 10_001)]
    assert runs[0] != runs[1]
    page_says("sample-size", f"epsilon = 1, delta = 1e-6: m = {runs[0]} for 10000 rows, {runs[1]} for 10001.")


def stable_reply(n: int, epsilon: float, delta: float) -> tuple[float, float]:
    """How often f(sample) = f(x), and how often A_samp then says f(x), but for line 3. f: is any of k fixed rows there?"""
    chance, runs = sample_runs(n, epsilon, delta)
    needed = math.ceil(math.log(0.25) / math.log1p(-chance))
    agrees = 1 - (1 - chance) ** needed
    total = 0.0
    for count in range(runs // 2 + 1, runs + 1):
        log_share = math.lgamma(runs + 1) - math.lgamma(count + 1) - math.lgamma(runs - count + 1)
        log_share += count * math.log(agrees) + (runs - count) * math.log1p(-agrees)
        distance = (2 * count - runs) / (4 * runs * chance) - 1
        total += math.exp(log_share) * pass_probability(distance, -math.log(delta) / epsilon, epsilon)
    return agrees, total


def test_sample_utility() -> None:
    n, delta = 1000, 0.1
    (agrees, reply), (others_agree, other_reply) = stable_reply(n, 20, delta), stable_reply(n, 4, delta)
    assert min(agrees, others_agree) >= 0.75
    chance, runs = sample_runs(n, 4, delta)
    line_3 = n * math.exp(-runs * chance / 3)  # Chernoff, for each row
    assert reply < 1 - 3 * delta < other_reply - line_3
    assert 4 < 2 * -math.log(delta) < 20
    page_says(
        "sample-utility",
        f"delta = 0.1, n = 1000: A_samp says f(x) with {reply:.3f} < 0.7 at epsilon = 20, {other_reply:.3f} at epsilon = 4.",
    )


def test_noisy_argmax() -> None:
    epsilon = 1.0
    losses = [math.log(runner_up_wins(10, scale) / runner_up_wins(12, scale)) for scale in (1 / epsilon, 2 / epsilon)]
    assert losses[0] > epsilon >= losses[1]
    votes = [10, 0], [11, -1]  # the same move with one-sided noise
    assert largest_log_ratio(*(noisy_max_law(counts, Fraction(1)) for counts in votes)) > epsilon
    assert largest_log_ratio(*(noisy_max_law(counts, Fraction(2)) for counts in votes)) <= epsilon + HAIR
    page_says(
        "noisy-argmax",
        f"gap 10 against gap 12, epsilon = 1: Lap(1/epsilon) loses {losses[0]:.3f}, Lap(2/epsilon) {losses[1]:.3f}.",
    )


# Sample and aggregate for estimators, small databases, Laplace


def test_estimator_projection() -> None:
    tiny, largest, blocks = Fraction(1, 10**9), Fraction(10), 10

    def rate(rows: Sequence[Fraction]) -> Fraction:
        return (len(rows) - 1) / sum(rows, Fraction(0))

    before, after = (rate([tiny] * 4 + [last]) for last in (Fraction(1), tiny))
    noise = largest / blocks  # times 1/epsilon
    loss = (after - before) / blocks / noise
    corrected = (min(after, largest) - min(before, largest)) / blocks / noise
    assert corrected <= 1 < loss
    page_says(
        "estimator-projection",
        f"one row changes the block's rate from {float(before):.2f} to {float(after):.1e}: {float(loss):.1e} epsilon; projected, "
        f"{float(corrected):.2f} epsilon.",
    )


def test_estimator_diameter() -> None:
    corner, far = (0, 0, 0, 0), (1, 1, 1, 1)  # one block's estimate, with either value of one row
    moved = sum(abs(a - b) for a, b in zip(corner, far, strict=True))
    diameters = {2: math.dist(corner, far), 1: float(moved)}
    losses = {norm: moved / diameter for norm, diameter in diameters.items()}
    assert losses[1] <= 1 < losses[2]
    page_says(
        "estimator-diameter",
        f"[0, 1]^4 has L2 diameter {diameters[2]:g} and L1 diameter {diameters[1]:g}: with the first the release loses "
        f"{losses[2]:g} epsilon.",
    )


def test_estimator_blocks() -> None:
    rows, blocks = [1, 1, 0, 0] * 4, 8
    bias = Fraction(1, 10**6)

    def estimate(block: Sequence[int]) -> Fraction:
        """The start of a shifted exponential of known rate, bias-corrected, on [0, 1]."""
        return max(Fraction(0), min(block) - bias / len(block)) if block else Fraction(0)

    def by_position(kept: list[int]) -> Fraction:
        size = -(-len(kept) // blocks)
        return sum((estimate(kept[start : start + size]) for start in range(0, len(kept), size)), Fraction(0)) / blocks

    def by_coin(kept: list[tuple[int, int]]) -> Fraction:
        return sum((estimate([row for coin, row in kept if coin == block]) for block in range(blocks)), Fraction(0)) / blocks

    loss = abs(by_position(rows) - by_position(rows[1:])) * blocks
    coined = [(place * 3 % blocks, row) for place, row in enumerate(rows)]
    for gone in range(len(rows)):
        assert abs(by_coin(coined) - by_coin(coined[:gone] + coined[gone + 1 :])) * blocks <= 1
    assert loss > 3
    page_says(
        "estimator-blocks",
        f"16 rows, 8 blocks, the first row removed: the average moves by {float(loss):.2f} times what the noise is for.",
    )


def test_estimator_limit() -> None:
    n, theta = 100, 3  # the mean T of n rows, each theta - 1 or theta + 1 with equal chances
    law = {theta + Fraction(2 * ups - n, n): Fraction(math.comb(n, ups), 2**n) for ups in range(n + 1)}
    mean = sum(value * p for value, p in law.items()) * math.isqrt(n)
    spread_out = sum((value - theta) ** 2 * p for value, p in law.items()) * n
    near_theta = sum(p for value, p in law.items() if abs(math.isqrt(n) * value - theta) <= 10)
    assert spread_out == 1  # so sqrt(n) (T - theta) has the limit that is meant
    assert near_theta < Fraction(1, 10**20)
    page_says("estimator-limit", f"theta = 3, n = 100: sqrt(n) T has mean {mean} instead of 3, and variance {spread_out}.")


def test_small_database() -> None:
    accuracy = 0.3
    printed, ours = math.log(1) / accuracy**2, math.floor(math.log(2) / (2 * accuracy**2)) + 1
    assert printed == 0
    assert 2 * math.exp(-2 * ours * accuracy**2) < 1  # Hoeffding: a random sample of this size does, so one exists
    for numerator in range(101):
        assert min(abs(Fraction(numerator, 100) - Fraction(count, ours)) for count in range(ours + 1)) <= accuracy
    page_says("small-database", f"one query, alpha = 0.3: size {printed:g} as printed, {ours} here.")


def test_small_database_rows() -> None:
    queries, tables, size, epsilon = marginal_queries((2,), 1), ((2, 0), (2, 1)), 3, Fraction(1)
    stated = [stated_rows_law(table, queries, size, epsilon, 20) for table in tables]
    own = [stated_rows_law(table, queries, size, epsilon, sum(table)) for table in tables]
    counts = [database_law(table, queries, size, epsilon) for table in tables]
    assert [largest_log_ratio(*pair) for pair in zip(own, counts, strict=True)] == pytest.approx([0, 0], abs=HAIR)
    lost, lost_by_statement = largest_log_ratio(*counts), largest_log_ratio(*stated)
    assert lost <= epsilon < lost_by_statement
    page_says(
        "small-database-rows",
        "two cells, 3 rows in a database, tables (2, 0) and (2, 1), epsilon = 1: the loss is "
        f"{lost:.4f} with the tables' own n, and {lost_by_statement:.4f} with a stated n = 20.",
    )


def test_residual_price() -> None:
    def difference(weight: Callable[[int], float], reach: int) -> list[float]:
        """The law of the difference of two whole numbers of one law, from -reach to reach."""
        weights = {k: weight(k) for k in range(-4 * reach, 4 * reach + 1)}
        whole = math.fsum(weights.values()) ** 2
        return [math.fsum(weights[k] * weights.get(k + step, 0.0) for k in weights) / whole for step in range(-reach, reach + 1)]

    def divergence(variance: float) -> float:
        law = difference(lambda k: math.exp(-k * k / (2 * variance)), 10)
        return math.fsum(p * math.log(p / q) for p, q in itertools.pairwise(law))

    assert all(divergence(variance) > 1 / (4 * variance) for variance in (0.125, 0.25, 0.5, 1))
    law = difference(lambda k: math.exp(-abs(k)), 40)
    loss = max(abs(math.log(p / q)) for p, q in itertools.pairwise(law))
    page_says(
        "residual-price",
        f"a column of two levels: with discrete Gaussian noise of v = 1/4 the divergence is {divergence(0.25):.4f}, and the "
        f"printed price 1; with Laplace noise at epsilon = 1 the loss reaches {loss:.3f} within 40 rows, and half would be 0.5.",
    )


def test_social_networks() -> None:
    size = 5
    graphs = list(all_graphs(size))

    def nodes_moved(edges: Edges) -> int:
        """How far the number of edges moves for the worst neighbour: a node less, or one more that is joined to all."""
        gone = max(len(edges) - len(without_node(edges, node)) for node in range(size))
        return max(gone, len(edges | {(node, size) for node in range(size)}) - len(edges))

    within = {bound: sum(nodes_moved(edges) <= bound for edges in graphs) for bound in (size - 1, size)}
    by_edge = sum(all(abs(len(edges) - len(other)) <= 1 for other in toggled(edges, size)) for edges in graphs)
    assert all(max(degrees(edges | {(node, size) for node in range(size)}, size + 1)) == size for edges in graphs)
    page_says(
        "social-networks",
        f"all {len(graphs):,} graphs on {size} nodes: for a node, the number of edges is within reach of a bound of "
        f"{size - 1} in {within[size - 1]:,} of them and of a bound of {size} in {within[size]:,}; for an edge, of a bound of 1 "
        f"in {by_edge:,}.",
    )


def test_laplace_cdf() -> None:
    def cdf(z: float, sign: int) -> float:
        return (1 + math.copysign(1, z) * (1 - math.exp(sign * abs(z)))) / 2

    assert cdf(1, 1) < 0
    assert cdf(-1, 1) > 1
    assert cdf(1, -1) == pytest.approx(1 - pass_probability(0, 1, 1))
    page_says("laplace-cdf", f"b = 1: the printed function is {cdf(1, 1):.4f} at z = 1; with the sign, {cdf(1, -1):.4f}.")


def test_laplace_density() -> None:
    printed, meant = math.sinh(5), 1 - math.exp(-5)  # integrals of exp(y)/2 and exp(-|y|)/2 from -5 to 5
    assert printed > 1 > meant
    page_says("laplace-density", f"lambda = 1: the printed density has mass {printed:.2f} on [-5, 5]; with -|y|, {meant:.4f}.")


def test_laplace_ratio() -> None:
    epsilon = 0.5  # f moves by its sensitivity 1, and the response is f(x)
    ratio = math.exp(0) / math.exp(-epsilon)
    assert ratio > math.exp(-epsilon)
    assert ratio <= math.exp(epsilon)
    page_says(
        "laplace-ratio",
        f"epsilon = 0.5: the ratio reaches {ratio:.4f}; printed bound {math.exp(-epsilon):.4f}, true {math.exp(epsilon):.4f}.",
    )
