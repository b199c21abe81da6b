"""How close the answers come without bounds: beside the peers' packages, and beside a mechanism that is given tight bounds.

    python benchmarks/accuracy.py [--quick] [--only peers medians whole constants tails many cdf means intervals]

All columns are synthetic, drawn anew for every repeat. `tight` bounds are the population's 0.1% and 99.9% quantiles, `loose`
ones are 1000 times wider, ours gets none. A peer that cannot be imported is skipped, and the output says why. The tables are
Markdown; docs/benchmarks.md keeps a run.

Longer than most files: the columns, the peers and the tables are read together, and nothing else uses them.
"""

from __future__ import annotations

import argparse
import functools
import math
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import geometric_mean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import dpstats as dp

Rows = NDArray[np.float64]
Bounds = tuple[float, float] | None
Quantile = Callable[[Rows, float, float, Bounds], float]
"""rows, q, epsilon, bounds -> a private quantile"""

SEED = 8
LOOSER = 1000
CANDIDATES = 10_000
"""For OpenDP, equally spaced between the bounds; its time grows with them."""
LOST = 1000
"""An error of so many interquartile ranges is printed as `lost`."""
LEAST_RATIO = 0.01
"""Error ratios are counted as no less in a geometric mean: an error of 0 would settle it alone."""
CHANCE = np.random.default_rng(SEED)


# The columns ----------------------------------------------------------------------------------------------------------------


def delays(rows: int, chance: np.random.Generator) -> Rows:
    """Whole minutes in the shape of airlines' arrival delays: most a little early, two fifths with an exponential delay."""
    return np.round(chance.normal(-13, 13.5, rows) + np.where(chance.random(rows) < 0.38, chance.exponential(54, rows), 0))


def distances(rows: int, chance: np.random.Generator) -> Rows:
    """Whole miles in the shape of flight distances: two hundred routes, a few of them flown most."""
    miles = np.round(np.random.default_rng(1).lognormal(6.7, 0.6, 200))
    flown = 1 / np.arange(10, 210)
    return chance.choice(miles, rows, p=flown / flown.sum())


def stones(rows: int, chance: np.random.Generator) -> Rows:
    """Whole dollars in the shape of diamonds' prices: 326 to 18,823, two humps, few ties."""
    small = chance.random(rows) < 0.42
    return np.clip(np.round(np.where(small, chance.lognormal(6.75, 0.35, rows), chance.lognormal(8.4, 0.65, rows))), 326, 18823)


SHAPES: dict[str, Callable[[int, np.random.Generator], Rows]] = {
    "N(50,15)": lambda n, chance: chance.normal(50, 15, n),
    "N(1e6,1)": lambda n, chance: chance.normal(1e6, 1, n),
    "lognormal(10,1)": lambda n, chance: chance.lognormal(10, 1, n),
    "t2 + 5": lambda n, chance: 5 + chance.standard_t(2, n),
    "t2": lambda n, chance: chance.standard_t(2, n),
    "Laplace(0,1)": lambda n, chance: chance.laplace(0, 1, n),
    "U[0,1]": lambda n, chance: chance.random(n),
    "N(0,1e-9)": lambda n, chance: 1e-9 * chance.normal(0, 1, n),
    "two humps at +-100": lambda n, chance: np.where(chance.random(n) < 0.5, -100, 100) + chance.normal(0, 1, n),
    "30% zeros": lambda n, chance: np.where(chance.random(n) < 0.3, 0, chance.lognormal(5, 1, n)),
    "ages": lambda n, chance: np.floor(np.clip(chance.normal(40, 12, n), 0, 100)),
    "prices, cents": lambda n, chance: np.round(chance.lognormal(3, 1, n), 2),
    "delays": delays,
    "distances": distances,
    "stones": stones,
}
WHOLE = ("ages", "delays", "distances", "stones")
TIED = (*WHOLE, "prices, cents")


