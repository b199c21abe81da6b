"""Ask blocks of rows for anything: a fit that knows nothing of privacy, a vote between models, and a choice by two analysts."""

import numpy as np

import dpstats as dp
from dpstats.data import survey

table = survey()  # 5,000 invented persons
known = ~np.isnan(table["income"])  # looks at each row by itself, so it may be done before
schooling, income = table["schooling"][known], table["income"][known]


def line(x, y):
    """Slope and intercept by least squares; replace it by whatever you trust."""
    return np.polyfit(x, y, 1)


def better_by_holding_out(x, y):
    """Whether a parabola predicts the second half of the rows better than a line that was fitted to the first half."""
    half = len(x) // 2
    errors = {}
    for name, degree in (("line", 1), ("parabola", 2)):
        fitted = np.polyfit(x[:half], y[:half], degree)
        errors[name] = np.abs(np.polyval(fitted, x[half:]) - y[half:]).mean()
    return min(errors, key=errors.get)


def better_by_penalty(x, y):
    """The same question, asked by another analyst in another way."""
    scores = {}
    for name, degree in (("line", 1), ("parabola", 2)):
        left = y - np.polyval(np.polyfit(x, y, degree), x)
        scores[name] = len(x) * np.log(np.mean(left**2)) + degree * np.log(len(x))
    return min(scores, key=scores.get)


ranges = [(0, 5000), (-50_000, 50_000)]  # public: what anybody would believe of a slope and an intercept
fit = dp.sample_and_aggregate(line, (schooling, income), outputs=2, blocks=100, aggregate="mean", range=ranges, epsilon=1)
if isinstance(fit, dp.NoReply):
    print(f"{fit.reason} {fit.advice}")
else:
    for name, value, interval in zip(("a year of schooling", "intercept"), fit.value, fit.intervals, strict=True):
        print(f"{name:<20} {value:9,.0f}   95%: {interval.low:,.0f} to {interval.high:,.0f}")

analysts = [better_by_holding_out, better_by_penalty]
options = ["line", "parabola"]
choice = dp.sample_and_aggregate(analysts, (schooling, income), blocks=40, aggregate="argmax", options=options, epsilon=1)
print("analysts choose      ", "nothing" if isinstance(choice, dp.NoReply) else choice.value)
print("Cost:", fit.cost, "and", choice.cost)
