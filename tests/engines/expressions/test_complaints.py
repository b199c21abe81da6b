"""What cannot be asked is refused when the expression is built, in words that say what to write instead."""

from __future__ import annotations

import numpy as np
import pytest

from dpstats.engines.cells import ColumnType, Numbers
from dpstats.engines.expressions import condition, parse_expression
from dpstats.foundations.errors import DataTypeError, DpstatsError, InvalidParameterError, UnknownNameError

SCHEMA = {
    "age": ColumnType.INTEGER,
    "income": ColumnType.NUMBER,
    "region": ColumnType.TEXT,
    "ok": ColumnType.BOOLEAN,
    "born": ColumnType.MOMENT,
    "blob": ColumnType.OTHER,
    "bare": ColumnType.UNDECLARED,
}

UNCLEAR = [
    ("age = 30", "write == to compare"),
    ("age > 3 AND ok", "in small letters"),
    ("age > 3 && ok", "write and, or"),
    ("age <> 3", "write !="),
    ("income IS NULL", "write missing(x)"),
    ("age between 3 and 5", "30 <= x < 65"),
    ("class == 3", "col('net income')"),
    ("", "write it like"),
    ("\x00", "write it like"),
    ("\ud800", "write it like"),
    ("(" * 300, "write it like"),
    ("age > 30 & ok", "use and, or, not instead"),
    ("ok & age > 30", "use and, or, not instead"),
    ("~bare == 3", "use and, or, not instead"),
    ("age ^ 2 > 3", "not part of the language"),
    ("age == None", "write missing(x)"),
    ("age in [1, None]", "write missing(x)"),
    ("age is 3", "write =="),
    ("null", "write missing(x)"),
    ("true", "write True"),
    ("age in 3", "a list that is written out"),
    ("age in []", "not empty"),
    ("'a' in region", "contains(x, 'piece')"),
    ("age in [age]", "write x == a or x == b"),
    ("1 < age in [1]", "join them with and"),
    ("1 < (2 if 1 < age < 3 else 4) < 5", "join comparisons with and"),
    ("1 < 2", "names no column"),
    ("age ** 0.5 > 1", "a whole number from 0 to 10"),
    ("age ** 11 > 1", "a whole number from 0 to 10"),
    ("2 ** age > 1", "a whole number from 0 to 10"),
    ("round(age, income) > 1", "a whole number from -15 to 15"),
    ("startswith(region)", "startswith(x, 'piece')"),
    ("startswith(region, region)", "a text in quotes"),
    ("min(age) > 1", "min(a, b)"),
    ("sqrt(age, age) > 1", "sqrt(x)"),
    ("sqrt(x=age) > 1", "by place only"),
    ("min(*age) > 1", "by place only"),
    ("missing()", "missing(x)"),
    ("coalesce(age) > 1", "coalesce(x, 0)"),
    ("col(age) > 1", "in quotes"),
    ("region.lower() == 'a'", "lower(name)"),
    ("age[0] > 1", "not part of the language"),
    ("f'{age}' == 'a'", "not part of the language"),
    ("(lambda: age)() > 1", "not part of the language"),
    ("(x := age) > 1", "not part of the language"),
    ("[age for age in [1]]", "not part of the language"),
    ("age > 1j", "not part of the language"),
    ("region == b'a'", "not part of the language"),
    ("age > ...", "not part of the language"),
    ("region == '\\ud800'", "half of a character"),
    ("born > '2024-13-01'", "like '2024-01-31'"),
    ("born > '2024'", "like '2024-01-31'"),
    ("born > '0001-01-01T00:00+10:00'", "like '2024-01-31'"),
]

UNKNOWN = [
    ("aeg > 3", "Did you mean age?"),
    ("col('rgion') == 'a'", "Did you mean region?"),
    ("sqr(age) > 1", "Did you mean sqrt?"),
    ("len(region) > 1", "length(x)"),
    ("isnull(age)", "missing(x)"),
    ("mean(age) > 1", "sees one row"),
    ("clip(age, 0, 1) > 1", "min(max(x, 0), 100)"),
    ("__import__('os')", "there is no function"),
]