class Population(NamedTuple):
    """What is public about a shape in a comparison."""

    tight: tuple[float, float]
    iqr: float

    @property
    def loose(self) -> tuple[float, float]:
        """Bounds that somebody gives who does not know the data."""
        low, high = self.tight
        middle, reach = (low + high) / 2, LOOSER * (high - low) / 2
        return middle - reach, middle + reach


@functools.cache
def population(shape: str) -> Population:
    low, first, third, high = np.quantile(SHAPES[shape](10**6, np.random.default_rng(SEED)), [0.001, 0.25, 0.75, 0.999])
    return Population((float(low), float(high)), float(third - first))


def samples(shape: str, rows: int, repeats: int) -> Iterator[Rows]:
    for _ in range(repeats):
        yield SHAPES[shape](rows, CHANCE)


# The mechanisms -------------------------------------------------------------------------------------------------------------


def ours(rows: Rows, q: float, epsilon: float) -> float:
    """All of epsilon on the value; what an interval takes from it is in docs/intervals.md. Few rows get rough answers."""
    if q == 0.5:
        return float(answer(dp.median(rows, epsilon=epsilon, interval=None, rough=True)))
    return float(answer(dp.quantile(rows, q, epsilon=epsilon, interval=None, rough=True)))


def our_iqr(rows: Rows, epsilon: float) -> float:
    return float(answer(dp.iqr(rows, epsilon=epsilon, interval=None, rough=True)))


def answer(release: dp.Release | dp.NoReply) -> Any:
    assert isinstance(release, dp.Release)
    return release.value


def tight_quantile(ordered: Rows, q: float, epsilon: float, bounds: tuple[float, float]) -> float:
    """The exponential mechanism, uniform between tight bounds, at our slope for one row more or less. In floats: no claim."""
    places = np.concatenate([[bounds[0]], np.clip(ordered, *bounds), [bounds[1]]])
    widths = np.diff(places)
    losses = epsilon / (2 * max(q, 1 - q)) * np.abs(np.arange(len(widths)) - q * len(ordered))
    with np.errstate(divide="ignore"):
        chosen = int(np.argmax(np.log(widths) - losses + CHANCE.gumbel(size=len(widths))))
    return float(places[chosen] + CHANCE.random() * widths[chosen])


def grid_quantile(ordered: Rows, q: float, epsilon: float, bounds: tuple[float, float], step: float) -> float:
    """The same among the multiples of `step` alone: what could be reached if it were known where ties can be."""
    grid = np.round(np.arange(round(bounds[0] / step), round(bounds[1] / step) + 1) * step, 2)
    over = np.searchsorted(ordered, grid, "left") - q * len(ordered)
    under = q * len(ordered) - np.searchsorted(ordered, grid, "right")
    losses = epsilon / (2 * max(q, 1 - q)) * np.maximum(0, np.maximum(over, under))
    return float(grid[np.argmax(CHANCE.gumbel(size=len(grid)) - losses)])


def rank_error(ordered: Rows, value: float, q: float) -> float:
    """By how many rows a value misses being a q-quantile."""
    below, up_to = np.searchsorted(ordered, value, "left"), np.searchsorted(ordered, value, "right")
    return float(max(0, below - q * len(ordered), q * len(ordered) - up_to))


# The peers ------------------------------------------------------------------------------------------------------------------


def diffprivlib() -> Quantile:
    from diffprivlib import tools

    return lambda rows, q, epsilon, bounds: float(tools.quantile(rows, q, epsilon=epsilon, bounds=bounds))


def opendp() -> Quantile:
    import opendp.prelude as peer

    peer.enable_features("contrib")
    space = peer.vector_domain(peer.atom_domain(T=float, nan=False)), peer.symmetric_distance()

    @functools.cache
    def measurement(q: float, epsilon: float, bounds: tuple[float, float]) -> Any:
        candidates = np.linspace(*bounds, CANDIDATES).tolist()
        return peer.binary_search_chain(
            lambda scale: space >> peer.m.then_private_quantile(peer.max_divergence(), candidates, q, scale),
            d_in=1,
            d_out=epsilon,
        )

    return lambda rows, q, epsilon, bounds: float(measurement(q, epsilon, bounds)(rows))


def python_dp() -> Quantile:
    from pydp.algorithms.laplacian import Median, Percentile

    def quantile(rows: Rows, q: float, epsilon: float, bounds: Bounds) -> float:
        if bounds is not None:
            low, high = bounds
            mechanism = Percentile(epsilon=epsilon, percentile=q, lower_bound=low, upper_bound=high, dtype="float")
        elif q == 0.5:
            mechanism = Median(epsilon=epsilon, dtype="float")
        else:
            raise NotOfferedError
        return float(mechanism.quick_result(rows.tolist()))

    return quantile


class NotOfferedError(Exception):
    """The peer has no such statistic."""


PEERS: dict[str, tuple[Callable[[], Quantile], tuple[str, ...]]] = {
    "diffprivlib": (diffprivlib, ("tight", "loose")),
    "OpenDP": (opendp, ("tight", "loose")),
    "python-dp": (python_dp, ("tight", "loose", "none")),
}


def importable_peers() -> dict[str, Quantile]:
    found = {}
    for name, (load, _) in PEERS.items():
        try:
            found[name] = load()
        except Exception as reason:  # whatever a peer's import raises, the benchmark goes on without it
            print(f"{name} is skipped: {type(reason).__name__}: {str(reason).splitlines()[0]}")
    return found


# The tables -----------------------------------------------------------------------------------------------------------------


def heading(title: str, *columns: str) -> None:
    print(f"\n### {title}\n\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}", flush=True)


def line(*cells: object) -> None:
    print(f"| {' | '.join(f'{cell:.3g}' if isinstance(cell, float) else str(cell) for cell in cells)} |", flush=True)


def met(holds: bool) -> str:
    return "yes" if holds else "**no**"


def shown(error: float, iqr: float = math.inf) -> str:
    """Two digits, or `lost`."""
    if not error <= LOST * iqr:
        return "lost"
    return (
        np.format_float_positional(error, 2, fractional=False, trim="-") if error == 0 or 1e-4 <= error < 1e6 else f"{error:.2g}"
    )


def standard_error(ordered: Rows) -> float:
    """Of their median, from the spread of the order statistics about it."""
    middle, reach = len(ordered) // 2, round(math.sqrt(len(ordered)) / 2)
    return float(ordered[middle + reach] - ordered[middle - reach]) / 2


class Aim(NamedTuple):
    """A row of the comparison with the peers; the aim is from their measured errors."""

    statistic: str
    shape: str
    rows: int
    epsilon: float
    most: float


AIMS = (
    Aim("median", "N(50,15)", 1_000, 1, 0.03),
    Aim("median", "N(50,15)", 1_000, 0.1, 0.30),
    Aim("median", "N(50,15)", 10_000, 1, 0.0025),
    Aim("median", "lognormal(10,1)", 1_000, 1, 40),
    Aim("median", "delays", 10_000, 1, 0),
    Aim("iqr", "N(50,15)", 1_000, 1, 0.15),
    Aim("iqr", "N(50,15)", 1_000, 0.1, 1.7),
    Aim("iqr", "lognormal(10,1)", 10_000, 1, 30),
)


def exact(rows: Rows, statistic: str) -> float:
    return float(np.median(rows) if statistic == "median" else np.subtract(*np.quantile(rows, [0.75, 0.25])))


