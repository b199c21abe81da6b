"""Formulas: what they say, that they look at one row at a time, and that nothing in them is run."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpstats as dp
from dpstats.engines.cells import ColumnType
from dpstats.engines.expressions import Expression
from dpstats.engines.formulas.coding import FactorPart, coded_terms
from dpstats.engines.formulas.design import Design, declared_levels, read_design
from dpstats.engines.formulas.new_rows import design_rows
from dpstats.engines.formulas.parse import parse_formula
from dpstats.engines.stores.memory import MemoryStore
from dpstats.engines.tables.table import StoreTable
from dpstats.engines.views import TableView

SCHEMA = {
    "age": ColumnType.INTEGER,
    "income": ColumnType.NUMBER,
    "region": ColumnType.TEXT,
    "shift": ColumnType.TEXT,
    "flag": ColumnType.BOOLEAN,
    "born": ColumnType.MOMENT,
    "code": ColumnType.UNDECLARED,
    "net income": ColumnType.NUMBER,
    "nested": ColumnType.OTHER,
}
LEVELS = {"region": ["north", "south", "west"], "shift": ["day", "night"]}


def design_of(formula: Any, **settings: Any) -> Design:
    return read_design(formula, SCHEMA, known_levels=LEVELS, **settings)


def texts(formula: str, **settings: Any) -> dict[str, str]:
    return {name: str(Expression(node)) for name, node in design_of(formula, **settings).features.items()}


def table(rows: int = 60) -> pd.DataFrame:
    chance = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "age": chance.integers(18, 80, rows),
            "income": chance.gamma(3.0, 900.0, rows),
            "region": chance.choice(LEVELS["region"], rows),
            "shift": chance.choice(LEVELS["shift"], rows),
            "flag": chance.random(rows) < 0.5,
            "net income": chance.gamma(3.0, 700.0, rows),
        }
    )


def test_factors_become_expressions_of_a_row() -> None:
    assert texts("income ~ age + log(age) + I(age**2) + {age / 2} + code + `net income` + log(`net income`)") == {
        "age": "age",
        "log(age)": "log(age)",
        "I(age ** 2)": "age ** 2",
        "age / 2": "age / 2",
        "code": "code",
        "net income": "col('net income')",
        "log(`net income`)": "log(col('net income'))",
    }
    assert texts("income ~ Q('net income')") == {"net income": "col('net income')"}


def test_the_outcome_may_be_an_expression_or_a_condition() -> None:
    for formula, name, text in [
        ("log(income) ~ age", "log(income)", "log(income)"),
        ("flag ~ age", "flag", "flag"),
        ("{region == 'north'} ~ age", "region == 'north'", "region == 'north'"),
    ]:
        outcome = design_of(formula).outcome
        assert (outcome.name, str(Expression(outcome.node))) == (name, text)


def test_categories_are_columns_for_all_levels_but_the_reference() -> None:
    among = "region in ['north', 'south', 'west']"
    assert texts("income ~ C(region)") == {
        "C(region)[T.south]": f"region == 'south' if {among} else None",
        "C(region)[T.west]": f"region == 'west' if {among} else None",
    }
    assert list(texts("income ~ region")) == ["region[T.south]", "region[T.west]"]
    assert list(texts("income ~ region - 1")) == ["region[north]", "region[south]", "region[west]"]
    assert list(texts("income ~ C(region, levels=['west', 'south'])")) == ["C(region)[T.south]"]
    assert texts("income ~ flag + I(age > 65)") == {"flag[T.True]": "flag", "I(age > 65)[T.True]": "age > 65"}
    assert texts("income ~ 0 + flag") == {"flag[False]": "not flag", "flag[True]": "flag"}
    assert list(texts("income ~ C(age, levels=[20, 30]) + C(lower(shift), levels=['a', 'b'])")) == [
        "C(age)[T.30]",
        "C(lower(shift))[T.b]",
    ]


def test_levels_of_dates_numbers_and_undeclared_columns() -> None:
    days = [datetime.date(2024, 1, 31), datetime.date(2024, 2, 1)]
    assert texts("income ~ C(born)", levels={"born": days}) == {
        "C(born)[T.2024-02-01]": "born == '2024-02-01' if born in ['2024-01-31', '2024-02-01'] else None"
    }
    assert texts("income ~ C(code)", levels={"code": np.array([1, 2])}) == {
        "C(code)[T.2]": "code == 2 if code in [1, 2] else None"
    }
    read = design_of("income ~ C(code, levels=['a', 'b'])").features["C(code)[T.b]"]
    assert Expression(read).columns == (("code", ColumnType.TEXT),)


def test_levels_in_the_formula_go_before_those_that_are_given_and_these_before_known_ones() -> None:
    assert design_of("income ~ C(region, levels=['b', 'a'])").describe_levels() == "region: b (reference), a"
    assert design_of("income ~ C(region)", levels={"region": ["c", "d"]}).describe_levels() == "region: c (reference), d"
    assert design_of("income ~ C(region)").describe_levels() == "region: north (reference), south, west"
    assert [each.key for each in read_design("income ~ C(region) + region:age + flag", SCHEMA).unknown] == ["region"]


def test_a_dot_is_all_other_columns_of_numbers() -> None:
    assert list(texts("income ~ .")) == ["age", "net income"]
    assert list(texts("income ~ . - age")) == ["net income"]
    assert list(texts("log(income) ~ .", left_out=["net income"])) == ["age"]


@pytest.mark.parametrize("formula", ["income ~ age - 1", "income ~ 0 + age", "income ~ age + 0", "income ~ -1 + age"])
def test_an_intercept_can_be_left_out(formula: str) -> None:
    assert not design_of(formula).formula.intercept
    assert design_of("income ~ age").formula.intercept


SPANNING = [
    "income ~ age + region",
    "income ~ age * region",
    "income ~ age + age:region",
    "income ~ age:region",
    "income ~ region:shift",
    "income ~ region * shift * flag",
    "income ~ shift + region:shift",
    "income ~ region:shift + shift",
    "income ~ 0 + region + shift",
    "income ~ 0 + region:shift",
    "income ~ 0 + age:region + shift",
    "income ~ (age + region + shift)**2",
    "income ~ age / region",
    "income ~ log(age) + I(age**2) + C(region):age",
]


@pytest.mark.parametrize("formula", SPANNING)
def test_the_design_says_what_formulaic_says_and_nothing_twice(formula: str) -> None:
    frame = table()
    design = design_of(formula)
    ours = design_rows(design.on(TableView(SCHEMA)), tuple(design.features))(frame)
    import formulaic

    context = {"log": np.log}
    theirs = np.asarray(formulaic.model_matrix(formula.partition("~")[2], frame, context=context), dtype=float)
    whole = np.column_stack([np.ones(len(frame)), ours]) if design.formula.intercept else ours
    rank = np.linalg.matrix_rank(whole)
    assert rank == whole.shape[1] == theirs.shape[1]
    assert np.linalg.matrix_rank(np.column_stack([whole, theirs])) == rank


def test_column_names_are_those_that_formulaic_has() -> None:
    import formulaic

    for formula in ("income ~ age * C(region)", "income ~ 0 + region + I(age**2)", "income ~ region:age + shift"):
        theirs = list(formulaic.model_matrix(formula.partition("~")[2], table()).columns)
        ours = list(design_of(formula).features)
        assert sorted(ours) == sorted(name for name in theirs if name != "Intercept")


def test_what_a_row_gives_depends_on_that_row_alone() -> None:
    frame = table(20)
    design = design_of("income ~ log(age) * C(region) + flag:shift")
    rows_of = design_rows(design.on(TableView(SCHEMA)), tuple(design.features))
    together = rows_of(frame)
    alone = np.concatenate([rows_of(frame.iloc[[place]]) for place in range(len(frame))])
    assert np.array_equal(together, alone)


def test_rows_with_a_label_that_is_not_listed_are_left_out() -> None:
    frame = table(30)
    frame.loc[:4, "region"] = "elsewhere"
    frame.loc[5:6, "region"] = None
    schema = {name: kind for name, kind in SCHEMA.items() if name in frame}
    for formula in ("income ~ region", "income ~ 0 + region", "income ~ age:region"):
        design = design_of(formula)
        opened = StoreTable(MemoryStore(dict(frame)), design.on(TableView(schema)), design.columns, [True] * len(design.columns))
        assert len(opened.matrix()) == 23
        predicted = design_rows(design.on(TableView(schema)), tuple(design.features))(frame)
        assert np.isnan(predicted).any(axis=1).sum() == 7


def test_new_rows_may_have_fractions_and_come_one_by_one() -> None:
    design = design_of("income ~ log(age) + flag + age")
    rows_of = design_rows(design.on(TableView(SCHEMA)), tuple(design.features))
    for data in ({"age": 2.5, "flag": True}, {"age": [2.5], "flag": [True]}, pd.DataFrame({"age": [2.5], "flag": [True]})):
        found = dict(zip(design.features, rows_of(data)[0], strict=True))
        assert found == pytest.approx({"log(age)": np.log(2.5), "flag[T.True]": 1.0, "age": 2.5})
    with pytest.raises(dp.UnknownNameError, match="no column flag"):
        rows_of({"age": [1]})
    with pytest.raises(dp.DataTypeError, match="data frame, or a dict"):
        rows_of(3)


@pytest.mark.parametrize(
    ("formula", "error", "words"),
    [
        (3, dp.InvalidParameterError, "must be a text, got int"),
        ("income ~ age |", dp.InvalidParameterError, "is not clear: write it like"),
        ("income ~ age | region", dp.InvalidParameterError, "is not clear"),
        ("age + income", dp.InvalidParameterError, "no outcome before a ~"),
        ("income ~ 1", dp.InvalidParameterError, "names no feature"),
        ("income + age ~ code", dp.InvalidParameterError, "one outcome"),
        ("income ~ 2:age", dp.InvalidParameterError, r"write I\(2 \* age\)"),
        ("income ~ agee", dp.UnknownNameError, "Did you mean age"),
        ("income ~ income + age", dp.InvalidParameterError, "outcome among the features"),
        ("income ~ born", dp.DataTypeError, r"year\(born\), or C\(born\)"),
        ("income ~ nested", dp.DataTypeError, "cannot be a factor"),
        ("income ~ C(nested)", dp.DataTypeError, "nested or binary"),
        ("region ~ age", dp.DataTypeError, "outcome must be numbers"),
        ("income ~ center(age)", dp.InvalidParameterError, "look at all rows"),
        ("income ~ log(scale(age))", dp.InvalidParameterError, "look at all rows"),
        ("income ~ bs(age, df=3)", dp.InvalidParameterError, "look at all rows"),
        ("income ~ np.log(age)", dp.InvalidParameterError, "is no factor"),
        ("income ~ mean(age)", dp.UnknownNameError, "an expression sees one row"),
        ("income ~ C(region, Treatment('north'))", dp.InvalidParameterError, "C is written like"),
        ("income ~ C(region, levels=age)", dp.InvalidParameterError, "C is written like"),
        ("income ~ C(region, levels=[])", dp.InvalidParameterError, "must be a list"),
        ("income ~ C(region, levels=['a', 'a'])", dp.InvalidParameterError, "must be different"),
        ("income ~ C(region, levels=[1, 2])", dp.DataTypeError, "must be of its type"),
        ("income ~ C(region, levels=[None])", dp.InvalidParameterError, "texts, numbers, dates"),
        ("income ~ C(region) + C(region, levels=['north', 'south'])", dp.InvalidParameterError, "twice"),
        ("income ~ age**99999999", dp.InvalidParameterError, "too many terms"),
        ("income ~ (age + code + income)**9", dp.InvalidParameterError, "too many terms"),
        ("income ~ " + "*".join("abcdefghijklmnopqrst"), dp.InvalidParameterError, "too many terms"),
        ("income ~ " + "age + " * 500, dp.InvalidParameterError, "long at most"),
    ],
)
def test_what_is_wrong_with_a_formula_is_said_with_a_way_on(formula: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        _ = design_of(formula).features


def test_levels_that_belong_to_nothing_are_refused() -> None:
    with pytest.raises(dp.UnknownNameError, match="levels has regoin"):
        design_of("income ~ C(region)", levels={"regoin": ["a"]})
    with pytest.raises(dp.InvalidParameterError, match="must be a dict"):
        design_of("income ~ C(region)", levels=["a"])


def test_a_derived_column_does_not_hide_one_of_the_table() -> None:
    design = read_design("income ~ log(age)", SCHEMA)
    with pytest.raises(dp.InvalidParameterError, match="already"):
        design.on(TableView({**SCHEMA, "log(age)": ColumnType.NUMBER}))


@pytest.mark.parametrize("factor", ["{open('FILE', 'w')}", "I(open('FILE', 'w'))", "C(open('FILE', 'w'))", "open('FILE', 'w')"])
def test_nothing_in_a_formula_is_run(factor: str, tmp_path: Path) -> None:
    target = tmp_path / "ran"
    for formula in (f"income ~ {factor}", f"{factor} ~ age", f"income ~ C(region, levels={factor})"):
        with pytest.raises(dp.DpstatsError):
            design_of(formula.replace("FILE", str(target)))
    assert not target.exists()


def test_formulaic_takes_texts_apart_and_is_given_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    import formulaic.materializers.base

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a factor was evaluated")

    for name in ("_evaluate", "_evaluate_factor", "get_model_matrix"):
        monkeypatch.setattr(formulaic.materializers.base.FormulaMaterializer, name, refuse)
    design = design_of("log(income) ~ age * C(region)")
    assert len(design_rows(design.on(TableView(SCHEMA)), tuple(design.features))(table(5))) == 5


def test_without_formulaic_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "formulaic.parser", None)
    with pytest.raises(dp.MissingExtraError, match=r"dpstats\[formulas\]"):
        parse_formula("income ~ age", [])


def test_only_the_levels_of_an_enum_are_declared() -> None:
    frame = pl.DataFrame({"a": ["x", "y"], "b": ["x", "y"]}, schema={"a": pl.Enum(["y", "x", "z"]), "b": pl.Categorical})
    assert declared_levels(frame) == declared_levels(frame.lazy()) == {"a": ["y", "x", "z"]}
    assert declared_levels(pd.DataFrame({"a": pd.Categorical(["x"])})) == {}
    assert declared_levels({"a": [1]}) == {}


def test_terms_with_all_their_parts_are_coded_without_references() -> None:
    a, b, x = FactorPart("a", True), FactorPart("b", True), FactorPart("x", False)
    assert coded_terms([[a], [b], [a, b]], intercept=True) == [(a,), (b,), (a, b)]
    assert coded_terms([[a, b]], intercept=False) == [(a._replace(full=True), b._replace(full=True))]
    assert coded_terms([[x, a], [x]], intercept=True) == [(x,), (x, a)]
    assert coded_terms([[x, a]], intercept=True) == [(x, a._replace(full=True))]


def test_a_name_that_looks_like_an_expression_is_told_from_it() -> None:
    schema = {"y": ColumnType.NUMBER, "a": ColumnType.NUMBER, "b": ColumnType.NUMBER, "a + b": ColumnType.NUMBER}
    by_name, by_sum = (read_design(f"y ~ {factor}:a", schema) for factor in ("`a + b`", "{a + b}"))
    assert by_name.to_dict() != by_sum.to_dict()
    assert [str(Expression(node)) for node in by_name.features.values()] == ["col('a + b') * a"]


def test_levels_in_one_place_hold_in_all_and_two_lists_of_them_are_an_error() -> None:
    schema = {"y": ColumnType.NUMBER, "x": ColumnType.NUMBER, "g": ColumnType.TEXT}
    design = read_design("y ~ C(g, levels=['a', 'b']) + g:x", schema)
    assert not design.unknown
    assert len(design.features) == 3
    with pytest.raises(dp.InvalidParameterError, match="two lists of levels"):
        read_design("y ~ C(g, levels=['a', 'b']) + C(g, levels=['a', 'c'])", schema)


def test_what_would_take_forever_is_refused() -> None:
    schema = {"y": ColumnType.NUMBER, **{f"b{place}": ColumnType.BOOLEAN for place in range(9)}}
    with pytest.raises(dp.InvalidParameterError, match="at most 4 categories"):
        read_design(f"y ~ {':'.join(list(schema)[1:])}", schema)
    with pytest.raises(dp.InvalidParameterError, match="1000 at most"):
        read_design("y ~ C(g)", {**schema, "g": ColumnType.TEXT}, levels={"g": [str(n) for n in range(1001)]})
