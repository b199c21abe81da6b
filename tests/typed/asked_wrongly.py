"""Mistakes, one in a line; mypy and pyright find one in every line that ends with the word wrong, and in no other."""

import numpy as np

import dpstats as dp

x = [12.5, 13.0]
survey = dp.protect({"a": x}, unit="row", budget=dp.Budget(epsilon=3), ledger=":memory:")
groups = survey.group_by("region")

dp.median()  # wrong
dp.median(x, epsilonn=1)  # wrong
dp.meddian(x)  # wrong
dp.median(x)  # wrong
dp.median("income", epsilon=1)  # wrong
dp.median(7, epsilon=1)  # wrong
dp.median(x, 0.5, epsilon=1)  # wrong
dp.median(x, epsilon=None)  # wrong
dp.median(x, epsilon=1, method="ptrr")  # wrong
dp.median(x, epsilon=1, neighbors="changed")  # wrong
dp.median(x, epsilon=1, rng=7)  # wrong
dp.median(x, epsilon=1).value  # wrong
dp.quantile(x, epsilon=1)  # wrong
dp.correlation(x, x, "person", epsilon=1)  # wrong
dp.linear_regression(x, epsilon=1)  # wrong
dp.mle(x, epsilon=1)  # wrong
dp.sample_and_aggregate(np.median, x)  # wrong
dp.sample_and_aggregate(np.median, x, epsilon=1, agregate="mean")  # wrong
dp.sample_and_aggregate(np.median, x, epsilon=1, aggregate="meann")  # wrong
dp.regression("y ~ x", {"x": x})  # wrong
dp.regression("y ~ x", {"x": x}, epsilon=1, model="liner")  # wrong
dp.classification("y ~ x", {"x": x}, epsilon=1, model="forest")  # wrong
dp.models.LinearRegresion(epsilon=1)  # wrong
dp.models.LinearRegression(epsilonn=1)  # wrong
dp.protect({"a": x}, unit="row", budget=3, ledger=":memory:")  # wrong
dp.protect({"a": x}, unit="row", ledger=":memory:")  # wrong

survey.median()  # wrong
survey.median("income", epsilonn=1)  # wrong
survey.meddian("income", epsilon=1)  # wrong
survey.median(x, epsilon=1)  # wrong
survey.median("income", epsilon=1, neighbors="change_one")  # wrong
survey.mle(dp.LikelihoodModel, "income", epsilon=1)  # wrong
survey.sample_and_aggregate("mediann", "income", epsilon=1)  # wrong
survey.regression("y ~ x", epsilonn=1)  # wrong
groups.median()  # wrong
groups.median("income", epsilonn=1)  # wrong
groups.meddian("income", epsilon=1)  # wrong
groups.median("income", epsilon=1).value  # wrong
groups.regression("y ~ x")  # wrong
groups.where("age >= 30")  # wrong