def peer_error(aim: Aim, quantile: Quantile, bounds: Bounds, repeats: int, raised: Counter[str]) -> float | None:
    """The median absolute error, or None if the peer has no such statistic. A call that raises counts as infinitely wrong."""
    errors = []
    for rows in samples(aim.shape, aim.rows, repeats):
        try:
            if aim.statistic == "median":
                value = quantile(rows, 0.5, aim.epsilon, bounds)
            else:
                value = quantile(rows, 0.75, aim.epsilon / 2, bounds) - quantile(rows, 0.25, aim.epsilon / 2, bounds)
            errors.append(abs(value - exact(rows, aim.statistic)))
        except NotOfferedError:
            return None
        except Exception as reason:  # a peer may refuse or crash on a column; which of them did is printed below the table
            raised[f"{type(reason).__name__}: {(str(reason).splitlines() or [''])[0]}"] += 1
            errors.append(math.inf)
    return float(np.median(errors))


def beside_peers(effort: float) -> None:
    peers = importable_peers()
    repeats = {"median": round(2400 * effort), "iqr": round(600 * effort)}
    peer_repeats = round(200 * effort)
    their_heads = [f"{name} {' / '.join(PEERS[name][1])}" for name in peers]
    counts = f"{repeats['median']} repeats for our medians, {repeats['iqr']} for our iqr, {peer_repeats} for the peers"
    title = f"Median absolute error beside the peers ({counts})"
    our_heads = ("aim", "ours, no bounds", "ours / aim", "met")
    heading(title, "statistic, column, n, epsilon", *our_heads, *their_heads, "ours / best tight peer")
    notes: list[str] = []
    for aim in AIMS:
        public = population(aim.shape)
        release = our_iqr if aim.statistic == "iqr" else functools.partial(ours, q=0.5)
        columns = samples(aim.shape, aim.rows, repeats[aim.statistic])
        errors = np.sort([abs(release(rows, epsilon=aim.epsilon) - exact(rows, aim.statistic)) for rows in columns])
        error = float(np.median(errors))
        cells, best = [], math.inf
        for name, quantile in peers.items():
            theirs = {}
            for kind in PEERS[name][1]:
                bounds = {"tight": public.tight, "loose": public.loose, "none": None}[kind]
                raised = Counter[str]()
                theirs[kind] = peer_error(aim, quantile, bounds, peer_repeats, raised)
                notes += [f"{name}, {kind}, {aim.statistic} {aim.shape}: {n} calls raised {what}" for what, n in raised.items()]
            best = min(best, theirs["tight"] or math.inf)
            cells.append(" / ".join("-" if each is None else shown(each, public.iqr) for each in theirs.values()))
        ratio = f"{error / aim.most:.2f}" if aim.most else "-"
        against = shown(error / best) if 0 < best < math.inf else "-"
        name = f"{aim.statistic} {aim.shape} {aim.rows:,}, {aim.epsilon:g}"
        line(
            name,
            f"{aim.most:g}",
            f"{shown(error)} +- {shown(standard_error(errors))}",
            ratio,
            met(error <= aim.most),
            *cells,
            against,
        )
    print("".join(f"\n{note}" for note in notes) or ("\nNo call of a peer raised an error." if peers else ""))


class RankErrors(NamedTuple):
    """Mean rank errors of one quantile, and how often ours is exact."""

    ours: float
    tight: float
    exact_share: float

    @property
    def ratio(self) -> float:
        """Ours over tight."""
        return self.ours / self.tight


def rank_errors(shape: str, rows: int, q: float, epsilon: float, repeats: int) -> RankErrors:
    mine, tight = [], []
    for column in samples(shape, rows, repeats):
        ordered = np.sort(column)
        mine.append(rank_error(ordered, ours(column, q, epsilon), q))
        tight.append(rank_error(ordered, tight_quantile(ordered, q, epsilon, population(shape).tight), q))
    return RankErrors(float(np.mean(mine)), float(np.mean(tight)), mine.count(0) / repeats)


def mean_ratio(ratios: Iterable[float]) -> float:
    """The geometric mean, where a ratio near 0 does not settle it alone."""
    return geometric_mean(max(ratio, LEAST_RATIO) for ratio in ratios)


