"""Files: names and types are public, cells are not; no cell raises, and no message quotes one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.engines.complaints import check_column_name, shown
from dpstats.engines.passes.columns import open_column
from dpstats.engines.stores.opening import open_store
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DataFileError, DataTypeError, UnknownNameError
from dpstats.foundations.summaries import Column, WindowRequest

Write = Callable[..., Path]


class open_table:  # noqa: N801 (it stands for a function that opens one)
    """A file as a store, and its columns by name."""

    def __init__(self, path: Path, types: dict[str, str] | None = None) -> None:
        self.store, self.schema = open_store(path, types)
        self.columns = tuple(self.schema)

    def column(self, name: str, *, numeric: bool) -> Column:
        check_column_name(name, self.columns)
        return open_column(self.store, TableView(self.schema), name, numeric)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def file(content: bytes | str, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return file


def numbers(path: Path, name: str, types: dict[str, str] | None = None) -> list[float | int]:
    """The column's values in ascending order."""
    (window,) = open_table(path, types).column(name, numeric=True).order_windows([WindowRequest(Fraction(1, 2), 10_000)])
    return [value.item() for value, count in zip(window.raw_values, window.raw_counts, strict=True) for _ in range(int(count))]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a,b,c\n1,2,3\n4,5,6\n", [2, 5]),
        (b"a,b,c\r\n1,2,3\r\n4,5,6", [2, 5]),
        (b"\xef\xbb\xbfa,b,c\n1,2,3\n", [2]),
        (b"\xef\xbb\xbfb,a,c\n2,1,3\n", [2]),
        (b" a , b ,c\n1, 2 ,3\n", [2]),
        (b'"a","b","c"\n"1","2","3"\n', [2]),
        (b"a,b,c\n1,2\n3\n\n4,5,6,7,8\n,,\n", [2, 5]),
        (b'a,b,c\n"x, y",2,3\n"say ""no""",5,6\n"two\nlines",8,9\n', [2, 5, 8]),
        (b"a,b,c\n\xe9,2,\xff\n4,\xe95,6\n7,8,9\n", [2, 8]),
        (b"a,b,c\n\x00,2,\x00\n4,5\x00,6\n7,8,9\n", [2, 8]),
        (b"a,b,c\n1,n/a,3\n4,1e3,6\n7,-.5,9\n1,inf,1\n1,NaN,1\n", [-0.5, 1000, float("inf")]),
        (b"a,b,c\n", []),
        (b"a,b,c", []),
    ],
)
def test_ugly_files_are_read_row_by_row(write: Write, content: bytes, expected: list[float]) -> None:
    assert numbers(write(content), "b") == expected


@pytest.mark.parametrize(
    "broken", [b'1,"x,3', b'"1,2,3', b'1,"2"x,3', b'1, "x,2",3', b'1,2,"3', b'1,2,3"', b'""1,2,3', b'"', b'1,"2""', b"," * 500]
)
def test_a_line_whose_quotes_do_not_add_up_swallows_no_other(write: Write, broken: bytes) -> None:
    others = b"".join(b"7,%d,9\n" % value for value in range(100, 150))
    values = numbers(write(b"a,b,c\n" + others + broken + b"\n" + others), "b")
    assert sorted(value for value in values if value >= 100) == sorted([*range(100, 150)] * 2)


@settings(max_examples=60)
@given(line=st.binary(max_size=40).filter(lambda line: b"\n" not in line and b"\r" not in line and b'"' not in line))
def test_whatever_one_line_holds_the_others_are_counted(tmp_path_factory: pytest.TempPathFactory, line: bytes) -> None:
    path = tmp_path_factory.mktemp("lines") / "table.csv"
    path.write_bytes(b"a,b\n" + b"1,777\n" * 20 + line + b"\n" + b"1,777\n" * 20)
    assert numbers(path, "b").count(777) >= 40


def test_a_question_about_numbers_reads_each_cell_by_itself_whatever_most_cells_are(write: Write) -> None:
    path = write("mostly,hardly,half\n1,x,1\n2,y,x\nz,3,\n,,\n")
    assert numbers(path, "mostly") == [1, 2]
    assert numbers(path, "half") == [1]
    assert numbers(path, "hardly") == [3]
    assert open_table(path).column("hardly", numeric=False).count() == 3


def test_types_are_found_from_the_rows_only_where_the_holder_says_so(write: Write) -> None:
    path = write("mostly,hardly,half,day\n1,x,1,2024-01-01\n2,y,x,2024-01-02\nz,3,,\n,,,\n")
    assert {kind.value for kind in open_store(path)[1].values()} == {"undeclared"}
    assert {name: kind.value for name, kind in open_store(path, "infer")[1].items()} == {
        "mostly": "number",
        "hardly": "text",
        "half": "text",
        "day": "date",
    }


