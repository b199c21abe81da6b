"""Fit rents by a formula, read the table of coefficients, predict with it, and draw it."""

import math

import dpstats as dp
from dpstats.data import survey

table = survey()  # 5,000 invented persons
regions = ["Arnmouth", "Belhollow", "Corrigate", "Dunsholt", "Estrava", "Fennick"]  # public: the first is the reference

release = dp.regression("log(rent) ~ schooling + C(region)", table, epsilon=2, delta=1e-6, levels={"region": regions})
if isinstance(release, dp.NoReply):
    raise SystemExit(f"{release.reason} {release.advice}")
print(release.summary())
print("Cost:", release.cost)

rents = release.value.predict({"schooling": [12] * len(regions), "region": regions})  # logarithms; costs nothing more
for region, rent in zip(regions, rents, strict=True):
    print(f"{region:<10} {math.exp(rent):6.0f}")

try:
    release.plot("regression.svg")
    print("Drawn into regression.svg")
except dp.MissingExtraError as missing:
    print(missing)
