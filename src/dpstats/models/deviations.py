"""Where the estimators do not do what scikit-learn's `check_estimator` asks for, and why they cannot.

`check_estimator(model, expected_failed_checks=DEVIATIONS[type(model).__name__])` passes.
"""

from __future__ import annotations

_ALL_ESTIMATORS = {
    "check_dtype_object": "An element that is no number makes its row a missing one; an error would tell that there is one.",
    "check_estimators_empty_data_messages": (
        "The number of rows is private, and so is that there are none: that is a `NoReplyError` at full cost, like every refusal."
    ),
    "check_fit2d_1sample": (
        "The number of rows is private: a single row is refused like any small table, by a `NoReplyError` that counts nothing."
    ),
}
_WITH_OUTCOME = {
    **_ALL_ESTIMATORS,
    "check_supervised_y_no_nan": (
        "A row without an outcome is left out, and an infinite outcome counts as the largest or smallest number; an error would "
        "tell that there is such a row."
    ),
}
_NOT_FINITE = (
    "A fit leaves rows with missing cells out, and infinities count as the largest and smallest numbers; an error would tell "
    "that there are some. A prediction for such a row, which is the caller's, is an error."
)
_UNSUPERVISED = {**_ALL_ESTIMATORS, "check_estimators_nan_inf": _NOT_FINITE}
_NOT_LOOKED_UP = (
    "Which labels are in y is private, so they are not looked up there: others than 0 and 1 are listed with `classes=`."
)
_OTHER_LABELS = "Rows whose label is not one of the classes are left out; an error would tell that there are some."
_WITH_CLASSES = {
    **_WITH_OUTCOME,
    "check_estimators_nan_inf": _NOT_FINITE,
    "check_classifiers_classes": _NOT_LOOKED_UP,
    "check_classifiers_regression_target": _OTHER_LABELS,
    "check_classifier_not_supporting_multiclass": _OTHER_LABELS,
}
_OF_CODES = {
    "check_dtype_object": (
        "An array of objects has labels, for its elements must not decide it, and labels are listed or found with delta: pass an "
        "array of numbers, or a data frame."
    ),
    **{name: _WITH_OUTCOME[name] for name in ("check_estimators_empty_data_messages", "check_supervised_y_no_nan")},
    "check_classifiers_classes": _NOT_LOOKED_UP,
    "check_classifiers_train": _NOT_LOOKED_UP,
    "check_classifiers_regression_target": _OTHER_LABELS,
}

DEVIATIONS: dict[str, dict[str, str]] = {
    "AdditiveClassifier": _OF_CODES,
    "DecisionTree": _OF_CODES,
    "GaussianMixture": _UNSUPERVISED,
    "KMeans": _UNSUPERVISED,
    "KNeighborsClassifier": _WITH_CLASSES,
    "LinearRegression": _WITH_OUTCOME,
    "LogisticRegression": _WITH_CLASSES,
    "NaiveBayes": _OF_CODES,
    "PCA": _ALL_ESTIMATORS,
    "PoissonRegressor": _WITH_OUTCOME,
    "QuantileRegressor": _WITH_OUTCOME,
}
"""By estimator, the checks that fail, and why."""