def test_a_declared_type_overrules_the_cells(write: Write) -> None:
    path = write("a\nx\ny\n3\n")
    assert numbers(path, "a", {"a": "number"}) == [3]
    with pytest.raises(DataTypeError, match="got one of text"):
        open_table(path, {"a": "text"}).column("a", numeric=True)


def test_declared_integers_stay_exact_beyond_the_floats(write: Write) -> None:
    path = write("a\n9007199254740993\n9007199254740992\n1.5\n99999999999999999999\n")
    assert numbers(path, "a", {"a": "integer"}) == [9007199254740992, 9007199254740993]


def test_declared_integers_may_be_written_as_whole_decimals(write: Write) -> None:
    path = write("a\n27102.0\n5e3\n7\n1.5\n1e16\n9007199254740993\n-3.0\nnan\ninf\nx\n\n")
    assert numbers(path, "a", {"a": "integer"}) == [-3, 7, 5000, 27102, 9007199254740993]


@pytest.mark.parametrize(
    "line", ["27102.0,845.38", "50000,50000", "Xanthippe,-7", "x,1e5", '"1,5",Xanthippe', "+.5,Xanthippe", " 7 ,Xanthippe"]
)
def test_a_file_without_a_header_is_refused_and_its_first_line_kept_quiet(write: Write, line: str) -> None:
    with pytest.raises(DataFileError) as complaint:
        open_table(write(f"{line}\n1,2\n"))
    assert str(complaint.value).endswith(
        "table.csv seems to have no header: its first line holds numbers. Add a first line with the column names."
    )


def test_names_with_digits_in_them_are_names(write: Write) -> None:
    assert open_table(write('"income; net"\n')).columns == ("income; net",)
    assert open_table(write("q1,2020_01,3rd,nan,4-5,\n")).columns == ("q1", "2020_01", "3rd", "nan", "4-5", "")


def test_a_table_separated_by_tabs_is_read(write: Write) -> None:
    assert numbers(write("a\tb\n1\t2\n", "table.tsv"), "b") == [2]


def test_a_header_in_latin_1_keeps_its_letters(write: Write) -> None:
    assert open_table(write("größe,b\n1,2\n".encode("latin-1"))).columns == ("größe", "b")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"\n1,2\n", "must name its columns"),
        (b",,\n1,2,3\n", "must name its columns"),
        (b"a,a\n1,2\n", "more than one column named a"),
        (b"a,b\r1,2\r", "carriage return"),
        (b'a,"b\nXanthippe,2\n', "every quote closed"),
        ("a,b\n1,2\n".encode("utf-16"), "UTF-16"),
        (b"a;b\n1;2\n", "separated by ';': save it with commas"),
        (b'"a, b";"c"\n1;2\n', "separated by ';': save it with commas"),
        (b"Xanthippe;7\n1;2\n", "separated by ';': save it with commas"),
        (b"a\tb\n1\t2\n", "separated by tabs: name it .tsv"),
        (b"PAR1\x15\x04\x15 Xanthippe PAR1", r"looks like Parquet: rename it to \.parquet"),
        (b"\x1f\x8b\x08\x00\x00,b\n1,2\n", "is compressed: unpack it first"),
    ],
)
def test_a_file_that_is_no_table_is_a_clear_error(write: Write, content: bytes, says: str) -> None:
    with pytest.raises(DataFileError, match=says) as complaint:
        open_table(write(content)).column("b", numeric=True)
    assert "Xanthippe" not in str(complaint.value)


@pytest.mark.parametrize("content", [b"PAR1", b"Xanthippe" * 100, b"PAR1" + b"\xff" * 100 + b"PAR1"])
def test_a_broken_parquet_file_is_one_error_that_quotes_nothing(write: Write, content: bytes) -> None:
    with pytest.raises(DataFileError, match=r"table\.parquet could not be read as Parquet\.$"):
        open_table(write(content, "table.parquet"))