MISMATCHED = [
    ("bare & age", "use and, or, not instead"),
    ("age == '30'", "without quotes"),
    ("'30' < age", "without quotes"),
    ("region == 3", "put it in quotes"),
    ("region in ['a', 3]", "put it in quotes"),
    ("region == age", "declare age as text"),
    ("ok == 'yes'", "write True or False"),
    ("born > 5", "like '2024-01-31'"),
    ("born > region", "declare region as date"),
    ("born == born + 1", "year(born)"),
    ("lower(born) == 'a'", "dates are compared as they are"),
    ("sqrt(region) > 1", "declare region as number"),
    ("lower(age) == 'a'", "declare age as text"),
    ("age", "for example age != 0"),
    ("age + 1", "for example age + 1 != 0"),
    ("region", "for example region == 'yes'"),
    ("born", "for example born >= '2024-01-31'"),
    ("age and ok", "for example age != 0"),
    ("not age", "for example age != 0"),
    ("(age if ok else region) == 3", "declare region as number"),
    ("coalesce(region, 0) == 'a'", "put it in quotes"),
    ("blob > 3", "missing(x)"),
    ("blob", "missing(x)"),
    ("region + 'a' == 'b'", "+ takes numbers"),
]


@pytest.mark.parametrize(
    ("text", "advice", "error"),
    [
        *((text, advice, InvalidParameterError) for text, advice in UNCLEAR),
        *((text, advice, UnknownNameError) for text, advice in UNKNOWN),
        *((text, advice, DataTypeError) for text, advice in MISMATCHED),
    ],
)
def test_a_complaint_says_what_to_write_instead(text: str, advice: str, error: type[DpstatsError]) -> None:
    with pytest.raises(error) as raised:
        condition(text, SCHEMA)
    message = str(raised.value)
    assert advice in message
    assert message.endswith((".", "?"))
    assert message.isprintable()
    assert len(message) < 500


def test_columns_that_no_use_gives_a_type_and_opaque_ones_cannot_be_derived() -> None:
    with pytest.raises(DataTypeError, match="no declared type"):
        parse_expression("bare", SCHEMA)
    with pytest.raises(DataTypeError, match="no declared type"):
        parse_expression("bare if ok else None", SCHEMA)
    with pytest.raises(DataTypeError, match="nested or binary"):
        parse_expression("blob", SCHEMA)


def test_an_expression_is_a_text() -> None:
    with pytest.raises(InvalidParameterError, match="must be a text"):
        parse_expression(5, SCHEMA)  # type: ignore[arg-type]


def test_length_depth_and_lists_have_limits() -> None:
    assert condition("age > 1" + " " * 1_993, SCHEMA)
    with pytest.raises(InvalidParameterError, match="2,000 characters"):
        condition("age > 1" + " " * 1_994, SCHEMA)
    assert parse_expression("+".join(["age"] * 50), SCHEMA)
    for deep in ("+".join(["age"] * 51), "-" * 1_000 + "age", "not " * 400 + "ok"):
        with pytest.raises(InvalidParameterError, match="50 deep"):
            parse_expression(deep, SCHEMA)
    assert condition(f"age in [{','.join(['1'] * 990)}]", SCHEMA)


def test_an_expression_of_full_size_is_evaluated_and_written_quickly_enough_to_be_harmless() -> None:
    text = "age"
    for _ in range(24):
        text = f"(1 if {text} < 2 else 3)"
    expression = parse_expression(text, SCHEMA)
    assert len(str(expression)) < 4_000
    assert len(expression.cells(lambda *_: Numbers(np.array([1, 2], dtype=np.int64)))) == 2


def test_a_number_has_no_rows_where_it_holds() -> None:
    with pytest.raises(DataTypeError, match="not a condition"):
        parse_expression("age + 1", SCHEMA).mask(lambda *_: Numbers(np.array([1], dtype=np.int64)))


def test_asking_for_the_value_is_the_only_thing_that_reads() -> None:
    def read(name: str, kind: ColumnType) -> Numbers:
        raise AssertionError("read too early")

    expression = condition("age > 3", SCHEMA)
    assert str(expression) == "age > 3"
    with pytest.raises(AssertionError, match="too early"):
        expression.mask(read)
