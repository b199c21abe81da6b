# Written by `make stubs` from the modules beside it: do not edit.
"""Where each statistic is registered, and its methods in order."""

from __future__ import annotations

from dpstats.foundations.registry import Home

HOMES = {
    "additive_classifier": Home(("dpstats.statistics.classifiers",), ("boosting", "gaussian_boosting")),
    "anova": Home(("dpstats.statistics.analyses_of_variance",), ("clipped", "thresholded")),
    "association_rules": Home(("dpstats.statistics.frequent_itemsets",), ("laplace", "gaussian")),
    "association_test": Home(("dpstats.statistics.chi_square",), ("thresholded",)),
    "cdf": Home(("dpstats.statistics.distribution",), ("universal",)),
    "chi_square_test": Home(("dpstats.statistics.chi_square",), ("laplace",)),
    "contingency_table": Home(("dpstats.statistics.contingency_tables",), ("laplace", "gaussian", "fourier")),
    "correlation": Home(("dpstats.statistics.correlations",), ("scores", "cells")),
    "count": Home(("dpstats.statistics.counts",), ("laplace",)),
    "covariance": Home(("dpstats.statistics.correlations",), ("scores", "clipped")),
    "decision_tree": Home(("dpstats.statistics.decision_trees",), ("agreement", "gaussian_agreement", "id3")),
    "density": Home(("dpstats.statistics.densities",), ("tree",)),
    "frequent_itemsets": Home(("dpstats.statistics.frequent_itemsets",), ("laplace", "gaussian")),
    "gaussian_mixture": Home(("dpstats.statistics.gaussian_mixtures",), ("steps", "gaussian_steps")),
    "goodness_of_fit_test": Home(("dpstats.statistics.chi_square",), ("laplace",)),
    "histogram": Home(("dpstats.statistics.histograms",), ("laplace", "thresholded")),
    "interquantile_range": Home(
        ("dpstats.statistics.scale", "dpstats.statistics.propose_test_release.range_methods"),
        ("universal", "dwork-lei", "dwork-roth", "ptr", "quartiles"),
    ),
    "iqr": Home(
        ("dpstats.statistics.scale", "dpstats.statistics.propose_test_release.range_methods"),
        ("universal", "dwork-lei", "dwork-roth", "ptr", "quartiles"),
    ),
    "kmeans": Home(("dpstats.statistics.kmeans",), ("steps", "gaussian_steps")),
    "ks_test": Home(("dpstats.statistics.kolmogorov",), ("laplace",)),
    "linear_regression": Home(
        (
            "dpstats.statistics.step_regressions",
            "dpstats.statistics.robust_regression",
            "dpstats.statistics.short_cut_regression",
        ),
        ("steps", "gaussian_steps", "huber", "gaussian_huber", "robust", "short_cut", "dwork-lei"),
    ),
    "logistic_regression": Home(("dpstats.statistics.step_regressions",), ("steps", "gaussian_steps", "huber", "gaussian_huber")),
    "mann_whitney": Home(("dpstats.statistics.rank_sum_tests",), ("laplace",)),
    "mean": Home(("dpstats.statistics.means", "dpstats.statistics.proportions"), ("clipped", "counts")),
    "median": Home(
        ("dpstats.statistics.quantiles", "dpstats.statistics.propose_test_release.quantile_methods"),
        ("universal", "dwork-lei", "ptr", "stable"),
    ),
    "median_test": Home(("dpstats.statistics.median_tests",), ("laplace",)),
    "mle": Home(
        ("dpstats.statistics.maximum_likelihood",),
        ("scores", "gaussian_scores", "bounded_scores", "gaussian_bounded_scores", "blocks", "t_star"),
    ),
    "mode": Home(("dpstats.statistics.propose_test_release.modes",), ("stable",)),
    "mwem": Home(("dpstats.statistics.universes",), ("laplace", "gaussian")),
    "naive_bayes": Home(("dpstats.statistics.classifiers",), ("counts", "gaussian_counts")),
    "nearest_neighbors": Home(("dpstats.statistics.nearest_neighbors",), ("tree",)),
    "pca": Home(("dpstats.statistics.principal_components",), ("laplace_moments", "gaussian_moments")),
    "poisson_regression": Home(("dpstats.statistics.step_regressions",), ("steps", "gaussian_steps", "huber", "gaussian_huber")),
    "proportion": Home(("dpstats.statistics.proportions",), ("counts",)),
    "quantile": Home(
        ("dpstats.statistics.quantiles", "dpstats.statistics.propose_test_release.quantile_methods"),
        ("universal", "dwork-lei", "ptr", "stable"),
    ),
    "quantile_regression": Home(("dpstats.statistics.step_regressions",), ("steps", "gaussian_steps")),
    "sample_and_aggregate": Home(("dpstats.statistics.sample_and_aggregate",), ("numbers", "tested")),
    "select_family": Home(("dpstats.statistics.selections",), ("noisy_max", "stable")),
    "select_features": Home(("dpstats.statistics.feature_selections",), ("products", "gaussian_products", "stable", "each")),
    "select_model": Home(("dpstats.statistics.selections",), ("noisy_max", "stable")),
    "sign_test": Home(("dpstats.statistics.sign_tests",), ("laplace",)),
    "small_database": Home(("dpstats.statistics.universes",), ("exponential",)),
    "std": Home(("dpstats.statistics.spreads",), ("clipped",)),
    "sum": Home(("dpstats.statistics.means",), ("clipped",)),
    "survival_curve": Home(("dpstats.statistics.survival_curves",), ("life_table",)),
    "synthesize": Home(("dpstats.statistics.synthetic_data",), ("rounds", "gaussian_rounds")),
    "t_test": Home(("dpstats.statistics.t_tests",), ("clipped",)),
    "trimmed_mean": Home(("dpstats.statistics.propose_test_release.trimmed_means",), ("universal", "ptr", "dwork-lei")),
    "two_sample_ks_test": Home(("dpstats.statistics.kolmogorov",), ("laplace",)),
    "two_sample_t_test": Home(("dpstats.statistics.t_tests",), ("clipped",)),
    "variance": Home(("dpstats.statistics.spreads",), ("clipped",)),
    "winsorized_mean": Home(("dpstats.statistics.winsorized",), ("universal",)),
}
