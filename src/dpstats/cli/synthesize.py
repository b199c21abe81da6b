"""`dpstats synthesize`: rows like those of a CSV or Parquet file, written to another one."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpstats.cli import exits
from dpstats.cli.ask import parse_types
from dpstats.cli.command import add_delta_and_neighbors
from dpstats.direct import answer_table
from dpstats.foundations.errors import DataTypeError, InvalidParameterError, MissingExtraError, MissingParameterError
from dpstats.foundations.randomness import seeded, source_or_system
from dpstats.foundations.registry import find_statistic
from dpstats.foundations.results import NOT_PRIVATE, NoReply, Release
from dpstats.foundations.text_tables import counted

if TYPE_CHECKING:
    from dpstats.statistics.synthetic.data import SyntheticData

CSV, PARQUET = (".csv",), (".parquet", ".pq")
_DESCRIPTION = """\
Writes synthetic rows: a table like the one in a CSV or Parquet file, of rows that nobody has. No bounds are needed.

  dpstats synthesize people.parquet --epsilon 1 --delta 1e-6 --out rows.parquet
  dpstats synthesize people.csv --types age=integer,region=text --epsilon 1 --delta 1e-6 --out rows.csv
  dpstats synthesize people.csv --types age=integer --levels region=north,south --epsilon 1 --out rows.csv --columns age region

Tables of one column and of some pairs of columns are measured with noise; a model is fitted to them, and rows are drawn from it.
Labels that are not listed are found privately, which needs --delta. Rows are good for looking at, for writing questions, and for
tables of one or two columns; ask `dpstats ask` for regressions and other relations, which synthetic rows blur. In a CSV file
texts that a spreadsheet would take for formulas have an apostrophe in front; Parquet has them as they are.
"""


def describe() -> str:
    """The help text."""
    return "\n".join([_DESCRIPTION, "Exit codes:", *(f"  {code}  {meaning}" for code, meaning in exits.MEANINGS.items())])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `dpstats synthesize`."""
    parser.add_argument("file", metavar="FILE", help="a table: .csv, .tsv or .parquet; the first line of a CSV names its columns")
    parser.add_argument("--out", required=True, metavar="FILE", help="where the rows go: a new .csv or .parquet file")
    parser.add_argument("--epsilon", required=True, help="the privacy that all of it spends, such as 1")
    add_delta_and_neighbors(parser)
    parser.add_argument("--columns", nargs="+", metavar="COLUMN", help="only these columns; left out: all")
    parser.add_argument("--types", metavar="COLUMN=TYPE,...", action="append", default=[], help="as for dpstats ask")
    parser.add_argument(
        "--levels", metavar="COLUMN=LABEL,...", action="append", default=[], help="the labels of a column, where they are public"
    )
    parser.add_argument("--focus", nargs="+", metavar="COLUMN", help="columns whose tables with every other one are measured")
    parser.add_argument("--rows", type=int, metavar="N", help="how many rows to write; left out: about as many as there are")
    parser.add_argument("--unit", default="row", help="what one row stands for, such as person; it is printed, not checked")
    parser.add_argument("--rough", action="store_true", help="take rough rows where the table has too few for good ones")
    parser.add_argument("--seed", metavar="N", type=int, help="repeat the same noise, for tests: the rows are NOT PRIVATE")


def run(arguments: argparse.Namespace) -> int:
    """Check where the rows go, measure, draw, write, and print the card."""
    target = _free_path(arguments.out)
    words = {name: getattr(arguments, name) for name in ("columns", "epsilon", "focus", "rows", "unit", "rough", "neighbors")}
    words |= {"delta": arguments.delta or 0, "types": parse_types(arguments.types), "levels": parse_levels(arguments.levels)}
    source = source_or_system(None if arguments.seed is None else seeded(arguments.seed))
    try:
        reply = answer_table(find_statistic("synthesize"), (arguments.file,), words, source)
    except (DataTypeError, MissingParameterError) as error:
        hint = " On the command line: --types COLUMN=TYPE, --levels COLUMN=LABEL,LABEL, --delta 1e-6."
        raise type(error)(f"{error}{hint}") from None
    if isinstance(reply, Release):
        write_rows(reply.value, target)
    print(reply.card())
    if not reply.private:
        print(f"dpstats: {NOT_PRIVATE}. Do not publish these rows.", file=sys.stderr)
    if isinstance(reply, NoReply):
        return exits.NO_REPLY
    was = "was" if len(reply.value) == 1 else "were"
    print(f"\n{counted(len(reply.value), 'row')} {was} written to {target}.")
    return exits.ANSWERED


def parse_levels(given: Sequence[str]) -> dict[str, list[str]] | None:
    """`region=north,south` as a dictionary; a label with a comma in it stands in double quotes."""
    levels: dict[str, list[str]] = {}
    for text in given:
        name, equals, labels = text.partition("=")
        if not equals or not labels:
            raise InvalidParameterError(f"--levels takes COLUMN=LABEL,LABEL, such as region=north,south, got {text!r}.")
        if name.strip() in levels:
            raise InvalidParameterError(f"--levels lists the labels of column {name.strip()!r} twice.")
        levels[name.strip()] = next(csv.reader([labels]))
    return levels or None


def write_rows(data: SyntheticData, target: Path) -> None:
    """Write synthetic rows into a new file, a block after the other; none is left where that fails."""
    from dpstats.curator.publishing.row_files import write_csv, write_parquet

    write = write_parquet if target.suffix.lower() in PARQUET else write_csv
    with target.open("xb") as file:
        try:
            write(data, file)
        except BaseException:
            target.unlink(missing_ok=True)
            raise


def _free_path(given: str) -> Path:
    """The file that rows go to, before anything is spent: of a kind that can be written, and not there yet."""
    target = Path(given)
    if target.suffix.lower() not in (*CSV, *PARQUET):
        raise InvalidParameterError("--out must name a .csv or a .parquet file.")
    if target.exists():
        raise InvalidParameterError(f"there is a file {given!r} already: name another one.")
    if not target.absolute().parent.is_dir():
        raise InvalidParameterError(f"there is no folder for {given!r}.")
    if target.suffix.lower() in PARQUET:
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise MissingExtraError("Parquet files need pyarrow: pip install 'dpstats[files]'.") from None
    return target
