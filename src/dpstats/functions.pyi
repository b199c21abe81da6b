# Written by `make stubs` from the registry: do not edit.
"""The statistics as functions of data."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from dpstats.foundations.accepted import (
    Blocks,
    Bounds,
    Columns,
    Elements,
    Estimator,
    FrozenLaw,
    Model,
    NeighborsName,
    Number,
    Rows,
)
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.results import NoReply, Release
from dpstats.statistics.analyses_of_variance import GroupsResult
from dpstats.statistics.binned.histogram import Histogram
from dpstats.statistics.box_tree.density import Density
from dpstats.statistics.box_tree.neighbors import NeighborClasses
from dpstats.statistics.classification.model import AdditiveModel
from dpstats.statistics.classification.tree import DecisionTreeModel
from dpstats.statistics.clusters.clusters import Clusters
from dpstats.statistics.clusters.mixtures import MixtureFit
from dpstats.statistics.contingency.tables import ContingencyTables
from dpstats.statistics.distribution import Distribution
from dpstats.statistics.itemsets.found_sets import Itemsets
from dpstats.statistics.itemsets.rules import AssociationRules
from dpstats.statistics.likelihood.fit import LikelihoodFit
from dpstats.statistics.principal.components import PrincipalComponents
from dpstats.statistics.regression.fit import RegressionFit
from dpstats.statistics.selection.values import PopularOption, SelectedFeatures
from dpstats.statistics.survival.curve import SurvivalCurve
from dpstats.statistics.synthetic.data import SyntheticData
from dpstats.statistics.testing.results import CountsResult, TestResult
from dpstats.statistics.universe.small_databases import SmallDatabase
from dpstats.statistics.universe.weighted_universe import WeightedUniverse

__all__ = [
    "additive_classifier",
    "anova",
    "association_rules",
    "association_test",
    "cdf",
    "chi_square_test",
    "contingency_table",
    "correlation",
    "count",
    "covariance",
    "decision_tree",
    "density",
    "frequent_itemsets",
    "gaussian_mixture",
    "goodness_of_fit_test",
    "histogram",
    "interquantile_range",
    "iqr",
    "kmeans",
    "ks_test",
    "linear_regression",
    "logistic_regression",
    "mann_whitney",
    "mean",
    "median",
    "median_test",
    "mle",
    "mode",
    "mwem",
    "naive_bayes",
    "nearest_neighbors",
    "pca",
    "poisson_regression",
    "proportion",
    "quantile",
    "quantile_regression",
    "select_family",
    "select_features",
    "select_model",
    "sign_test",
    "small_database",
    "std",
    "sum",
    "survival_curve",
    "synthesize",
    "t_test",
    "trimmed_mean",
    "two_sample_ks_test",
    "two_sample_t_test",
    "variance",
    "winsorized_mean",
]

def additive_classifier(
    X: Columns,
    y: Rows,
    classes: Elements | None = None,
    levels: Mapping[str, Elements] | None = None,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "boosting", "gaussian_boosting"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[AdditiveModel] | NoReply:
    """A classifier of rows: for each class a sum of effects, one for the value in each column.

    Parameters
      X          the features, columns of any types: a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a missing cell counts as a value of its own
      y          the classes, values of any type: a list, a numpy array, a pandas or polars Series, an arrow array, of the same rows in the same order; a row without one of the classes is left out
      classes    the labels that y holds, where they are public: ['no', 'yes']; rows with others are left out. Without it they are 0 and 1 of a column of numbers, False and True, or declared keys; of labels they are found privately, which needs delta
      levels     the labels of features, where they are public: {'region': ['north', 'south']}; other labels count as one. Columns of True and False have theirs; all others are found privately, which needs delta
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      boosting           pure epsilon-DP: private cuts, and whole-number Laplace noise on sums of residuals, one column after the other
      gaussian_boosting  (epsilon, delta)-DP: private cuts and labels, and whole-number Gaussian noise on sums of residuals, column by column

    Returns AdditiveModel with .predict(X), .predict_proba(X), .effects, .to_pandas() and .text(), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def anova(
    values: Rows,
    by: Rows,
    groups: Elements | None = None,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "clipped", "thresholded"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[GroupsResult] | NoReply:
    """Whether several groups of rows have the same mean (one-way analysis of variance, Welch's version).

    Parameters
      values     numbers: a list, a numpy array, a pandas or polars Series, an arrow array; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      by         values of any type, of the same rows in the same order
      groups     the labels whose rows are compared, such as ['a', 'b', 'c']; left out: those of many rows are found, with delta
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      clipped      pure epsilon-DP, no bounds asked, no delta, may refuse: rows are cut off at privately found limits
      thresholded  (epsilon, delta)-DP, no bounds asked, may refuse: groups of many rows, then means of rows that are cut off

    Returns a result with statistic (Welch's F), p_value, estimate (eta squared), df, and groups with their means and errors, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def association_rules(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    k: int = 50,
    size: int = 3,
    confidence: float = 0.5,
    levels: Mapping[str, Elements] | None = None,
    bins: int | Mapping[str, int | Elements] = 8,
    baskets: bool = False,
    types: Mapping[str, str] | None = None,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "laplace", "gaussian"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[AssociationRules] | NoReply:
    """Rules such as 'of the rows with these values, 80% have that one', of the sets that most rows share.

    Parameters
      table       a DataFrame, a dict of columns, a Parquet or CSV file, or any other table that dpstats.protect takes
      columns     the columns that are asked about, by name; left out: all of the table
      k           how many sets are drawn, from 1 to 1,000
      size        how many items a set has at most, from 2 to 4
      confidence  the least confidence of rules that are shown
      levels      the labels of columns, where they are public: {'region': ['north', 'south']}; rows with other labels are left out. Columns of True and False have theirs; all others are found privately, which needs delta
      bins        about how many bins a column of numbers gets, which are found privately; or by column a number or a list of edges: {'age': [18, 30, 65]}
      baskets     True reads columns of 0 and 1, or of True and False, as things in a basket: an item is a column that is 1 or True
      types       declares columns of text or of no type: {'income': 'number'}
      epsilon     the privacy that the answer spends; required, for example 0.5
      delta       for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors   'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method      the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval    the confidence level of the interval, or None for none
      rough       True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit        what one row stands for, in words, for the card
      rng         dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      laplace   pure epsilon-DP: exact draws of sets by their counts, and whole-number Laplace noise on these
      gaussian  (epsilon, delta)-DP: exact draws of sets by their counts, and whole-number Gaussian noise, or Laplace where that is less

    Returns AssociationRules: each has .before, .after, .confidence and .lift with their ends; .to_pandas() has all, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def association_test(
    rows: Rows,
    columns: Rows,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "thresholded"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[CountsResult] | NoReply:
    """Whether two columns of labels are independent of each other (chi-square test), for labels that are not known beforehand.

    Parameters
      rows       values of any type: a list, a numpy array, a pandas or polars Series, an arrow array; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      columns    values of any type, of the same rows in the same order
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      thresholded  (epsilon, delta)-DP, may refuse: labels that many rows share, then noisy counts of their pairs

    Returns a result with statistic, p_value, estimate, df, and the noisy table as counts and expected, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def cdf(
    data: Rows,
    points: int = 31,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "universal"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[Distribution] | NoReply:
    """The cumulative distribution function: which fraction of the rows lies at or below each value.

    Parameters
      data       numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      points     how many equally spaced quantiles draw it (2**k - 1 is best)
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      universal  pure epsilon-DP, no bounds asked, no delta

    Returns a function F with F(x) the fraction of rows up to x, F.quantile(q), F.probabilities and F.values, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def chi_square_test(
    rows: Rows,
    columns: Rows,
    row_labels: Elements,
    column_labels: Elements,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "laplace"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[CountsResult] | NoReply:
    """Whether two columns of labels are independent of each other (chi-square test), for labels that are public.

    Parameters
      rows           values of any type: a list, a numpy array, a pandas or polars Series, an arrow array; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      columns        values of any type, of the same rows in the same order
      row_labels     the labels of the first column that count
      column_labels  the labels of the second column that count
      epsilon        the privacy that the answer spends; required, for example 0.5
      delta          for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors      'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method         the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval       the confidence level of the interval, or None for none
      rough          True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit           what one row stands for, in words, for the card
      rng            dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      laplace  pure epsilon-DP, no bounds asked, no delta, no refusal: noisy counts

    Returns a result with statistic, p_value, estimate, df, and the noisy table as counts and expected, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def contingency_table(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    ways: int = 2,
    levels: Mapping[str, Elements] | None = None,
    bins: int | Mapping[str, int | Elements] = 8,
    whole: bool = False,
    types: Mapping[str, str] | None = None,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "laplace", "gaussian", "fourier"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[ContingencyTables] | NoReply:
    """How many rows have each combination of the values of several columns: all tables of up to `ways` columns.

    Parameters
      table      a DataFrame, a dict of columns, a Parquet or CSV file, or any other table that dpstats.protect takes
      columns    the columns that are asked about, by name; left out: all of the table
      ways       how many columns a table has at most, from 1 to 4
      levels     the labels of columns, where they are public: {'region': ['north', 'south']}; rows with other labels are left out. Columns of True and False have theirs; all others are found privately, which needs delta
      bins       about how many bins a column of numbers gets, which are found privately; or by column a number or a list of edges: {'age': [18, 30, 65]}
      whole      True makes all counts whole and none negative, so that some table of rows has them
      types      declares columns of text or of no type: {'income': 'number'}
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      laplace   pure epsilon-DP: whole-number Laplace noise on what each set of columns adds to the tables of its parts
      gaussian  (epsilon, delta)-DP: whole-number Gaussian noise, or Laplace where that is less; labels of many rows are found
      fourier   pure epsilon-DP: as printed, for columns of two levels: even Laplace noise on all Fourier coefficients needed

    Returns ContingencyTables: tables['sex', 'region'] has .counts, .low, .high, .shares and .to_pandas(), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def correlation(
    x: Rows,
    y: Rows,
    kind: Literal["pearson", "spearman", "kendall"] = "pearson",
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "scores", "cells"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[float] | NoReply:
    """The correlation of two columns of the same rows, from -1 to 1.

    Parameters
      x          numbers: a list, a numpy array, a pandas or polars Series, an arrow array; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      y          numbers, of the same rows in the same order
      kind       'pearson' (linear, the default), 'spearman' or 'kendall' (of ranks, tied ones included; less noise)
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      scores  pure epsilon-DP, no bounds asked, no delta: pearson by steps along noisy sums of scores that are cut off at a privately found place, may refuse; kendall and spearman from noisy votes of pairs and triples of rows
      cells   pure epsilon-DP, no bounds asked, no delta, no refusal: pearson from rows that are cut off at privately found limits, kendall and spearman from noisy votes of pairs and triples of rows

    Returns a float, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def count(
    data: Rows,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "laplace"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[int] | NoReply:
    """How many rows hold a value (rows that are missing do not count).

    Parameters
      data       values of any type: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      laplace  pure epsilon-DP: whole-number Laplace noise of scale 1/epsilon

    Returns an int, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def covariance(
    x: Rows,
    y: Rows,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "scores", "clipped"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[float] | NoReply:
    """The covariance of two columns of the same rows.

    Parameters
      x          numbers: a list, a numpy array, a pandas or polars Series, an arrow array; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      y          numbers, of the same rows in the same order
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      scores   pure epsilon-DP, no bounds asked, no delta: from noisy sums of scores that are cut off at a privately found place; may refuse
      clipped  pure epsilon-DP, no bounds asked, no delta: rows are cut off at privately found limits

    Returns a float, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def decision_tree(
    X: Columns,
    y: Rows,
    classes: Elements | None = None,
    levels: Mapping[str, Elements] | None = None,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "agreement", "gaussian_agreement", "id3"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[DecisionTreeModel] | NoReply:
    """A classifier of rows that asks about one column after the other.

    Parameters
      X          the features, columns of any types: a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a missing cell counts as a value of its own
      y          the classes, values of any type: a list, a numpy array, a pandas or polars Series, an arrow array, of the same rows in the same order; a row without one of the classes is left out
      classes    the labels that y holds, where they are public: ['no', 'yes']; rows with others are left out. Without it they are 0 and 1 of a column of numbers, False and True, or declared keys; of labels they are found privately, which needs delta
      levels     the labels of features, where they are public: {'region': ['north', 'south']}; other labels count as one. Columns of True and False have theirs; all others are found privately, which needs delta
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      agreement           pure epsilon-DP: private cuts, splits drawn by how many rows they put right, and whole-number Laplace noise on leaves
      gaussian_agreement  (epsilon, delta)-DP: private cuts and labels, splits drawn by how many rows they put right, Gaussian noise on leaves
      id3                 pure epsilon-DP: as printed, features of most information gain by counts with whole-number Laplace noise

    Returns DecisionTreeModel with .predict(X), .predict_proba(X), .counts and .text(), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def density(
    data: Columns,
    *more: Columns,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "tree"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[Density] | NoReply:
    """The density of one to three columns of numbers, as a function that can be asked at any point.

    Parameters
      data       numbers: a list, a numpy array, a pandas or polars Series, an arrow array; of several columns a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      *more      further columns of the same rows in the same order, such as the outcome of a regression
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      tree  pure epsilon-DP, no bounds asked: boxes are halved where noisy counts say that rows are many, and counted with noise

    Returns a Density: density(points), .interval(points), .error(points), .probability(low, high), .to_pandas(), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def frequent_itemsets(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    k: int = 50,
    size: int = 3,
    levels: Mapping[str, Elements] | None = None,
    bins: int | Mapping[str, int | Elements] = 8,
    baskets: bool = False,
    types: Mapping[str, str] | None = None,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "laplace", "gaussian"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[Itemsets] | NoReply:
    """The combinations of values of up to `size` columns that most rows share, with their counts.

    Parameters
      table      a DataFrame, a dict of columns, a Parquet or CSV file, or any other table that dpstats.protect takes
      columns    the columns that are asked about, by name; left out: all of the table
      k          how many sets are drawn, from 1 to 1,000
      size       how many items a set has at most, from 1 to 4
      levels     the labels of columns, where they are public: {'region': ['north', 'south']}; rows with other labels are left out. Columns of True and False have theirs; all others are found privately, which needs delta
      bins       about how many bins a column of numbers gets, which are found privately; or by column a number or a list of edges: {'age': [18, 30, 65]}
      baskets    True reads columns of 0 and 1, or of True and False, as things in a basket: an item is a column that is 1 or True
      types      declares columns of text or of no type: {'income': 'number'}
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      laplace   pure epsilon-DP: exact draws of sets by their counts, and whole-number Laplace noise on these
      gaussian  (epsilon, delta)-DP: exact draws of sets by their counts, and whole-number Gaussian noise, or Laplace where that is less

    Returns Itemsets with .sets, .counts, .rows, .rules() and .to_pandas(), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def gaussian_mixture(
    data: Columns,
    *more: Columns,
    components: int = 3,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "steps", "gaussian_steps"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[MixtureFit] | NoReply:
    """A mixture of normal laws with independent columns: weights, means and variances of its components.

    Parameters
      data        numbers: a list, a numpy array, a pandas or polars Series, an arrow array; of several columns a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      *more       further columns of the same rows in the same order, such as the outcome of a regression
      components  how many components there are, from 1 to 50
      epsilon     the privacy that the answer spends; required, for example 0.5
      delta       for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors   'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method      the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval    the confidence level of the interval, or None for none
      rough       True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit        what one row stands for, in words, for the card
      rng         dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      steps           pure epsilon-DP, no delta, no bounds asked: from private clusters, by sums of rows that are divided among components in whole shares
      gaussian_steps  (epsilon, delta)-DP, no bounds asked: from private clusters, by sums of rows that are divided among components in whole shares

    Returns a MixtureFit with weights, means, variances, predict, predict_proba, score_samples and summary, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def goodness_of_fit_test(
    data: Rows,
    probabilities: Mapping[Any, Number] | Elements,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "laplace"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[CountsResult] | NoReply:
    """Whether labels have given probabilities (chi-square test).

    Parameters
      data           values of any type: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      probabilities  the probability of each label, such as {'a': 0.5, 'b': 0.5}, or a list of equally likely labels
      epsilon        the privacy that the answer spends; required, for example 0.5
      delta          for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors      'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method         the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval       the confidence level of the interval, or None for none
      rough          True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit           what one row stands for, in words, for the card
      rng            dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      laplace  pure epsilon-DP, no bounds asked, no delta, no refusal: noisy counts

    Returns a result with statistic, p_value, estimate, df, and the noisy table as counts and expected, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def histogram(
    data: Rows,
    bins: int | Elements = 10,
    kind: Literal["numbers", "labels"] | None = None,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "laplace", "thresholded"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[Histogram] | NoReply:
    """How many rows lie in each bin, of numbers or of labels.

    Parameters
      data       numbers, or values of any other type: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      bins       about how many bins numbers get (their edges are found privately), or a list of edges, or of labels; labels that are not listed need delta
      kind       'numbers' or 'labels': how a column is read that declares no type, such as a list
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      laplace      pure epsilon-DP: whole-number Laplace noise on every count, and edges found privately
      thresholded  (epsilon, delta)-DP: whole-number Laplace noise on every count, and labels shown from a threshold on

    Returns a Histogram with .edges or .labels, .counts, .low and .high, .shares, .rows and .bars(), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def interquantile_range(
    data: Rows,
    q: Elements = (0.25, 0.75),
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "universal", "dwork-lei", "dwork-roth", "ptr", "quartiles"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[float] | NoReply:
    """The distance between two quantiles: the width of a middle part of the rows.

    Parameters
      data       numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      q          the two quantiles, such as [0.1, 0.9]
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      universal   pure epsilon-DP, no bounds asked, no delta
      dwork-lei   (epsilon, delta)-DP, may refuse: Algorithm S, bins a factor 1 + 1/ln n wide
      dwork-roth  (epsilon, delta)-DP, may refuse: Algorithm 12 with its threshold corrected, bins a factor 2 wide
      ptr         (epsilon, delta)-DP, may refuse: one test of how far a row can move the logarithm, no bins
      quartiles   (epsilon, delta)-DP, may refuse: a coarse scale, then both quantiles located by one test

    Returns a float, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def iqr(
    data: Rows,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "universal", "dwork-lei", "dwork-roth", "ptr", "quartiles"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[float] | NoReply:
    """The interquartile range: the width of the middle half of the rows.

    Parameters
      data       numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      universal   pure epsilon-DP, no bounds asked, no delta
      dwork-lei   (epsilon, delta)-DP, may refuse: Algorithm S, bins a factor 1 + 1/ln n wide
      dwork-roth  (epsilon, delta)-DP, may refuse: Algorithm 12 with its threshold corrected, bins a factor 2 wide
      ptr         (epsilon, delta)-DP, may refuse: one test of how far a row can move the logarithm, no bins
      quartiles   (epsilon, delta)-DP, may refuse: a coarse scale, then both quantiles located by one test

    Returns a float, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def kmeans(
    data: Columns,
    *more: Columns,
    clusters: int = 5,
    standardize: bool = True,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "steps", "gaussian_steps"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[Clusters] | NoReply:
    """Clusters of rows by k-means: centers, sizes, and how much of the variance lies between them.

    Parameters
      data         numbers: a list, a numpy array, a pandas or polars Series, an arrow array; of several columns a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      *more        further columns of the same rows in the same order, such as the outcome of a regression
      clusters     how many clusters there are, from 1 to 50
      standardize  whether each column counts in units of its own private spread; False: all in those of the widest
      epsilon      the privacy that the answer spends; required, for example 0.5
      delta        for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors    'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method       the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval     the confidence level of the interval, or None for none
      rough        True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit         what one row stands for, in words, for the card
      rng          dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      steps           pure epsilon-DP, no delta, no bounds asked: seeds from a private tree, means of offsets from the own centre within a private radius
      gaussian_steps  (epsilon, delta)-DP, no bounds asked: seeds from a private tree, means of offsets from the own centre within a private radius

    Returns Clusters with centers, sizes, errors, predict, distances and summary, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def ks_test(
    data: Rows,
    distribution: Literal["normal", "uniform", "exponential", "laplace", "logistic", "lognormal", "cauchy"] = "normal",
    loc: Number = 0,
    scale: Number = 1,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "laplace"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[TestResult] | NoReply:
    """Whether the rows follow a given distribution (Kolmogorov's test).

    Parameters
      data          numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      distribution  its name: normal, uniform, exponential, laplace, logistic, lognormal, cauchy
      loc           its place, as scipy.stats has it: a normal one's mean, a uniform one's lower end
      scale         its scale, as scipy.stats has it: a normal one's standard deviation
      epsilon       the privacy that the answer spends; required, for example 0.5
      delta         for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors     'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method        the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval      the confidence level of the interval, or None for none
      rough         True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit          what one row stands for, in words, for the card
      rng           dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      laplace  pure epsilon-DP, no bounds asked, no delta, no refusal: the largest gap in rows, with noise

    Returns a result with statistic (the largest gap D), p_value, estimate (D too) and rows (noisy), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def linear_regression(
    X: Columns,
    y: Rows,
    intercept: bool = True,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "steps", "gaussian_steps", "huber", "gaussian_huber", "robust", "short_cut", "dwork-lei"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[RegressionFit] | NoReply:
    """A linear regression by least squares: how the mean of the outcome depends on features.

    Parameters
      X          the features: a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      y          the outcome, numbers: a list, a numpy array, a pandas or polars Series, an arrow array, of the same rows in the same order
      intercept  whether an intercept is fitted
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      steps           pure epsilon-DP, no delta, no bounds asked: noisy steps on scores that are cut off at a private reach; refuses where there are too few rows for so many features
      gaussian_steps  (epsilon, delta)-DP, no bounds asked: noisy steps on scores that are cut off at a private reach; refuses where there are too few rows for so many features
      huber           pure epsilon-DP, no delta, no bounds asked: noisy steps on scores in which no row counts for much; refuses where there are too few rows for so many features
      gaussian_huber  (epsilon, delta)-DP, no bounds asked: noisy steps on scores in which no row counts for much; refuses where there are too few rows for so many features
      robust          (epsilon, delta)-DP, may refuse: the least sum of |y - x.b| / ||x|| with noise, if no row can move it out of a cell
      short_cut       pure epsilon-DP, no bounds asked, no delta: medians of the coefficients that random blocks of rows determine; refuses where too few of them do
      dwork-lei       (epsilon, delta)-DP, may refuse: the short-cut regression R_s, medians of blocks' coefficients by Algorithm M

    Returns a RegressionFit with intercept, coef, names, predict and summary, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def logistic_regression(
    X: Columns,
    y: Rows,
    intercept: bool = True,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "steps", "gaussian_steps", "huber", "gaussian_huber"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[RegressionFit] | NoReply:
    """A logistic regression: how the log odds of an outcome of 0 or 1 depend on features.

    Parameters
      X          the features: a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      y          the outcome, numbers: a list, a numpy array, a pandas or polars Series, an arrow array, of the same rows in the same order
      intercept  whether an intercept is fitted
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      steps           pure epsilon-DP, no delta, no bounds asked: noisy steps on scores that are cut off at a private reach; refuses where there are too few rows for so many features
      gaussian_steps  (epsilon, delta)-DP, no bounds asked: noisy steps on scores that are cut off at a private reach; refuses where there are too few rows for so many features
      huber           pure epsilon-DP, no delta, no bounds asked: noisy steps on scores in which no row counts for much; refuses where there are too few rows for so many features
      gaussian_huber  (epsilon, delta)-DP, no bounds asked: noisy steps on scores in which no row counts for much; refuses where there are too few rows for so many features

    Returns a RegressionFit with intercept, coef, names, predict and summary, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def mann_whitney(
    values: Rows,
    by: Rows,
    groups: Elements,
    alternative: Literal["two-sided", "less", "greater"] = "two-sided",
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "laplace"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[TestResult] | NoReply:
    """Whether rows of one group tend to be higher than those of another (Mann and Whitney's test, Wilcoxon's rank sum).

    Parameters
      values       numbers: a list, a numpy array, a pandas or polars Series, an arrow array; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      by           values of any type, of the same rows in the same order
      groups       the two labels whose rows are compared, such as ['a', 'b']
      alternative  what speaks against the null hypothesis: 'two-sided', 'less' or 'greater'
      epsilon      the privacy that the answer spends; required, for example 0.5
      delta        for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors    'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method       the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval     the confidence level of the interval, or None for none
      rough        True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit         what one row stands for, in words, for the card
      rng          dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      laplace  pure epsilon-DP, no bounds asked, no delta, no refusal: the lead of one group in ranks, with noise

    Returns a result with statistic, p_value, estimate (the chance that a row of the first group is higher) and rows (noisy), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def mean(
    data: Rows,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "clipped", "counts"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[float] | NoReply:
    """The mean of the rows.

    Parameters
      data       numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      clipped  pure epsilon-DP, no bounds asked, no delta: rows are cut off at privately found limits
      counts   pure epsilon-DP, no bounds asked, no delta: noisy counts of the true rows and of the false ones; 'auto' takes it for columns of true and false

    Returns a float, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def median(
    data: Rows,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "universal", "dwork-lei", "ptr", "stable"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[float] | NoReply:
    """The middle value: half of the rows lie below it.

    Parameters
      data       numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      universal  pure epsilon-DP, no bounds asked, no delta
      dwork-lei  (epsilon, delta)-DP, may refuse: Algorithm M, the scale by Algorithm S
      ptr        (epsilon, delta)-DP, may refuse: one test against a bound that is proposed from a private scale
      stable     (epsilon, delta)-DP, may refuse: the value itself without noise, for data with many ties

    Returns a float, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def median_test(
    values: Rows,
    by: Rows,
    groups: Elements,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "laplace"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[CountsResult] | NoReply:
    """Whether groups of rows have the same median (Mood's test: the same share of each lies above the common one).

    Parameters
      values     numbers: a list, a numpy array, a pandas or polars Series, an arrow array; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      by         values of any type, of the same rows in the same order
      groups     the labels whose rows are compared, such as ['a', 'b', 'c']
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      laplace  pure epsilon-DP, no bounds asked, no delta, no refusal: noisy counts

    Returns a result with statistic, p_value, estimate, df, and the noisy table as counts and expected, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def mle(
    family: str | FrozenLaw | Model,
    data: Columns,
    *more: Columns,
    bounds: Bounds = None,
    blocks: Blocks = "auto",
    trials: int | None = None,
    components: int | None = None,
    fixed: Mapping[str, float] | None = None,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal[
        "auto", "scores", "gaussian_scores", "bounded_scores", "gaussian_bounded_scores", "blocks", "t_star"
    ] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[LikelihoodFit] | NoReply:
    """The parameters of a family of laws that rows follow, by maximum likelihood.

    Parameters
      family      normal, lognormal, exponential, gamma, weibull, beta, pareto, poisson, binomial, negative_binomial, normal_mixture, multivariate_normal, linear, logistic, poisson_regression, or a distribution of scipy.stats
      data        numbers: a list, a numpy array, a pandas or polars Series, an arrow array; of several columns a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      *more       further columns of the same rows in the same order, such as the outcome of a regression
      bounds      public ranges of the parameters, for t_star: {'shape': (0.1, 10), ...}
      blocks      into how many blocks rows are put, for t_star and blocks
      trials      of a binomial family: the public number of trials
      components  of a mixture: how many laws it has
      fixed       of a scipy distribution: parameters that are known, such as {'floc': 0}
      epsilon     the privacy that the answer spends; required, for example 0.5
      delta       for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors   'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method      the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval    the confidence level of the interval, or None for none
      rough       True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit        what one row stands for, in words, for the card
      rng         dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      scores                   pure epsilon-DP, no delta, no bounds asked: private quartiles, then noisy means of scores cut off at a private reach; refuses few rows
      gaussian_scores          (epsilon, delta)-DP, no bounds asked: private quartiles, then noisy means of scores cut off at a private reach; refuses few rows
      bounded_scores           pure epsilon-DP, no delta, no bounds asked: private quartiles, then noisy means of bounded scores of all rows; refuses where rows are too few
      gaussian_bounded_scores  (epsilon, delta)-DP, no bounds asked: private quartiles, then noisy means of bounded scores of all rows; refuses where rows are too few
      blocks                   pure epsilon-DP, no bounds asked, no delta: a bound-free mean of estimates of blocks
      t_star                   pure epsilon-DP, no delta: the average of estimates of blocks within public bounds

    Returns a LikelihoodFit with the parameters by name, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def mode(
    data: Rows,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "stable"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[str | int | float] | NoReply:
    """The most common value, of numbers, text or dates.

    Parameters
      data       values of any type: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      stable  (epsilon, delta)-DP, may refuse: the mode without noise, if it leads clearly

    Returns a number or a text, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def mwem(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    ways: int = 2,
    rounds: int | None = None,
    average: bool = False,
    levels: Mapping[str, Elements] | None = None,
    bins: Mapping[str, Elements] | None = None,
    types: Mapping[str, str] | None = None,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "laplace", "gaussian"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[WeightedUniverse] | NoReply:
    """Weights of all possible rows that learn, round by round, the counts that they miss most.

    Parameters
      table      a DataFrame, a dict of columns, a Parquet or CSV file, or any other table that dpstats.protect takes
      columns    the columns that are asked about, by name; left out: all of the table
      ways       how many columns the tables have whose cells are to come out right
      rounds     how many counts are measured; left out: by the number of columns
      average    True averages the weights over all rounds, as printed; the last ones are better
      levels     the labels of columns, where they are public: {'region': ['north', 'south']}; rows with other labels are left out. Columns of True and False have theirs; all others are found privately, which needs delta
      bins       the edges of columns of numbers, by column: {'age': [18, 30, 65]}
      types      declares columns of text or of no type: {'income': 'number'}
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      laplace   pure epsilon-DP: exact draws of queries, and whole-number Laplace noise on their counts
      gaussian  (epsilon, delta)-DP: exact draws of queries, and whole-number Gaussian noise on their counts

    Returns a WeightedUniverse with .total, .measurements, .marginal(...) and .to_pandas(), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def naive_bayes(
    X: Columns,
    y: Rows,
    classes: Elements | None = None,
    levels: Mapping[str, Elements] | None = None,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "counts", "gaussian_counts"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[AdditiveModel] | NoReply:
    """A classifier of rows by how often each class has each value of each column, as if columns were independent.

    Parameters
      X          the features, columns of any types: a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a missing cell counts as a value of its own
      y          the classes, values of any type: a list, a numpy array, a pandas or polars Series, an arrow array, of the same rows in the same order; a row without one of the classes is left out
      classes    the labels that y holds, where they are public: ['no', 'yes']; rows with others are left out. Without it they are 0 and 1 of a column of numbers, False and True, or declared keys; of labels they are found privately, which needs delta
      levels     the labels of features, where they are public: {'region': ['north', 'south']}; other labels count as one. Columns of True and False have theirs; all others are found privately, which needs delta
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      counts           pure epsilon-DP: private cuts, and whole-number Laplace noise on a table of classes by values for each column
      gaussian_counts  (epsilon, delta)-DP: private cuts and labels, and whole-number Gaussian noise on tables of classes by values

    Returns AdditiveModel with .predict(X), .predict_proba(X), .effects, .to_pandas() and .text(), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def nearest_neighbors(
    X: Columns,
    y: Rows,
    classes: Elements,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "tree"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[NeighborClasses] | NoReply:
    """Which class the rows around a point have, as a classifier that can be asked at any point.

    Parameters
      X          the features: a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      y          the outcome, values of any type: a list, a numpy array, a pandas or polars Series, an arrow array, of the same rows in the same order
      classes    the labels of the classes, such as ['no', 'yes']; other rows are left out
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      tree  pure epsilon-DP, no bounds asked: boxes are halved where noisy counts say that rows are many; then rows of each class are counted with noise

    Returns NeighborClasses: .predict(points), .predict_proba(points), .rows_around(point), .to_pandas(), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def pca(
    data: Columns,
    *more: Columns,
    components: int = 2,
    scale: bool = True,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "laplace_moments", "gaussian_moments"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[PrincipalComponents] | NoReply:
    """Principal components: directions in which columns vary together most.

    Parameters
      data        numbers: a list, a numpy array, a pandas or polars Series, an arrow array; of several columns a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      *more       further columns of the same rows in the same order, such as the outcome of a regression
      components  how many components, at most as many as columns
      scale       True divides columns by their standard deviations, False leaves them in their units
      epsilon     the privacy that the answer spends; required, for example 0.5
      delta       for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors   'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method      the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval    the confidence level of the interval, or None for none
      rough       True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit        what one row stands for, in words, for the card
      rng         dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      laplace_moments   pure epsilon-DP, no bounds asked, no delta: whole-number Laplace noise on sums and products of standardised rows
      gaussian_moments  (epsilon, delta)-DP, no bounds asked: whole-number Gaussian noise on sums and products of standardised rows

    Returns PrincipalComponents with .components, .explained_variance_ratio, .means, .scales and .transform(rows), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def poisson_regression(
    X: Columns,
    y: Rows,
    intercept: bool = True,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "steps", "gaussian_steps", "huber", "gaussian_huber"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[RegressionFit] | NoReply:
    """A Poisson regression: how the log of the mean of counts depends on features.

    Parameters
      X          the features: a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      y          the outcome, numbers: a list, a numpy array, a pandas or polars Series, an arrow array, of the same rows in the same order
      intercept  whether an intercept is fitted
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      steps           pure epsilon-DP, no delta, no bounds asked: noisy steps on scores that are cut off at a private reach; refuses where there are too few rows for so many features
      gaussian_steps  (epsilon, delta)-DP, no bounds asked: noisy steps on scores that are cut off at a private reach; refuses where there are too few rows for so many features
      huber           pure epsilon-DP, no delta, no bounds asked: noisy steps on scores in which no row counts for much; refuses where there are too few rows for so many features
      gaussian_huber  (epsilon, delta)-DP, no bounds asked: noisy steps on scores in which no row counts for much; refuses where there are too few rows for so many features

    Returns a RegressionFit with intercept, coef, names, predict and summary, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def proportion(
    data: Rows,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "counts"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[float] | NoReply:
    """The share of rows that are true, or that meet a condition.

    Parameters
      data       true and false, or 1 and 0: a list, a numpy array, a pandas or polars Series, an arrow array; missing rows are left out, too many others refused
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      counts  pure epsilon-DP, no bounds asked, no delta: noisy counts of the true rows and of the false ones

    Returns a float, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

@overload
def quantile(
    data: Rows,
    q: Number,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "universal", "dwork-lei", "ptr", "stable"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[float] | NoReply:
    """The value below which a fraction q of the rows lies; a list of q gives all of them for one epsilon.

    Parameters
      data       numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      q          which quantile, from 0 to 1 (0.5 is the median), or a list of them
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      universal  pure epsilon-DP, no bounds asked, no delta
      dwork-lei  (epsilon, delta)-DP, may refuse: Algorithm M, the scale by Algorithm S
      ptr        (epsilon, delta)-DP, may refuse: one test against a bound that is proposed from a private scale
      stable     (epsilon, delta)-DP, may refuse: the value itself without noise, for data with many ties

    Returns a float, or a tuple of floats in the order of the list, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

@overload
def quantile(
    data: Rows,
    q: Elements,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "universal", "dwork-lei", "ptr", "stable"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[tuple[float, ...]] | NoReply:
    """The value below which a fraction q of the rows lies; a list of q gives all of them for one epsilon.

    Parameters
      data       numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      q          which quantile, from 0 to 1 (0.5 is the median), or a list of them
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      universal  pure epsilon-DP, no bounds asked, no delta
      dwork-lei  (epsilon, delta)-DP, may refuse: Algorithm M, the scale by Algorithm S
      ptr        (epsilon, delta)-DP, may refuse: one test against a bound that is proposed from a private scale
      stable     (epsilon, delta)-DP, may refuse: the value itself without noise, for data with many ties

    Returns a float, or a tuple of floats in the order of the list, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def quantile_regression(
    X: Columns,
    y: Rows,
    quantile: Number = 0.5,
    intercept: bool = True,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "steps", "gaussian_steps"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[RegressionFit] | NoReply:
    """A quantile regression: how the median of the outcome, or another quantile, depends on features.

    Parameters
      X          the features: a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      y          the outcome, numbers: a list, a numpy array, a pandas or polars Series, an arrow array, of the same rows in the same order
      quantile   which quantile, from 0.05 to 0.95; 0.5 is the median
      intercept  whether an intercept is fitted
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      steps           pure epsilon-DP, no delta, no bounds asked: noisy steps on scores that are cut off at a private reach; refuses where there are too few rows for so many features
      gaussian_steps  (epsilon, delta)-DP, no bounds asked: noisy steps on scores that are cut off at a private reach; refuses where there are too few rows for so many features

    Returns a RegressionFit with intercept, coef, names, predict and summary, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

@overload
def select_family(
    data: Rows,
    families: Sequence[
        Literal[
            "normal",
            "lognormal",
            "gamma",
            "weibull",
            "exponential",
            "inverse_gaussian",
            "pareto",
            "beta",
            "laplace",
            "logistic",
            "cauchy",
            "student",
            "gumbel",
            "uniform",
            "poisson",
            "geometric",
            "negative_binomial",
        ]
    ] = ...,
    popularity: Literal[False] = False,
    blocks: Blocks = "auto",
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "noisy_max", "stable"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[str] | NoReply:
    """The family of laws, of a public list, that fits the numbers best.

    Parameters
      data        numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      families    two or more of normal, lognormal, gamma, weibull, exponential, inverse_gaussian, pareto, beta, laplace, logistic, cauchy, student, gumbel, uniform, poisson, geometric, negative_binomial
      popularity  whether a quarter of epsilon buys the winner's share of blocks
      blocks      how many random blocks of rows vote; 'auto' takes the least that comes through if a fifth of them disagree
      epsilon     the privacy that the answer spends; required, for example 0.5
      delta       for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors   'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method      the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval    the confidence level of the interval, or None for none
      rough       True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit        what one row stands for, in words, for the card
      rng         dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      noisy_max  pure epsilon-DP, no delta: the family that wins most blocks by Akaike's information criterion, by report-noisy-max
      stable     (epsilon, delta)-DP, may refuse: the family that wins most blocks, if its lead passes a test

    Returns the name of the family, or with popularity a PopularOption, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

@overload
def select_family(
    data: Rows,
    families: Sequence[
        Literal[
            "normal",
            "lognormal",
            "gamma",
            "weibull",
            "exponential",
            "inverse_gaussian",
            "pareto",
            "beta",
            "laplace",
            "logistic",
            "cauchy",
            "student",
            "gumbel",
            "uniform",
            "poisson",
            "geometric",
            "negative_binomial",
        ]
    ] = ...,
    *,
    popularity: Literal[True],
    blocks: Blocks = "auto",
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "noisy_max", "stable"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[PopularOption] | NoReply:
    """The family of laws, of a public list, that fits the numbers best.

    Parameters
      data        numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      families    two or more of normal, lognormal, gamma, weibull, exponential, inverse_gaussian, pareto, beta, laplace, logistic, cauchy, student, gumbel, uniform, poisson, geometric, negative_binomial
      popularity  whether a quarter of epsilon buys the winner's share of blocks
      blocks      how many random blocks of rows vote; 'auto' takes the least that comes through if a fifth of them disagree
      epsilon     the privacy that the answer spends; required, for example 0.5
      delta       for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors   'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method      the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval    the confidence level of the interval, or None for none
      rough       True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit        what one row stands for, in words, for the card
      rng         dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      noisy_max  pure epsilon-DP, no delta: the family that wins most blocks by Akaike's information criterion, by report-noisy-max
      stable     (epsilon, delta)-DP, may refuse: the family that wins most blocks, if its lead passes a test

    Returns the name of the family, or with popularity a PopularOption, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

@overload
def select_family(
    data: Rows,
    families: Sequence[
        Literal[
            "normal",
            "lognormal",
            "gamma",
            "weibull",
            "exponential",
            "inverse_gaussian",
            "pareto",
            "beta",
            "laplace",
            "logistic",
            "cauchy",
            "student",
            "gumbel",
            "uniform",
            "poisson",
            "geometric",
            "negative_binomial",
        ]
    ] = ...,
    popularity: bool = False,
    blocks: Blocks = "auto",
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "noisy_max", "stable"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[str | PopularOption] | NoReply:
    """The family of laws, of a public list, that fits the numbers best.

    Parameters
      data        numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      families    two or more of normal, lognormal, gamma, weibull, exponential, inverse_gaussian, pareto, beta, laplace, logistic, cauchy, student, gumbel, uniform, poisson, geometric, negative_binomial
      popularity  whether a quarter of epsilon buys the winner's share of blocks
      blocks      how many random blocks of rows vote; 'auto' takes the least that comes through if a fifth of them disagree
      epsilon     the privacy that the answer spends; required, for example 0.5
      delta       for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors   'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method      the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval    the confidence level of the interval, or None for none
      rough       True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit        what one row stands for, in words, for the card
      rng         dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      noisy_max  pure epsilon-DP, no delta: the family that wins most blocks by Akaike's information criterion, by report-noisy-max
      stable     (epsilon, delta)-DP, may refuse: the family that wins most blocks, if its lead passes a test

    Returns the name of the family, or with popularity a PopularOption, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def select_features(
    X: Columns,
    y: Rows,
    at_most: int | None = None,
    blocks: Blocks = "auto",
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "products", "gaussian_products", "stable", "each"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[SelectedFeatures] | NoReply:
    """The features that LASSO finds significant for the outcome.

    Parameters
      X          the features: a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      y          the outcome, numbers: a list, a numpy array, a pandas or polars Series, an arrow array, of the same rows in the same order
      at_most    the most features that LASSO may take, or None; 'each' is sharper with it
      blocks     how many random blocks of rows vote; 'auto' takes the least that comes through if a fifth of them disagree
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      products           pure epsilon-DP, no delta, may refuse: the features that LASSO finds in noisy correlations of all rows, which private medians and scales standardise and bound; by votes of blocks where these will say more
      gaussian_products  (epsilon, delta)-DP, may refuse: the features that LASSO finds in noisy correlations of all rows, which private medians and scales standardise and bound; by votes of blocks where these will say more
      stable             (epsilon, delta)-DP, may refuse: the set that LASSO finds in most blocks, without noise, if its lead passes a test
      each               pure epsilon-DP, no delta: the features that LASSO finds in more than half of the blocks, by noisy counts, or with at_most by a draw among all sets of at most that size

    Returns SelectedFeatures with names and indices, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

@overload
def select_model(
    X: Columns,
    y: Rows,
    models: Sequence[Literal["constant", "linear", "quadratic", "lasso", "ridge", "tree", "forest", "nearest", "logistic"]]
    | Mapping[str, Estimator] = ...,
    popularity: Literal[False] = False,
    blocks: Blocks = "auto",
    *,
    seconds: float = 60.0,
    workers: int | None = None,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "noisy_max", "stable"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[str] | NoReply:
    """The model, of a public list, that predicts the outcome best from the features.

    Parameters
      X           the features: a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      y           the outcome, numbers: a list, a numpy array, a pandas or polars Series, an arrow array, of the same rows in the same order
      models      two or more of constant, linear, quadratic, lasso, ridge, tree, forest, nearest, logistic; or a dict of scikit-learn estimators by name, which are fitted to arrays, each with a fixed seed
      popularity  whether a quarter of epsilon buys the winner's share of blocks
      blocks      how many random blocks of rows vote; 'auto' takes the least that comes through if a fifth of them disagree
      seconds     of own models: what a block may take; one that takes longer has no answer
      workers     of own models: processes, one for each core where it is left out; 0 runs them here, for finding faults
      epsilon     the privacy that the answer spends; required, for example 0.5
      delta       for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors   'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method      the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval    the confidence level of the interval, or None for none
      rough       True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit        what one row stands for, in words, for the card
      rng         dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      noisy_max  pure epsilon-DP, no delta: the model that wins most blocks by its error on unseen rows, by report-noisy-max
      stable     (epsilon, delta)-DP, may refuse: the model that wins most blocks, if its lead passes a test

    Returns the name of the model, or with popularity a PopularOption, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

@overload
def select_model(
    X: Columns,
    y: Rows,
    models: Sequence[Literal["constant", "linear", "quadratic", "lasso", "ridge", "tree", "forest", "nearest", "logistic"]]
    | Mapping[str, Estimator] = ...,
    *,
    popularity: Literal[True],
    blocks: Blocks = "auto",
    seconds: float = 60.0,
    workers: int | None = None,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "noisy_max", "stable"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[PopularOption] | NoReply:
    """The model, of a public list, that predicts the outcome best from the features.

    Parameters
      X           the features: a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      y           the outcome, numbers: a list, a numpy array, a pandas or polars Series, an arrow array, of the same rows in the same order
      models      two or more of constant, linear, quadratic, lasso, ridge, tree, forest, nearest, logistic; or a dict of scikit-learn estimators by name, which are fitted to arrays, each with a fixed seed
      popularity  whether a quarter of epsilon buys the winner's share of blocks
      blocks      how many random blocks of rows vote; 'auto' takes the least that comes through if a fifth of them disagree
      seconds     of own models: what a block may take; one that takes longer has no answer
      workers     of own models: processes, one for each core where it is left out; 0 runs them here, for finding faults
      epsilon     the privacy that the answer spends; required, for example 0.5
      delta       for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors   'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method      the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval    the confidence level of the interval, or None for none
      rough       True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit        what one row stands for, in words, for the card
      rng         dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      noisy_max  pure epsilon-DP, no delta: the model that wins most blocks by its error on unseen rows, by report-noisy-max
      stable     (epsilon, delta)-DP, may refuse: the model that wins most blocks, if its lead passes a test

    Returns the name of the model, or with popularity a PopularOption, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

@overload
def select_model(
    X: Columns,
    y: Rows,
    models: Sequence[Literal["constant", "linear", "quadratic", "lasso", "ridge", "tree", "forest", "nearest", "logistic"]]
    | Mapping[str, Estimator] = ...,
    popularity: bool = False,
    blocks: Blocks = "auto",
    *,
    seconds: float = 60.0,
    workers: int | None = None,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "noisy_max", "stable"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[str | PopularOption] | NoReply:
    """The model, of a public list, that predicts the outcome best from the features.

    Parameters
      X           the features: a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, a list of rows, a list of arrays or Series, each a column, or one column alone; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      y           the outcome, numbers: a list, a numpy array, a pandas or polars Series, an arrow array, of the same rows in the same order
      models      two or more of constant, linear, quadratic, lasso, ridge, tree, forest, nearest, logistic; or a dict of scikit-learn estimators by name, which are fitted to arrays, each with a fixed seed
      popularity  whether a quarter of epsilon buys the winner's share of blocks
      blocks      how many random blocks of rows vote; 'auto' takes the least that comes through if a fifth of them disagree
      seconds     of own models: what a block may take; one that takes longer has no answer
      workers     of own models: processes, one for each core where it is left out; 0 runs them here, for finding faults
      epsilon     the privacy that the answer spends; required, for example 0.5
      delta       for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors   'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method      the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval    the confidence level of the interval, or None for none
      rough       True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit        what one row stands for, in words, for the card
      rng         dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      noisy_max  pure epsilon-DP, no delta: the model that wins most blocks by its error on unseen rows, by report-noisy-max
      stable     (epsilon, delta)-DP, may refuse: the model that wins most blocks, if its lead passes a test

    Returns the name of the model, or with popularity a PopularOption, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def sign_test(
    data: Rows,
    median: Number = 0,
    alternative: Literal["two-sided", "less", "greater"] = "two-sided",
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "laplace"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[TestResult] | NoReply:
    """Whether the median of the rows is a given number, from how many rows lie above and below it.

    Parameters
      data         numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      median       the median under the null hypothesis
      alternative  what speaks against the null hypothesis: 'two-sided', 'less' or 'greater'
      epsilon      the privacy that the answer spends; required, for example 0.5
      delta        for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors    'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method       the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval     the confidence level of the interval, or None for none
      rough        True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit         what one row stands for, in words, for the card
      rng          dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      laplace  pure epsilon-DP, no bounds asked, no delta, no refusal: noisy counts

    Returns a result with statistic (half of the rows above less those below), p_value, estimate and rows (noisy), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def small_database(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    ways: int = 2,
    size: int | None = None,
    alpha: Number | None = None,
    levels: Mapping[str, Elements] | None = None,
    bins: Mapping[str, Elements] | None = None,
    types: Mapping[str, str] | None = None,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "exponential"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[SmallDatabase] | NoReply:
    """A few rows whose shares are like those of the table: the mechanism of Blum, Ligett and Roth.

    Parameters
      table      a DataFrame, a dict of columns, a Parquet or CSV file, or any other table that dpstats.protect takes
      columns    the columns that are asked about, by name; left out: all of the table
      ways       how many columns the tables have whose cells are to come out right
      size       how many rows the small database has; or give alpha
      alpha      in place of size: by how much some database of the size may miss a share, such as 0.2
      levels     the labels of columns, where they are public: {'region': ['north', 'south']}; rows with other labels are left out. Columns of True and False have theirs; all others are found privately, which needs delta
      bins       the edges of columns of numbers, by column: {'age': [18, 30, 65]}
      types      declares columns of text or of no type: {'income': 'number'}
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      exponential  pure epsilon-DP: one exact draw of the exponential mechanism over all databases of that size

    Returns a SmallDatabase with .rows, .counts, .marginal(...) and .to_pandas(), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def std(
    data: Rows,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "clipped"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[float] | NoReply:
    """The standard deviation of the rows (with n - 1).

    Parameters
      data       numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      clipped  pure epsilon-DP, no bounds asked, no delta: rows are cut off at privately found limits

    Returns a float, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def sum(
    data: Rows,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "clipped"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[float] | NoReply:
    """The sum of the rows.

    Parameters
      data       numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      clipped  pure epsilon-DP, no bounds asked, no delta: rows are cut off at privately found limits

    Returns a float, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def survival_curve(
    values: Rows,
    by: Rows,
    event: str | float | bool = 1,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "life_table"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[SurvivalCurve] | NoReply:
    """The share of subjects to whom an event has not happened by some time (Kaplan and Meier), from durations and a mark.

    Parameters
      values     numbers: a list, a numpy array, a pandas or polars Series, an arrow array; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      by         values of any type, of the same rows in the same order
      event      the label that marks an event in the second column; all other rows were watched until then without one
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      life_table  pure epsilon-DP, no bounds asked, no delta, may refuse: noisy counts between private quantiles of the times of events

    Returns a SurvivalCurve S with S(time), .times, .survival, .low, .high, .at_risk, .events, .median and .to_pandas(), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def synthesize(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    levels: Mapping[str, Elements] | None = None,
    focus: Elements | None = None,
    rows: int | None = None,
    guide: bool = False,
    types: Mapping[str, str] | None = None,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "rounds", "gaussian_rounds"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[SyntheticData] | NoReply:
    """Synthetic rows: a table like this one, of rows that nobody has.

    Parameters
      table      a DataFrame, a dict of columns, a Parquet or CSV file, or any other table that dpstats.protect takes
      columns    the columns that are asked about, by name; left out: all of the table
      levels     the labels of columns, where they are public: {'region': ['north', 'south']}; rows with other labels are left out. Columns of True and False have theirs; all others are found privately, which needs delta
      focus      columns whose tables with every other column are always measured
      rows       how many rows to draw; left out: about as many as there are
      guide      True marks the rows as a rough guide for writing questions, and measures fewer tables
      types      declares columns of text or of no type: {'income': 'number'}
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      rounds           pure epsilon-DP: private cuts, and whole-number Laplace noise on tables of one and two columns, some chosen privately
      gaussian_rounds  (epsilon, delta)-DP: private cuts and labels, and whole-number Gaussian noise on tables, some chosen privately

    Returns SyntheticData with .frame, .to_pandas(), .to_polars(), .to_arrow(), .table(...) and .interval(...), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def t_test(
    data: Rows,
    mean: Number = 0,
    alternative: Literal["two-sided", "less", "greater"] = "two-sided",
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "clipped"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[TestResult] | NoReply:
    """Whether the mean of the rows is a given number (Student's t test; for pairs, of a column of differences).

    Parameters
      data         numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      mean         the mean under the null hypothesis
      alternative  what speaks against the null hypothesis: 'two-sided', 'less' or 'greater'
      epsilon      the privacy that the answer spends; required, for example 0.5
      delta        for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors    'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method       the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval     the confidence level of the interval, or None for none
      rough        True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit         what one row stands for, in words, for the card
      rng          dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      clipped  pure epsilon-DP, no bounds asked, no delta, may refuse: rows are cut off at privately found limits

    Returns a result with statistic, p_value, estimate, df and rows (noisy), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def trimmed_mean(
    data: Rows,
    trim: Number = 0.1,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "universal", "ptr", "dwork-lei"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[float] | NoReply:
    """The mean of the rows that are left when a part of them is cut off at either end.

    Parameters
      data       numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      trim       the part cut off at either end, such as 0.1
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      universal  pure epsilon-DP, no bounds asked, no delta: rows are cut off at private quantiles
      ptr        (epsilon, delta)-DP, may refuse: one test of how far a row can move the mean
      dwork-lei  (epsilon, delta)-DP, may refuse: the range of the kept rows by Algorithm S, then noise for a multiple of it

    Returns a float, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def two_sample_ks_test(
    values: Rows,
    by: Rows,
    groups: Elements,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "laplace"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[TestResult] | NoReply:
    """Whether two groups of rows follow the same distribution (Smirnov's test).

    Parameters
      values     numbers: a list, a numpy array, a pandas or polars Series, an arrow array; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      by         values of any type, of the same rows in the same order
      groups     the two labels whose rows are compared, such as ['a', 'b']
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      laplace  pure epsilon-DP, no bounds asked, no delta, no refusal: the largest gap in rows, with noise

    Returns a result with statistic (the largest gap D), p_value, estimate (D too) and rows (noisy), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def two_sample_t_test(
    values: Rows,
    by: Rows,
    groups: Elements,
    alternative: Literal["two-sided", "less", "greater"] = "two-sided",
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "clipped"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[TestResult] | NoReply:
    """Whether two groups of rows have the same mean (Welch's t test).

    Parameters
      values       numbers: a list, a numpy array, a pandas or polars Series, an arrow array; a row that is missing in one column is left out of all; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      by           values of any type, of the same rows in the same order
      groups       the two labels whose rows are compared, such as ['a', 'b']
      alternative  what speaks against the null hypothesis: 'two-sided', 'less' or 'greater'
      epsilon      the privacy that the answer spends; required, for example 0.5
      delta        for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors    'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method       the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval     the confidence level of the interval, or None for none
      rough        True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit         what one row stands for, in words, for the card
      rng          dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      clipped  pure epsilon-DP, no bounds asked, no delta, may refuse: rows are cut off at privately found limits

    Returns a result with statistic, p_value, estimate, df and rows (noisy), in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def variance(
    data: Rows,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "clipped"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[float] | NoReply:
    """The variance of the rows (with n - 1).

    Parameters
      data       numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      clipped  pure epsilon-DP, no bounds asked, no delta: rows are cut off at privately found limits

    Returns a float, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """

def winsorized_mean(
    data: Rows,
    trim: Number = 0.1,
    *,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: Literal["auto", "universal"] = "auto",
    interval: Number | None = 0.95,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release[float] | NoReply:
    """The mean of the rows, where a part of them at either end counts as the nearest row that is kept.

    Parameters
      data       numbers: a list, a numpy array, a pandas or polars Series, an arrow array; rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0
      trim       the part pulled in at either end, such as 0.1
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it
      neighbors  'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)
      method     the method by name; 'auto' takes the first one listed below, or the one that a given delta serves
      interval   the confidence level of the interval, or None for none
      rough      True takes a rough answer, marked as such, where rows times epsilon are too few for a good one
      unit       what one row stands for, in words, for the card
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Methods and what they claim
      universal  pure epsilon-DP, no bounds asked, no delta: rows are cut off at private quantiles

    Returns a float, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """
