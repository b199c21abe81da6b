"""The stubs are current, and function, session method, group method and stub take the same words in the same order."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np
import pytest

import dpstats as dp
import dpstats.typing
from dpstats import block_functions, models
from dpstats.curator.classifier_words import ClassifierName, ClassifierWords, TableClassifierWords
from dpstats.curator.formula_classifiers import CLASSIFIERS
from dpstats.curator.formula_words import FormulaWords, ModelName, TableFormulaWords
from dpstats.curator.formulas import MODELS
from dpstats.curator.groups import Groups
from dpstats.curator.planning.plan import plan
from dpstats.curator.session import Session
from dpstats.foundations.calls import COMMON, FIXED
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import REQUIRED, ValueBy, find_statistic, statistic_names
from dpstats.statistics.aggregation.named_functions import NAMED
from dpstats.statistics.aggregation.plans import AGGREGATES
from dpstats.statistics.index import HOMES
from tests.statistics_index import index_text
from tests.stubs import INDEX, SOURCE, formatted, stubs

STATISTICS = statistic_names()
COMMON_WORDS = [word.name for word in COMMON]
ROWS = np.random.default_rng(5).normal(50, 10, 400)
LABELS = np.where(ROWS > 50, "high", "low")
ANSWERED: dict[str, dict[str, Any]] = {
    "chi_square_test": {"row_labels": ["high", "low"], "column_labels": ["high", "low"]},
    "goodness_of_fit_test": {"probabilities": {"high": 0.5, "low": 0.5}},
    "anova": {"groups": ["high", "low"]},
    "mann_whitney": {"groups": ["high", "low"]},
    "median_test": {"groups": ["high", "low"]},
    "survival_curve": {"event": "high"},
    "small_database": {"size": 3, "bins": {"number": [50]}, "levels": {"label": ["high", "low"]}},
    "mwem": {"bins": {"number": [50]}, "levels": {"label": ["high", "low"]}},
    "two_sample_ks_test": {"groups": ["high", "low"]},
    "two_sample_t_test": {"groups": ["high", "low"]},
    "quantile": {"q": 0.9},
    "mle": {"family": "normal"},
    "sample_and_aggregate": {"function": "median", "blocks": 20},
    "select_model": {"models": ["constant", "linear"], "blocks": 20},
    "nearest_neighbors": {"classes": ["high", "low"]},
}


@pytest.fixture(scope="module")
def survey() -> Session:
    return dp.protect({"label": ["a", "b"]}, unit="row", budget=dp.Budget(epsilon=1), ledger=":memory:")


def words_of(function: Any) -> list[str]:
    return list(inspect.signature(function).parameters)


def stub_words(folder: str, name: str, within: str = "") -> Iterator[list[str]]:
    """The words of a function in a stub, of each of its overloads."""
    tree: Any = ast.parse((SOURCE / folder).read_text(encoding="utf-8"))
    if within:
        (tree,) = [each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == within]
    for each in tree.body:
        if isinstance(each, ast.FunctionDef) and each.name == name:
            given = each.args
            more = [given.vararg.arg] if given.vararg else []
            yield [each.arg for each in given.args if each.arg != "self"] + more + [each.arg for each in given.kwonlyargs]


def test_the_index_of_statistics_is_current() -> None:
    assert INDEX.read_text(encoding="utf-8") == formatted(index_text(), INDEX), "run make stubs"


def test_a_statistic_is_loaded_when_it_is_looked_for_and_no_other_with_it() -> None:
    script = (
        "import dpstats, sys; dpstats.count; print(*(name for name in sys.modules if name.startswith('dpstats.statistics.')))"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "dpstats.statistics.counts" in loaded
    assert "dpstats.statistics.means" not in loaded


def test_methods_have_the_order_of_the_index_however_the_modules_were_loaded() -> None:
    script = (
        "import dpstats.statistics.short_cut_regression; from dpstats.foundations.registry import find_statistic as find; "
        "print(*find('linear_regression').methods)"
    )
    listed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert tuple(listed) == HOMES["linear_regression"].methods


def test_the_stubs_are_current() -> None:
    outdated = [path.name for path, text in stubs().items() if path.read_text(encoding="utf-8") != text]
    assert outdated == [], "run make stubs"


@pytest.mark.parametrize("name", STATISTICS)
def test_functions_sessions_groups_and_stubs_take_the_same_words_in_the_same_order(name: str, survey: Session) -> None:
    function, method = getattr(dp, name), getattr(survey, name)
    assert words_of(method) == words_of(getattr(survey.group_by("label"), name))
    for within in ("SessionMethods", "GroupMethods"):
        assert set(map(tuple, stub_words("curator/statistic_methods.pyi", name, within))) == {tuple(words_of(method))}
    own = [parameter.name for parameter in find_statistic(name).parameters]
    of_method = [{"column": "data"}.get(word, word) for word in words_of(method)]
    of_function = [word for word in words_of(function) if word not in FIXED]
    if name == "sample_and_aggregate":  # it runs any function, and knows more of what that may return; how many blocks is public
        of_method = [word for word in of_method if word not in ("more", "method", "rough")]
        assert [word for word in of_function if word in of_method] == of_method
        return
    assert set(map(tuple, stub_words("functions.pyi", name))) == {tuple(words_of(function))}
    if find_statistic(name).takes_tables:  # a function takes the table, and what declares its columns
        of_function = [word for word in of_function if word not in ("table", "types")]
        of_method = [word for word in of_method if word != "more"]
    assert [word for word in of_function if word not in ("seconds", "workers")] == of_method
    assert [word for word in of_method if word in own] == own
    assert [word for word in words_of(function) if word in COMMON_WORDS] == COMMON_WORDS


@pytest.mark.parametrize(
    "function", [dp.regression, dp.sample_and_aggregate, dp.aggregate_choices, dp.a_samp, plan, models.LinearRegression]
)
def test_what_all_take_comes_in_one_order_wherever_it_is_taken(function: Any) -> None:
    common = [word for word in words_of(function) if word in COMMON_WORDS]
    order = [word for word in COMMON_WORDS if word in common]
    if function is dp.regression:  # what a protected table fixes comes after what sessions take too
        order = sorted(order, key=lambda word: word in FIXED)
    assert common == order
    assert len(common) >= 5


def test_what_is_called_the_same_comes_in_one_order_in_all_functions_of_blocks() -> None:
    order = words_of(dp.sample_and_aggregate)
    for function in (dp.aggregate_choices, dp.a_samp):
        shared = [word for word in words_of(function) if word in order]
        assert shared == [word for word in order if word in shared]


@pytest.mark.parametrize(
    ("name", "words", "of_tables"),
    [("regression", FormulaWords, TableFormulaWords), ("classification", ClassifierWords, TableClassifierWords)],
)
def test_questions_by_a_formula_take_one_list_of_words(name: str, words: type, of_tables: type) -> None:
    shared, function = words_of(words), getattr(dp, name)
    assert words_of(getattr(Session, name)) == words_of(getattr(Groups, name)) == ["self", *shared]
    assert words_of(function) == words_of(of_tables)
    assert [word for word in words_of(function) if word in shared] == shared
    assert inspect.signature(function).parameters["epsilon"].default is REQUIRED


def test_plans_of_sessions_take_the_words_of_plans_in_their_order() -> None:
    of_session = [word for word in words_of(Session.plan) if word in words_of(dp.plan)]
    left_out = {"features", "parameters", *FIXED}
    assert of_session == [word for word in words_of(dp.plan) if word not in left_out]


@pytest.mark.parametrize("name", dp.models.__all__)
def test_every_estimator_takes_the_words_of_its_statistic(name: str) -> None:
    model = getattr(dp.models, name)
    called = {"intercept": "fit_intercept", "clusters": "n_clusters", "components": "n_components"}
    words = {called.get(word, word) for word in words_of(getattr(dp, model._statistic))}
    extra = {"LogisticRegression": {"classes"}, "KNeighborsClassifier": {"n_neighbors"}}.get(name, set())
    assert set(words_of(model)) - extra == words - {"X", "y", "data", "more"}


@pytest.mark.parametrize(
    ("literal", "names"),
    [
        (block_functions.FunctionName, NAMED),
        (block_functions.AggregateName, AGGREGATES),
        (ModelName, MODELS),
        (ClassifierName, CLASSIFIERS),
        (get_args(dpstats.typing.NeighborsName)[1], [each.value for each in Neighbors]),
    ],
)
def test_names_that_are_written_out_for_type_checkers_are_those_that_there_are(literal: Any, names: Any) -> None:
    assert set(get_args(literal)) == set(names)


def test_every_parameter_and_every_value_has_a_type() -> None:
    untyped = [
        f"{name}: {parameter.name}"
        for name in STATISTICS
        for parameter in find_statistic(name).parameters
        if parameter.takes is Any
    ]
    assert untyped == []
    assert [name for name in STATISTICS if find_statistic(name).value is Any] == []


def is_of(value: object, kind: Any) -> bool:
    """Whether a value has a type, as a type checker would say: whole numbers are numbers too."""
    if kind is float:
        return isinstance(value, (float, int))
    if isinstance(kind, types.UnionType) or get_origin(kind) is Union:
        return any(is_of(value, each) for each in get_args(kind))
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(is_of(each, get_args(kind)[0]) for each in value)
    return isinstance(value, kind)


def columns_of(name: str) -> dict[str, Any]:
    """Suitable columns by the words of a statistic's function."""
    columns = {"data": ROWS, "x": ROWS, "y": ROWS + 1, "values": ROWS, "by": LABELS, "rows": LABELS, "columns": LABELS}
    columns["X"] = np.column_stack([ROWS, ROWS**2])
    if find_statistic(name).takes_tables:
        return {"table": {"number": ROWS, "label": LABELS}, "columns": ["number", "label"]}
    if name in ("goodness_of_fit_test", "mode"):
        columns["data"] = LABELS
    if name == "proportion":
        columns["data"] = ROWS.mean() < ROWS
    if name == "pca":
        columns["data"] = columns["X"]
    if name == "nearest_neighbors":
        columns["y"] = LABELS
    if name == "logistic_regression":
        columns["y"] = (ROWS[::-1] + ROWS > 100).astype(float)  # a feature that told all would have no largest likelihood
    return {word: column for word, column in columns.items() if word in words_of(getattr(dp, name))}