def medians(effort: float) -> None:
    settings = ((1_000, 1.0), (10_000, 0.1), (10_000, 1.0))
    repeats = round(300 * effort)
    columns = [f"({n:,}, {epsilon:g})" for n, epsilon in settings]
    heading(f"Median: mean rank error, ours / with tight bounds = ratio ({repeats} repeats)", "column", *columns)
    found = {}
    for shape in SHAPES:
        found[shape] = [rank_errors(shape, rows, 0.5, epsilon, repeats) for rows, epsilon in settings]
        line(shape, *(f"{each.ours:.2f} / {each.tight:.2f} = {each.ratio:.2f}" for each in found[shape]))
    heading("Median: geometric mean of those ratios", "columns", *columns, "aim", "met")
    for label, chosen in (
        ("all", tuple(SHAPES)),
        ("without ties", tuple(s for s in SHAPES if s not in TIED)),
        ("with ties", TIED),
    ):
        means = [mean_ratio(found[shape][index].ratio for shape in chosen) for index in range(len(settings))]
        aim = ("<= 1.5", met(max(means) <= 1.5)) if label == "all" else ("", "")
        line(f"{label} ({len(chosen)})", *(f"{mean:.2f}" for mean in means), *aim)


def whole(effort: float) -> None:
    rows, epsilon, repeats = 10_000, 1.0, round(300 * effort)
    title = f"Columns with ties, n = {rows:,}, epsilon = {epsilon:g}: mean rank error over that with tight bounds"
    quantiles = (0.25, 0.5, 0.9)
    exact_heads = ("exact medians", "aim", "met", "exact if grid and bounds were known")
    heading(f"{title} ({repeats} repeats)", "column", *(f"q = {q:g}" for q in quantiles), "aim", "met", *exact_heads)
    table = []
    for shape in TIED:
        found = [rank_errors(shape, rows, q, epsilon, repeats) for q in quantiles]
        table.append([each.ratio for each in found])
        share = found[1].exact_share
        aims = (">= 90%", met(share >= 0.9)) if shape in WHOLE else ("", "")
        shares = f"{share:.0%}", *aims, f"{exact_share_on_grid(shape, rows, epsilon, repeats):.0%}"
        line(shape, *(f"{ratio:.2f}" for ratio in table[-1]), "<= .15", met(max(table[-1]) <= 0.15), *shares)
    means = [mean_ratio(ratios) for ratios in zip(*table, strict=True)]
    line("geometric mean", *(f"{mean:.2f}" for mean in means), "<= .15", met(max(means) <= 0.15), "", "", "", "")


def exact_share_on_grid(shape: str, rows: int, epsilon: float, repeats: int) -> float:
    """How often a mechanism would find the median that knows the grid of the ties and tight bounds."""
    step, tight = (1.0 if shape in WHOLE else 0.01), population(shape).tight
    exact_ones = 0
    for column in samples(shape, rows, repeats):
        ordered = np.sort(column)
        exact_ones += rank_error(ordered, grid_quantile(ordered, 0.5, epsilon, tight, step), 0.5) == 0
    return exact_ones / repeats


def constants(effort: float) -> None:
    repeats = round(2000 * effort)
    settings = ((60, 1.0), (600, 0.1), (100, 1.0), (1000, 0.1))
    heads = (f"({n}, {epsilon:g})" for n, epsilon in settings)
    heading(f"A constant column: share of exact medians ({repeats} repeats, aim 99.9%)", "every row is", *heads, "met")
    for value in (0.0, 7.0, 12.99, 52000.0, -0.004, 3.14159265358979):
        shares = []
        for rows, epsilon in settings:
            column = np.full(rows, value)
            shares.append(float(np.mean([ours(column, 0.5, epsilon) == value for _ in range(repeats)])))
        line(f"{value:.15g}", *(f"{share:.2%}" for share in shares), met(min(shares) >= 0.999))


