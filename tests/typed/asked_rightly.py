"""Right calls, as an analyst writes them; mypy and pyright find nothing wrong, and reveal the types that stand beside them."""

from decimal import Decimal
from fractions import Fraction
from typing import Any, reveal_type

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import stats
from sklearn.linear_model import LinearRegression

import dpstats as dp
from dpstats import median
from dpstats.typing import Number, Rows


def ask(rows: Rows, epsilon: Number) -> float | None:
    answer = dp.median(rows, epsilon=epsilon)
    return answer.value if isinstance(answer, dp.Release) else None


x = [12.5, 13.0, None]
frame = pd.DataFrame({"a": x})
seeded = dp.testing.seeded(7)
for rows in (x, (1, 2), range(3), np.array([1.0]), pd.Series(x), frame["a"], pl.Series(x), pa.array(x), pa.chunked_array([x])):
    ask(rows, 1)
for epsilon in (1, 0.5, "1/3", Fraction(1, 3), Decimal("0.5"), np.float32(1), np.int64(1)):
    ask(x, epsilon)
for X in (frame, pl.DataFrame({"a": x}), pa.table({"a": x}), {"a": x}, np.ones((3, 2)), [[1, 2], [3, 4]], [np.ones(3)], x):
    dp.linear_regression(X, x, epsilon=1)
    dp.naive_bayes(X, x, epsilon=1)

reveal_type(dp.median(x, epsilon=1))  # Release[float] | NoReply
reveal_type(median(data=x, epsilon=1, delta=1e-6, method="ptr", neighbors="change_one", interval=None, unit="person", rng=seeded))
# Release[float] | NoReply
reveal_type(dp.count(x, epsilon=1, neighbors=dp.Neighbors.CHANGE_ONE))  # Release[int] | NoReply
reveal_type(dp.proportion([True, None, False], epsilon=1))  # Release[float] | NoReply
reveal_type(dp.quantile(x, 0.9, epsilon=1))  # Release[float] | NoReply
reveal_type(dp.quantile(x, [0.1, 0.9], epsilon=1))  # Release[tuple[float, ...]] | NoReply
reveal_type(dp.histogram(x, bins=["a", "b"], epsilon=1))  # Release[Histogram] | NoReply
reveal_type(dp.cdf(x, 15, epsilon=1))  # Release[Distribution] | NoReply
reveal_type(dp.t_test(x, 12, "less", epsilon=1))  # Release[TestResult] | NoReply
reveal_type(dp.chi_square_test(x, x, ["a", "b"], [1, 2], epsilon=1))  # Release[CountsResult] | NoReply
reveal_type(dp.quantile_regression(frame, x, 0.9, epsilon=1))  # Release[RegressionFit] | NoReply
reveal_type(dp.mle("gamma", x, bounds={"shape": (0.1, 10)}, epsilon=1))  # Release[LikelihoodFit] | NoReply
reveal_type(dp.mle(stats.gamma, x, fixed={"floc": 0}, epsilon=1))  # Release[LikelihoodFit] | NoReply
reveal_type(dp.select_features(frame, x, at_most=2, epsilon=1))  # Release[SelectedFeatures] | NoReply
reveal_type(dp.select_model(frame, x, ["linear", "forest"], epsilon=1))  # Release[str] | NoReply
reveal_type(dp.select_model(frame, x, {"plain": LinearRegression()}, popularity=True, epsilon=1, workers=0))
# Release[PopularOption] | NoReply
reveal_type(dp.sample_and_aggregate(np.median, x, blocks=30, epsilon=1))  # Release[Any] | NoReply
reveal_type(dp.sample_and_aggregate("least_squares", (frame, x), aggregate="centred", epsilon=1))  # Release[Any] | NoReply
reveal_type(dp.aggregate_choices([str, repr], x, options=["a"], epsilon=1))  # Release[Any] | NoReply
reveal_type(dp.a_samp(function=str, data=x, runs=3, epsilon=1, delta=1e-6))  # Release[Any] | NoReply
reveal_type(dp.regression("y ~ a", frame, model="quantile", quantile=0.9, epsilon=1))  # Release[RegressionFit] | NoReply
reveal_type(dp.classification("y ~ a", frame, model="tree", classes=[0, 1], epsilon=1))
# Release[AdditiveModel | DecisionTreeModel] | NoReply
reveal_type(dp.plan("quantile", 0.9, epsilon=1, n=10_000))  # Plan
reveal_type(dp.plan(["median", "iqr"], epsilon=1, n=[1_000, 10_000]))  # JointPlan

survey = dp.protect(frame, unit="row", budget=dp.Budget(epsilon=3), ledger=":memory:")
reveal_type(survey)  # Session
reveal_type(dp.publish("plan.toml", out="report"))  # Publication
reveal_type(dp.publish({"title": "Incomes"}, out="report", session=survey).answers)
# tuple[Release[Any] | NoReply | GroupedRelease[Any], ...]
reveal_type(survey.median("income", epsilon=0.2))  # Release[float] | NoReply
reveal_type(survey.where("age >= 30").count(epsilon=0.2))  # Release[int] | NoReply
reveal_type(survey.proportion("hours > 0", epsilon=0.2))  # Release[float] | NoReply
reveal_type(survey.quantile(column="income", q=(0.1, 0.9), epsilon="0.2"))  # Release[tuple[float, ...]] | NoReply
reveal_type(survey.linear_regression(["age", "hours"], "income", epsilon=0.2))  # Release[RegressionFit] | NoReply
reveal_type(survey.additive_classifier(["age", "hours"], "works", epsilon=0.2))  # Release[AdditiveModel] | NoReply
reveal_type(survey.decision_tree(X=("age", "hours"), y="works", epsilon=0.2))  # Release[DecisionTreeModel] | NoReply
reveal_type(survey.mle("linear", "age", "income", blocks=100, epsilon=0.2))  # Release[LikelihoodFit] | NoReply
reveal_type(survey.sample_and_aggregate("median", "income", epsilon=0.2))  # Release[float | tuple[float, ...]] | NoReply
reveal_type(survey.regression("income ~ age", levels={"region": ["north"]}, epsilon=0.2))  # Release[RegressionFit] | NoReply
reveal_type(survey.classification("works ~ age", epsilon=0.2))  # Release[AdditiveModel | DecisionTreeModel] | NoReply
reveal_type(survey.plan("median", "income", epsilon=0.2, n=1_000))  # Plan

groups = survey.group_by("region", keys=["north", "south"])
reveal_type(groups)  # Groups
reveal_type(groups.median("income", epsilon=0.3, delta=1e-7))  # GroupedRelease[float] | NoReply
reveal_type(groups.naive_bayes(["age", "hours"], "works", epsilon=0.3))  # GroupedRelease[AdditiveModel] | NoReply
reveal_type(groups.count(epsilon=0.3))  # GroupedRelease[int] | NoReply
reveal_type(groups.regression("income ~ age", epsilon=0.3))  # GroupedRelease[RegressionFit] | NoReply
reveal_type(groups.classification("works ~ age", epsilon=0.3))
# GroupedRelease[AdditiveModel | DecisionTreeModel] | NoReply
by_region = groups.median("income", epsilon=0.3)
if not isinstance(by_region, dp.NoReply):
    reveal_type(by_region["north"])  # Release[float] | NoReply
    reveal_type(by_region.values_by_key)  # dict[Any, float | None]

given: dict[str, Any] = {"epsilon": 1}
dp.median(x, **given)
dp.models.QuantileRegressor(quantile=0.9, epsilon=1, unit="person").fit(frame, x)