def test_parquet_types_are_the_declared_ones(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    pl.DataFrame(
        {
            "whole": [2**53 + 1, None, 3],
            "real": [1.5, float("nan"), None],
            "flag": [True, False, None],
            "price": pl.Series(["1.25", "2.50", None]).cast(pl.Decimal(10, 2)),
            "text": ["x", None, "z"],
            "day": [date(2024, 1, 1), None, date(2024, 1, 2)],
            "lists": [[1], None, []],
            "size": pl.Series(["small", None, "large"], dtype=pl.Enum(["small", "large"])),
            "nothing": [None, None, None],
        }
    ).write_parquet(path)
    assert numbers(path, "whole") == [3, 2**53 + 1]
    assert numbers(path, "real") == [1.5]
    assert numbers(path, "flag") == [0, 1]
    assert numbers(path, "price") == [1.25, 2.5]
    assert numbers(path, "nothing") == []
    for name, words in {"text": "text", "day": "dates or times", "size": "text", "lists": "another type"}.items():
        with pytest.raises(DataTypeError, match=f"needs a column of numbers and got one of {words}: "):
            open_table(path).column(name, numeric=True)
        assert open_table(path).column(name, numeric=False).count() == 2


def test_an_unknown_column_is_answered_with_the_known_ones(write: Write) -> None:
    table = open_table(write(",".join(f"c{index}" for index in range(50)) + "\n"))
    with pytest.raises(UnknownNameError, match=r"there is no column c99; the columns are c0, .* and 20 more\."):
        table.column("c99", numeric=True)


def test_a_name_that_could_talk_to_the_terminal_is_escaped() -> None:
    assert shown("in\x1b[31mcome") == r"'in\x1b[31mcome'"
    assert shown("net income") == "net income"
    assert shown("") == "''"


def test_a_star_in_a_path_is_a_star(write: Write) -> None:
    write("a\n1\n", "one.csv")
    assert numbers(write("a\n2\n", "*.csv"), "a") == [2]


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
@pytest.mark.parametrize("stray", ["7,\"5'10,x", "7,5'10\",x", '"', '7,"a""b,"c', '7, "5.5",abc', '",,,"'])
def test_no_line_changes_how_another_line_is_read(write: Write, stray: str, ending: str) -> None:
    lines = [f'{number}, "{number}.5",abc' if number % 3 else f"{number},{number}.5,abc" for number in range(200)]
    clean = numbers(write("id,x,note\n" + "\n".join(lines) + ending), "x", {"x": "number"})
    assert clean == sorted(number + 0.5 for number in range(200))
    for place in (0, 10, 199, 200):
        broken = [*lines[:place], stray, *lines[place:]]
        found = numbers(write("id,x,note\n" + "\n".join(broken) + ending), "x", {"x": "number"})
        assert [value for value in found if value != 5.5] == [value for value in clean if value != 5.5]
        assert len(found) in (200, 201)


def test_an_undeclared_column_counts_every_filled_cell_whatever_most_of_them_are(write: Write) -> None:
    for unknown in (499, 500, 501):
        cells = ["1.5"] * 500 + ["unknown"] * unknown + [""] * 9
        path = write("x,y\n" + "\n".join(f"{cell},1" for cell in cells))
        assert open_table(path).column("x", numeric=False).count() == 500 + unknown


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"a,b", 0),
        (b"a,b\n", 0),
        (b"a,b\r\n", 0),
        (b"a,b\n1,2\n3,4\n", 2),
        (b"a,b\n1,2\n3,4", 2),
        (b"a,b\r\n1,2\r\n3,4\r\n", 2),
        (b"a,b\n1\n\n,x\n5,6,7\n", 4),
        (b"a,b\n1,2\n\n", 2),
        (b'a,b\n"two\nlines",2\n', 2),
    ],
)
@pytest.mark.parametrize("types", [{}, {"b": "number"}, {"b": "integer"}, {"b": "text"}])
def test_a_line_is_a_stored_row_whatever_it_holds(write: Write, content: bytes, rows: int, types: dict[str, str]) -> None:
    table = open_table(write(content), types)
    assert table.column("b", numeric=False).stored() == rows
    if types != {"b": "text"}:
        assert table.column("b", numeric=True).stored() == rows


def test_the_labels_of_a_csv_column_are_of_its_type_or_of_each_cells_own(write: Write) -> None:
    path = write("x,y\n3,red\n 3.0 ,blue\n10,red\nn/a,7\n,\n")
    assert open_table(path).column("x", numeric=False).most_common(3) == [(3, 2), (10, 1), ("n/a", 1)]
    assert open_table(path).column("x", numeric=True).most_common(3) == [(3.0, 2), (10.0, 1)]
    assert open_table(path).column("x", numeric=False).count() == 4
    assert open_table(path, {"x": "text"}).column("x", numeric=False).most_common(2) == [("10", 1), ("3", 1)]
    assert open_table(path, {"x": "integer"}).column("x", numeric=False).most_common(3) == [(3, 2), (10, 1)]
    assert open_table(path).column("y", numeric=False).most_common(3) == [("red", 2), (7, 1), ("blue", 1)]
    assert open_table(path, {"y": "number"}).column("y", numeric=False).most_common(2) == [(7.0, 1)]


def test_the_labels_and_rows_of_a_parquet_column_are_of_its_type(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    columns = {
        "whole": pl.Series([7, None, 7]),
        "text": pl.Series(["x", None, "x"]),
        "day": pl.Series([date(2024, 1, 1), None, date(2024, 1, 1)]),
        "size": pl.Series(["small", None, "small"], dtype=pl.Enum(["large", "small"])),
        "nothing": pl.Series([None, None, None]),
    }
    pl.DataFrame(columns).write_parquet(path)
    expected = {"whole": [(7, 2)], "text": [("x", 2)], "day": [("2024-01-01", 2)], "size": [("small", 2)], "nothing": []}
    for name, labels in expected.items():
        column = open_table(path).column(name, numeric=False)
        assert column.most_common(5) == labels
        assert column.stored() == 3