def tails(effort: float) -> None:
    q, rows, epsilon, repeats = 0.99, 1_000, 1.0, round(500 * effort)
    title = f"q = {q}, n = {rows:,}, epsilon = {epsilon:g}: absolute error over the interquartile range ({repeats} repeats)"
    heads = [f"{part}, {which}" for part in ("half of all", "95% of all") for which in ("ours", "tight")]
    heading(title, "column", *heads, "95%, ours / tight", "aim", "met")
    ratios = []
    for shape in ("N(50,15)", "lognormal(10,1)", "t2 + 5", "Laplace(0,1)", "U[0,1]", "30% zeros", "ages", "delays", "stones"):
        errors: dict[str, list[float]] = {"ours": [], "tight": []}
        public = population(shape)
        for column in samples(shape, rows, repeats):
            ordered = np.sort(column)
            wanted = ordered[math.ceil(q * rows) - 1]
            errors["ours"].append(abs(ours(column, q, epsilon) - wanted) / public.iqr)
            errors["tight"].append(abs(tight_quantile(ordered, q, epsilon, public.tight) - wanted) / public.iqr)
        parts = [float(np.quantile(errors[which], part)) for part in (0.5, 0.95) for which in errors]
        ratios.append(parts[2] / parts[3])
        line(shape, *(shown(part, 1) for part in parts), f"{ratios[-1]:.3g}", "<= 1", met(ratios[-1] <= 1))
    line("geometric mean", "", "", "", "", f"{geometric_mean(ratios):.3g}", "<= 1", met(geometric_mean(ratios) <= 1))


