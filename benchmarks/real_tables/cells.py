"""The cells of the benchmark: which question is asked of how many rows of which table, at which epsilons."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.real_tables import questions as ask
from benchmarks.real_tables.harder import harder_jobs
from benchmarks.real_tables.jobs import Job

CUTS = ("Fair", "Good", "Ideal", "Premium", "Very Good")
CLASSES = ("regular", "regular.with.aide", "small.class")


def _columns() -> Iterator[Job]:
    for name in ("median", "mean", "std", "iqr", "trimmed_mean"):
        yield Job(ask.of_column(name, "diamonds", "price"), 3_000, (0.1, 1))
    for name in ("median", "mean", "iqr"):
        yield Job(ask.of_column(name, "diamonds", "price"), 50, (1,))
    yield Job(ask.of_column("mean", "diamonds", "price"), 20_000, (1,))
    yield Job(ask.quantile(0.9, "diamonds", "price"), 3_000, (0.3, 1))
    for name in ("median", "mean", "std"):
        yield Job(ask.of_column(name, "rwm5yr", "docvis"), 5_000, (0.2, 1))
    yield Job(ask.quantile(0.9, "rwm5yr", "docvis"), 5_000, (1,))
    yield Job(ask.of_column("count", "rwm5yr", "docvis"), 5_000, (0.1,))
    yield Job(ask.of_column("mean", "rwm5yr", "hhninc"), 5_000, (1,))
    for name in ("median", "mean"):
        yield Job(ask.of_column(name, "medpar", "los"), 1_495, (0.2, 1, 3))
    yield Job(ask.quantile(0.95, "medpar", "los"), 1_495, (1,))
    yield Job(ask.of_column("trimmed_mean", "medpar", "los"), 1_495, (1,))
    yield Job(ask.of_column("mean", "OFP", "ofp"), 4_406, (1,))
    yield Job(ask.of_column("mean", "MedExp", "med"), 5_574, (0.5, 1))
    yield Job(ask.of_column("std", "MedExp", "med"), 5_574, (1,))
    yield Job(ask.of_column("median", "movies", "budget"), 4_000, (1,))
    yield Job(ask.of_column("mean", "movies", "votes"), 20_000, (1,))
    yield Job(ask.quantile(0.9, "movies", "votes"), 20_000, (1,))
    yield Job(ask.of_column("mean", "HI", "husby"), 10_000, (0.5,))
    yield Job(ask.of_column("median", "HI", "whrswk"), 10_000, (0.5,))
    yield Job(ask.of_column("mean", "PSID", "earnings"), 4_856, (1,))
    yield Job(ask.of_column("mean", "fair", "affairs"), 6_366, (1,))
    yield Job(ask.of_column("mean", "breast_cancer", "mean area"), 569, (1, 6))
    yield Job(ask.of_column("median", "breast_cancer", "mean area"), 569, (0.5,))
    yield Job(ask.of_column("mean", "diabetes", "target"), 442, (0.5, 2))
    yield Job(ask.of_column("mean", "wine", "proline"), 178, (0.3, 1))
    yield Job(ask.of_column("median", "engel", "income"), 235, (0.2, 1))
    yield Job(ask.of_column("mean", "danish", "x"), 2_167, (1,))
    yield Job(ask.of_column("trimmed_mean", "Boston", "tax"), 506, (1,))
    yield from _tied()


def _tied() -> Iterator[Job]:
    """Quantiles of whole numbers that are shared by many rows, with a step of the distribution nearby."""
    yield Job(ask.of_column("median", "nlschools", "SES"), 2_287, (2,))
    yield Job(ask.quantile(0.95, "Bundesliga", "HomeGoals"), 3_000, (1,))
    yield Job(ask.of_column("iqr", "medpar", "los"), 1_495, (1,))


def _groups() -> Iterator[Job]:
    yield Job(ask.by_group("mean", "diamonds", "price", "cut", CUTS), 3_000, (1,))
    yield Job(ask.by_group("mean", "diamonds", "price", "cut", CUTS), 20_000, (1,))
    yield Job(ask.by_group("median", "diamonds", "price", "cut", CUTS), 3_000, (0.5,))
    yield Job(ask.by_group("count", "diamonds", "price", "cut", CUTS), 3_000, (0.5,))
    yield Job(ask.by_group("mean", "rwm5yr", "docvis", "edlevel", ("1", "2", "3", "4")), 5_000, (1,))
    yield Job(ask.by_group("mean", "Star", "tmathssk", "classk", CLASSES), 5_748, (1,))
    yield Job(ask.by_group("median", "CPSch3", "ahe", "sex", ("female", "male")), 1_000, (0.2, 1))
    yield Job(ask.by_group("mean", "wine", "proline", "target", ("0", "1", "2")), 178, (1,))


def _regressions() -> Iterator[Job]:
    price = ask.regression("linear", "diamonds", "price", ("carat", "depth"))
    for rows, epsilons in ((1_000, (2,)), (3_000, (2,)), (10_000, (2,)), (20_000, (0.5, 2))):
        yield Job(price, rows, epsilons)
    yield Job(ask.regression("linear", "diamonds", "price", ("carat", "depth"), delta=1e-6), 3_000, (2,))
    yield Job(ask.regression("linear", "diamonds", "price", ("carat",)), 20_000, (1,))
    yield Job(ask.regression("linear", "rwm5yr", "docvis", ("age", "female")), 5_000, (1, 4))
    yield Job(ask.regression("linear", "rwm5yr", "docvis", ("age", "female")), 19_609, (1,))
    computers = ("speed", "hd", "ram", "screen", "ads")
    yield Job(ask.regression("linear", "Computers", "price", computers), 6_259, (2, 6))
    yield Job(ask.regression("linear", "Wages", "lwage", ("exp", "wks", "ed")), 4_165, (1, 5))
    yield Job(ask.regression("linear", "BudgetFood", "wfood", ("totexp", "age", "size")), 23_972, (1,))
    yield Job(ask.regression("linear", "CPSch3", "ahe", ("sex=female",)), 11_130, (1,))
    yield Job(ask.regression("linear", "MedExp", "med", ("age", "ndisease")), 5_574, (3,))
    yield Job(ask.regression("linear", "diabetes", "target", ("bmi", "bp")), 442, (1, 5))
    yield Job(ask.regression("linear", "Star", "tmathssk", ("classk=small.class", "totexpk")), 5_748, (3,))
    for q in (0.5, 0.9):
        yield Job(ask.regression("quantile", "diamonds", "price", ("carat", "depth"), q), 10_000, (2,))
        yield Job(ask.regression("quantile", "BudgetFood", "wfood", ("totexp", "size"), q), 23_972, (1,))
    yield Job(ask.regression("quantile", "engel", "foodexp", ("income",), 0.5), 235, (2,))
    yield Job(ask.regression("logistic", "rwm5yr", "outwork", ("age", "female")), 5_000, (1, 4))
    yield Job(ask.regression("logistic", "Hdma", "deny=yes", ("dir", "lvr")), 2_380, (2, 7))
    yield Job(ask.regression("logistic", "fair", "affairs>0", ("rate_marriage", "age", "religious")), 6_366, (3,))
    yield Job(ask.regression("logistic", "breast_cancer", "target", ("mean texture",)), 569, (0.5,))
    yield Job(ask.regression("poisson", "medpar", "los", ("hmo", "died")), 1_495, (0.5,))
    yield Job(ask.regression("poisson", "OFP", "ofp", ("hosp", "numchron")), 4_406, (1, 4))
    yield Job(ask.regression("poisson", "OFP", "ofp", ("hosp", "numchron"), delta=1e-6), 4_406, (4,))
    yield Job(ask.regression("poisson", "rwm5yr", "docvis", ("age", "female")), 5_000, (4,))
    yield Job(ask.regression("poisson", "rwm5yr", "docvis", ("age", "female")), 19_609, (1,))
    yield Job(ask.regression("poisson", "azpro", "los", ("procedure", "sex", "admit")), 3_589, (2, 6))
    yield Job(ask.regression("poisson", "randhie", "mdvis", ("lncoins", "disea")), 20_190, (1,))


def _laws() -> Iterator[Job]:
    for family in ("weibull", "negative_binomial", "gamma", "normal"):
        yield Job(ask.law(family, "medpar", "los"), 1_495, (1, 3))
    yield Job(ask.law("lognormal", "medpar", "los"), 1_495, (1,))
    yield Job(ask.law("negative_binomial", "rwm5yr", "docvis"), 5_000, (1,))
    yield Job(ask.law("negative_binomial", "OFP", "ofp"), 4_406, (1,))
    yield Job(ask.law("poisson", "OFP", "ofp"), 4_406, (1,))
    yield Job(ask.law("gamma", "diamonds", "price"), 5_000, (1,))
    yield Job(ask.law("weibull", "CPSch3", "ahe"), 5_000, (1,))
    yield Job(ask.law("normal", "Star", "tmathssk"), 5_748, (1,))
    yield Job(ask.law("exponential", "azpro", "los"), 3_589, (1,))
    yield Job(ask.law("gamma", "breast_cancer", "mean area"), 569, (0.2, 1))


def _pairs() -> Iterator[Job]:
    for kind in ("pearson", "spearman", "kendall"):
        yield Job(ask.correlation(kind, "diamonds", "carat", "price"), 3_000, (0.5, 2))
        yield Job(ask.correlation(kind, "rwm5yr", "age", "docvis"), 5_000, (0.5,))
    yield Job(ask.correlation("pearson", "Computers", "price", "ram"), 6_259, (1,))
    yield Job(ask.correlation("pearson", "wine", "alcohol", "proline"), 178, (1,))
    yield Job(ask.correlation("kendall", "quakes", "mag", "stations"), 1_000, (1,))


def _tests() -> Iterator[Job]:
    yield Job(ask.two_sample_t_test("medpar", "los", "died", ("0", "1")), 1_495, (1, 3))
    yield Job(ask.two_sample_t_test("medpar", "los", "hmo", ("0", "1")), 1_495, (1,))
    yield Job(ask.two_sample_t_test("CPSch3", "ahe", "sex", ("female", "male")), 2_000, (0.5, 2))
    yield Job(ask.two_sample_t_test("Star", "tmathssk", "classk", ("small.class", "regular")), 5_748, (1,))
    yield Job(ask.two_sample_t_test("Wages", "lwage", "union", ("yes", "no")), 4_165, (1,))
    yield Job(ask.t_test("diabetes", "target", 140), 442, (2,))
    yield Job(ask.t_test("rwm5yr", "docvis", 3), 5_000, (1,))
    yield Job(ask.sign_test("medpar", "los", 9), 1_495, (0.2, 1))
    yield Job(ask.sign_test("PSID", "earnings", 12_000), 2_000, (0.2,))


def _choices() -> Iterator[Job]:
    visits = ("hosp", "numchron", "age", "school", "faminc", "emr", "privins=yes")
    yield Job(ask.features("OFP", "ofp", visits), 4_406, (2,))
    computers = ("speed", "hd", "ram", "screen", "ads", "trend", "cd=yes", "multi=yes", "premium=yes")
    yield Job(ask.features("Computers", "price", computers), 6_259, (2,))
    yield Job(ask.features("Wages", "lwage", ("exp", "wks", "ed", "south=yes", "sex=male", "union=yes")), 4_165, (1,))
    models = ("constant", "linear", "quadratic")
    yield Job(ask.model("diamonds", "price", ("carat", "depth"), models), 5_000, (1,))
    yield Job(ask.model("Wages", "lwage", ("exp", "wks", "ed"), models), 4_165, (1,))
    yield Job(ask.family("medpar", "los", ("gamma", "lognormal", "weibull", "normal")), 1_495, (1,))


def jobs() -> list[Job]:
    """All of them, by kind of question."""
    return [*_columns(), *_groups(), *_regressions(), *_laws(), *_pairs(), *_tests(), *_choices(), *harder_jobs()]
