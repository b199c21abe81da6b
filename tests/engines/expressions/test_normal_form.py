"""The normal form of expressions: the same value for every row, missing cells included, and one form for what says the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings

from dpstats.engines.cells import ColumnType
from dpstats.engines.expressions import Expression, condition, language
from dpstats.engines.expressions.normal_form import conjuncts, normal_form, typed_text
from tests.engines.expressions.grammar import SCHEMA, expressions, tables
from tests.engines.expressions.test_properties import HARD_TO_DRAW, Table, parsed, plain, reader

COLUMNS = {**SCHEMA, "code": ColumnType.UNDECLARED}
SAME = [
    ["real >= 10 and real < 50", "real < 50 and real >= 10", "10 <= real < 50", "not (real < 10 or real >= 50)"],
    ["ok and odd", "odd and ok and ok", "not (not ok or not odd)", "(odd & ok) & (ok & odd)"],
    ["real > other", "other < real", "not real <= other"],
    ["name == 'a'", "name in ['a']", "not name != 'a'", "'a' == name"],
    ["name != 'a'", "name not in ['a']", "not name in ['a']"],
    ["(1 if ok and odd else 2) > 1", "(1 if odd and ok else 2) > 1"],
    ["ok or (odd and real > 1)", "(not real <= 1 and odd) or ok"],
]
DIFFERENT = [
    *("real > 1", "real >= 1", "real == 1", "real > other", "real < other", "ok and odd", "ok or odd", "ok", "not ok"),
    *("missing(real)", "not missing(real)", "missing(real) or real > 1", "ok or not ok", "name in ['a', 'b']", "name == 'a'"),
]


def forms(texts: list[str]) -> list[list[str | list[str]]]:
    return [[typed_text(each, COLUMNS) for each in conjuncts([condition(text, COLUMNS).node])] for text in texts]


@pytest.mark.parametrize("texts", SAME, ids=lambda texts: texts[0])
def test_what_says_the_same_has_one_form(texts: list[str]) -> None:
    assert all(form == forms(texts)[0] for form in forms(texts))


def test_what_says_something_else_has_another_form() -> None:
    assert len({str(form) for form in forms(DIFFERENT)}) == len(DIFFERENT)


def test_several_conditions_are_their_conjunction() -> None:
    together = [condition(text, COLUMNS).node for text in ("real < 50", "ok", "real >= 10", "ok")]
    assert conjuncts(together) == conjuncts([condition("ok and 10 <= real < 50", COLUMNS).node])
    assert conjuncts([]) == ()


def test_the_reading_of_an_undeclared_column_is_part_of_the_form() -> None:
    one = [condition("missing(code) and code > 3", COLUMNS).node]
    two = [condition("missing(code)", COLUMNS).node, condition("code > 3", COLUMNS).node]
    texts = [[typed_text(each, COLUMNS) for each in conjuncts(nodes)] for nodes in (one, two)]
    assert texts == [[["code > 3", "number"], ["missing(code)", kind]] for kind in ("number", "text")]


def keeps_values(form: Callable[[language.Node], language.Node], expression: Expression, table: Table) -> bool:
    """Whether a form of an expression has the value of the expression for every row."""
    normal = Expression(form(expression.node))
    assert normal.type is expression.type
    return plain(normal.cells(reader(table))) == plain(expression.cells(reader(table)))


@settings(max_examples=400, suppress_health_check=HARD_TO_DRAW)
@given(text=expressions(3), table=tables)
def test_the_normal_form_has_the_same_value_for_every_row(text: str, table: Table) -> None:
    expression = parsed(text)
    assert expression is None or keeps_values(normal_form, expression, table), str(Expression(normal_form(expression.node)))


def test_a_form_of_two_truth_values_is_caught() -> None:
    """The broken twin takes `not x > 1` for all rows that are not `x > 1`, those without x included."""

    def two_valued(node: language.Node) -> language.Node:
        assert isinstance(node, language.Not)
        assert isinstance(node.part, language.Compare)
        return language.Logic("or", (language.Missing(node.part.left), normal_form(node)))

    table = [{**dict.fromkeys(SCHEMA), "real": value} for value in (0.0, 2.0, None)]
    expression = condition("not real > 1", SCHEMA)
    assert keeps_values(normal_form, expression, table)
    assert not keeps_values(two_valued, expression, table)


@settings(max_examples=200, suppress_health_check=HARD_TO_DRAW)
@given(text=expressions(3))
def test_the_normal_form_of_a_normal_form_is_itself(text: str) -> None:
    expression = parsed(text)
    if expression is not None:
        normal = normal_form(expression.node)
        assert normal_form(normal) == normal
