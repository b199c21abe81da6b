"""CSV files in blocks: a line is a row wherever a block ends, and no line changes how another is read."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpstats.engines.cells import ColumnType
from dpstats.engines.stores.csv import CsvStore
from dpstats.engines.stores.lines import split_block
from dpstats.engines.stores.opening import open_store
from dpstats.foundations.errors import DataFileError
from tests.engines.stores.ugly import plain_cells

UGLY_LINES = (
    b"1,2,3\n4\n\n,,\n5,6,7,8,9\r\n"
    b'"x, y",2,3\n"say ""no""",5,6\n1,"open,3\n"two\n'
    b'lines",8,9\n\xe9,2,\xff\n\xe2\x82\n4,5\x00,6\n\xf0\x9f\x99\x82,\xc3\xa9, pad \n1,2"x"3,4\nlast,one,without end'
)
SPACES = "".join(chr(code) for code in range(0x3001) if chr(code).isspace() and not 0x1C <= code <= 0x1F)
"""White space as Unicode has it; Python counts four separators of old among it."""


def cells_of_line(line: bytes) -> list[str | None]:
    """What a line means by itself: the three cells, in the plainest way."""
    text = line.decode(errors="replace").removesuffix("\r")
    try:
        cells = next(csv.reader([text], skipinitialspace=True), []) if '"' in text else text.split(",")
    except csv.Error:
        cells = []
    return [cell.strip(SPACES) or None for cell in [*cells, "", "", ""][:3]]


def rows_of(store: CsvStore, names: list[str]) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for batch in store.batches(names):
        columns = [plain_cells(batch.cells(name, ColumnType.TEXT)) for name in names]
        assert all(len(column) == batch.rows for column in columns)
        rows += map(list, zip(*columns, strict=True))
    return rows


@pytest.mark.parametrize("block_bytes", [1, 2, 3, 7, 16, 64, 1 << 20])
def test_lines_are_rows_wherever_the_blocks_end(tmp_path: Path, block_bytes: int) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b,c\n" + UGLY_LINES)
    expected = [cells_of_line(line) for line in UGLY_LINES.split(b"\n")]
    store = CsvStore([path], block_bytes)
    assert rows_of(store, ["a", "b", "c"]) == expected
    assert rows_of(store, ["c", "a"]) == [[c, a] for a, _, c in expected]
    assert sum(batch.rows for batch in store.batches([])) == len(expected)


@settings(max_examples=200)
@given(st.lists(st.text(alphabet='a",\r \té1', max_size=12).map(str.encode) | st.binary(max_size=9), min_size=1))
@example([b'"' * 3, b'x"y,"z', b"a\rb", b'"a\rb"', b'"' + b"x" * 140_000, b'1,"2'])
def test_each_line_is_read_as_it_would_be_alone(lines: list[bytes]) -> None:
    lines = [line.replace(b"\n", b"") for line in lines]
    block = b"\n".join(lines) + b"\n"
    columns = [column.to_list() for column in split_block(block, ",", [0, 1, 2])]
    assert list(map(list, zip(*columns, strict=True))) == [cells_of_line(line) for line in lines]


@pytest.mark.parametrize(
    ("content", "rows"), [(b"a", 0), (b"a\n", 0), (b"a\r\n", 0), (b"a\n\n", 1), (b"a\n1", 1), (b"a\n1\n", 1), (b"a\n\n\n1", 3)]
)
def test_the_last_line_end_begins_no_row(tmp_path: Path, content: bytes, rows: int) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    store = CsvStore([tmp_path / "t.csv"])
    assert [batch.rows for batch in store.batches([])] == [rows]
    assert [batch.rows for batch in store.batches(["a"])] == [rows]


def test_files_follow_each_other_and_need_one_header(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text('a, "b"\r\n3,4')
    (tmp_path / "3.csv").write_text("a,b\n5,6\n")
    assert rows_of(CsvStore(sorted(tmp_path.iterdir())), ["b"]) == [["2"], ["4"], ["6"]]
    (tmp_path / "4.csv").write_text("b,a\n")
    with pytest.raises(
        DataFileError, match=r"4\.csv must name the same columns as \S*1\.csv in its first line, in the same order"
    ):
        open_store(tmp_path / "*.csv")
    (tmp_path / "4.csv").write_text("a,Xanthippe\n")
    with pytest.raises(DataFileError, match=r"4\.csv has no column b, which \S*1\.csv has: one table, one header\.$"):
        open_store(tmp_path / "*.csv")


def test_opening_reads_the_first_line_only(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"\xff" * 100)
    assert dict(open_store(path)[0].columns) == {"a": ColumnType.UNDECLARED, "b": ColumnType.UNDECLARED}


@pytest.mark.parametrize("when", ["before", "during"])
def test_a_file_that_has_changed_makes_a_pass_fail(tmp_path: Path, when: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "1\n" * 50)
    batches = CsvStore([path], block_bytes=10).batches(["a"])
    if when == "during":
        next(batches)
    with path.open("a") as text:
        text.write("812\n")
    with pytest.raises(DataFileError, match=r"t\.csv has changed since it was opened: open the table anew\.$"):
        list(batches)


def test_a_file_written_anew_with_the_same_size_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    store = CsvStore([path])
    before = path.stat()
    (tmp_path / "new").write_text("a\n2\n")
    os.utime(tmp_path / "new", ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(tmp_path / "new", path)
    with pytest.raises(DataFileError, match="has changed"):
        list(store.batches(["a"]))


@pytest.mark.parametrize("content", [b"27102.0,845.38\n1,2\n", b'a,"b\nXanthippe,2\n', b"a;b\n1;2\n", b"PAR1"])
def test_a_header_that_is_none_is_refused_when_the_table_is_opened(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataFileError, match=r"t\.csv") as complaint:
        open_store(tmp_path / "t.csv")
    assert "Xanthippe" not in str(complaint.value)
    assert "845" not in str(complaint.value)
