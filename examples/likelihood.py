"""Fit a law to incomes: choose the family privately, fit it, read the table of parameters, and use the law."""

import dpstats as dp
from dpstats.data import survey

table = survey()  # 5,000 invented persons
income = table["income"][table["income"] > 0]  # looks at each row by itself, so it may be done before; missing ones go, too

choice = dp.select_family(income, families=["lognormal", "gamma", "weibull"], epsilon=0.5)
family = "lognormal" if isinstance(choice, dp.NoReply) else choice.value  # a public guess where there is no reply
print("family:", family)

release = dp.mle(family, income, epsilon=1)
if isinstance(release, dp.NoReply):
    raise SystemExit(f"{release.reason} {release.advice}")
print(release.summary())

law = release.value.distribution()  # of scipy.stats; what was released may be used freely
for share in (0.1, 0.5, 0.9):
    print(f"{share:.0%} of those who have an income have at most {law.ppf(share):9,.0f}")

bounds = {"mu": (5, 15), "sigma": (0.1, 3)}  # public: what anybody would believe of logarithms of incomes
bounded = dp.mle("lognormal", income, bounds=bounds, epsilon=1)  # Smith's estimator T*
print("within bounds:", "no reply" if isinstance(bounded, dp.NoReply) else bounded.value)
print("Cost:", choice.cost, "and", release.cost, "and", bounded.cost)