def many(effort: float) -> None:
    rows, epsilon = 10_000, 1.0
    repeats = max(2, round(24 * effort))
    title = f"Many quantiles at once, n = {rows:,}, epsilon = {epsilon:g}: mean rank error ({repeats} repeats)"
    splits = max(1, repeats // 3)
    heads = ("ours at once", "aim", "met", "ours, budget split", "tight bounds, budget split")
    heading(title, "column", "quantiles", *heads)
    for count in (99, 9):
        wanted = [round(index / (count + 1), 2) for index in range(1, count + 1)]
        for shape in ("N(50,15)", "lognormal(10,1)", "30% zeros", "delays"):
            together, apart, tight = [], [], []
            for index, column in enumerate(samples(shape, rows, repeats)):
                ordered = np.sort(column)
                values = answer(dp.quantile(column, wanted, epsilon=epsilon, interval=None, rough=True))
                together.append(mean_rank_error(ordered, values, wanted))
                bounded = [tight_quantile(ordered, q, epsilon / count, population(shape).tight) for q in wanted]
                tight.append(mean_rank_error(ordered, bounded, wanted))
                if index < splits:  # slow for many quantiles, and a few of them show it
                    few = wanted[:: max(1, count // 10)]
                    apart.append(mean_rank_error(ordered, [ours(column, q, epsilon / count) for q in few], few))
            means = [float(np.mean(each)) for each in (together, apart, tight)]
            aims = ("<= 15", met(means[0] <= 15)) if count == 99 else ("", "")
            line(
                shape,
                count,
                f"{means[0]:.1f} +- {np.std(together) / math.sqrt(repeats):.1f}",
                *aims,
                f"{means[1]:.1f} +- {np.std(apart) / math.sqrt(splits):.1f}",
                f"{means[2]:.0f}",
            )


def mean_rank_error(ordered: Rows, values: Sequence[float], wanted: Sequence[float]) -> float:
    return float(np.mean([rank_error(ordered, value, q) for value, q in zip(values, wanted, strict=True)]))


def cdf(effort: float) -> None:
    repeats = max(2, round(8 * effort))
    settings = ((1_000, 1.0), (10_000, 0.1), (10_000, 1.0))
    title = f"Distribution function: largest vertical error, median (and largest) of {repeats} repeats"
    heading(title, "column", "points", *(f"({n:,}, {epsilon:g})" for n, epsilon in settings))
    for shape, points in (("N(50,15)", 31), ("lognormal(10,1)", 31), ("30% zeros", 31), ("delays", 31), ("N(50,15)", 127)):
        cells = []
        for rows, epsilon in settings:
            released = (
                (x, answer(dp.cdf(x, points, epsilon=epsilon, interval=None, rough=True))) for x in samples(shape, rows, repeats)
            )
            errors = [largest_gap(x, distribution) for x, distribution in released]
            cells.append(f"{np.median(errors):.3f} ({max(errors):.3f})")
        line(shape, points, *cells)
    print(
        "\nA released function is 0 or 1 beyond its outermost points, so it errs by at least about 1 / (points + 1). The sample"
    )
    print("itself errs from the population by about .83 / sqrt(n): .026 at 1,000 rows, .008 at 10,000.")


def largest_gap(rows: Rows, released: Callable[[float], float]) -> float:
    """The largest distance between a released function and the column's own, at and just below every value."""
    values, counts = np.unique(rows, return_counts=True)
    ends = np.cumsum(counts) / len(rows)
    starts = ends - counts / len(rows)
    at = np.array([released(value) for value in values.tolist()])
    before = np.array([released(value) for value in np.nextafter(values, -np.inf).tolist()])
    return float(max(np.abs(at - ends).max(), np.abs(before - starts).max()))


class MeanAim(NamedTuple):
    """A mean without bounds, and the median absolute error against the sample's own mean that it should reach."""

    shape: str
    rows: int
    epsilon: float
    most: float


MEAN_AIMS = (
    MeanAim("N(50,15)", 1_000, 1, 0.09),
    MeanAim("lognormal(10,1)", 100_000, 1, 28),
    MeanAim("delays", 100_000, 1, 0.03),
    MeanAim("t2", 10_000, 1, 0.012),
)
Mean = Callable[[Rows, float, Bounds], float]
"""rows, epsilon, bounds -> a private mean"""


def diffprivlib_mean() -> Mean:
    from diffprivlib import tools

    return lambda rows, epsilon, bounds: float(tools.mean(rows, epsilon=epsilon, bounds=bounds))


def opendp_mean() -> Mean:
    """Its mean wants a public number of rows."""
    import opendp.prelude as peer

    peer.enable_features("contrib")
    space = peer.vector_domain(peer.atom_domain(T=float, nan=False)), peer.symmetric_distance()

    @functools.cache
    def measurement(rows: int, epsilon: float, bounds: tuple[float, float]) -> Any:
        clamped = space >> peer.t.then_clamp(bounds) >> peer.t.then_resize(rows, constant=sum(bounds) / 2)
        then_mean: Any = peer.t.then_mean
        made = clamped >> then_mean()
        return peer.binary_search_chain(lambda scale: made >> peer.m.then_laplace(scale), d_in=1, d_out=epsilon)

    return lambda rows, epsilon, bounds: float(measurement(len(rows), epsilon, bounds)(rows))


def python_dp_mean() -> Mean:
    from pydp.algorithms.laplacian import BoundedMean

    def mean(rows: Rows, epsilon: float, bounds: Bounds) -> float:
        ends = {} if bounds is None else {"lower_bound": bounds[0], "upper_bound": bounds[1]}
        return float(BoundedMean(epsilon=epsilon, dtype="float", **ends).quick_result(rows.tolist()))

    return mean


MEAN_PEERS: dict[str, tuple[Callable[[], Mean], tuple[str, ...]]] = {
    "diffprivlib": (diffprivlib_mean, ("tight", "loose")),
    "OpenDP": (opendp_mean, ("tight", "loose")),
    "python-dp": (python_dp_mean, ("tight", "loose", "none")),
}


def mean_error(aim: MeanAim, mean: Mean, bounds: Bounds, repeats: int, raised: Counter[str]) -> float:
    """The median absolute error against the sample's mean; a call that raises counts as infinitely wrong."""
    errors = []
    for rows in samples(aim.shape, aim.rows, repeats):
        try:
            errors.append(abs(mean(rows, aim.epsilon, bounds) - float(rows.mean())))
        except Exception as reason:  # as in peer_error
            raised[f"{type(reason).__name__}: {(str(reason).splitlines() or [''])[0]}"] += 1
            errors.append(math.inf)
    return float(np.median(errors))


def means(effort: float) -> None:
    found: dict[str, Mean] = {}
    for name, (load, _) in MEAN_PEERS.items():
        try:
            found[name] = load()
        except Exception as reason:  # as in importable_peers
            print(f"{name} is skipped: {type(reason).__name__}: {str(reason).splitlines()[0]}")
    repeats, peer_repeats = round(200 * effort), round(60 * effort)
    heads = (f"{name} {' / '.join(MEAN_PEERS[name][1])}" for name in found)
    title = f"Mean: median absolute error against the sample's mean ({repeats} repeats for ours, {peer_repeats} for the peers)"
    heading(title, "column, n, epsilon", "aim", "ours, no bounds", "met", *heads)
    notes: list[str] = []
    for aim in MEAN_AIMS:
        public = population(aim.shape)
        columns = samples(aim.shape, aim.rows, repeats)
        errors = np.sort(
            [abs(float(answer(dp.mean(rows, epsilon=aim.epsilon, rough=True))) - float(rows.mean())) for rows in columns]
        )
        error = float(np.median(errors))
        cells = []
        for name, mean in found.items():
            theirs = []
            for kind in MEAN_PEERS[name][1]:
                bounds = {"tight": public.tight, "loose": public.loose, "none": None}[kind]
                raised = Counter[str]()
                theirs.append(shown(mean_error(aim, mean, bounds, peer_repeats, raised), public.iqr))
                notes += [f"{name}, {kind}, {aim.shape}: {count} calls raised {what}" for what, count in raised.items()]
            cells.append(" / ".join(theirs))
        ours_shown = f"{shown(error)} +- {shown(standard_error(errors))}"
        line(f"{aim.shape} {aim.rows:,}, {aim.epsilon:g}", f"{aim.most:g}", ours_shown, met(error <= aim.most), *cells)
    print("".join(f"\n{note}" for note in notes) or ("\nNo call of a peer raised an error." if found else ""))
    print("\nTight bounds cut off the tails of skewed columns: part of the peers' error there is bias, which no row lessens.")


def intervals(effort: float) -> None:
    """What the default interval takes from a median."""
    repeats = round(400 * effort)
    title = f"Median: what its interval costs the value, median absolute error against the sample's ({repeats} repeats)"
    heading(title, "column, n, epsilon", "interval=None", "interval=0.95", "ratio")
    for rows, epsilon in ((1_000, 1.0), (1_000, 0.1), (10_000, 1.0), (100_000, 1.0)):
        errors = []
        for level in (None, 0.95):
            columns = samples("N(50,15)", rows, repeats)
            released = ((x, answer(dp.median(x, epsilon=epsilon, interval=level, rough=True))) for x in columns)
            errors.append(float(np.median([abs(value - float(np.median(x))) for x, value in released])))
        line(f"N(50,15) {rows:,}, {epsilon:g}", *(f"{error:.2g}" for error in errors), f"{errors[1] / errors[0]:.2f}")


SECTIONS = {
    "peers": beside_peers,
    "medians": medians,
    "whole": whole,
    "constants": constants,
    "tails": tails,
    "many": many,
    "cdf": cdf,
    "means": means,
    "intervals": intervals,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure errors against the peers and the targets.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the repeats: a look, not a verdict")
    parser.add_argument(
        "--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), metavar="section", help=", ".join(SECTIONS)
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # the peers' own
    for section in options.only:
        start = time.perf_counter()
        SECTIONS[section](0.1 if options.quick else 1.0)
        print(f"\n({section}: {time.perf_counter() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