@pytest.mark.parametrize("name", STATISTICS)
def test_all_words_may_be_given_by_name_and_the_value_has_the_type_that_is_stated(name: str) -> None:
    statistic, given = find_statistic(name), {**columns_of(name), **ANSWERED.get(name, {})}
    release = getattr(dp, name)(**given, epsilon=100, delta=1e-6, rng=dp.testing.seeded(3))
    assert isinstance(release, dp.Release)
    stated = statistic.value.cases[0][1] if isinstance(statistic.value, ValueBy) else statistic.value
    assert is_of(release.value, stated), type(release.value)


def test_a_value_whose_type_goes_by_a_parameter_has_the_type_of_that_case() -> None:
    several = dp.quantile(ROWS, [0.1, 0.9], epsilon=10)
    assert isinstance(several, dp.Release)
    assert is_of(several.value, tuple[float, ...])
    popular = dp.select_family(ROWS, popularity=True, epsilon=100)
    assert isinstance(popular, dp.Release)
    assert isinstance(popular.value, dpstats.typing.PopularOption)


def test_types_tell_wrong_values_apart() -> None:
    assert not is_of("a", float)
    assert not is_of((1.0, "a"), tuple[float, ...])
    assert not is_of(1.5, str | int)
    assert get_origin(block_functions.AggregateName) is Literal


def test_the_types_for_annotations_are_sorted_and_exist() -> None:
    assert dpstats.typing.__all__ == sorted(dpstats.typing.__all__)
    assert all(hasattr(dpstats.typing, name) for name in dpstats.typing.__all__)


def test_the_wheel_holds_the_stubs() -> None:
    settings = (Path(SOURCE).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert '"*" = ["py.typed", "*.pyi"' in settings
    assert (SOURCE / "py.typed").exists()
