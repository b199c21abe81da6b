"""Synthetic rows: a table of rows like those of a private one, and none of them.

Claim      rounds: epsilon-DP. gaussian_rounds: (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added
Why        Noisy tables of single columns and of pairs of columns are measured out of one budget (synthetic/measuring.py). A model
           is fitted to them, and rows are drawn from it: post-processing, which looks at nothing else
Numerics   Exact up to the noisy tables. The model and the rows are the same on every machine, so that a release can be kept as
           the tables and a seed
Source     synthetic/synthesis.proof.md; McKenna, Miklau & Sheldon 2021 (graphical models of noisy tables)
"""

from __future__ import annotations

from collections.abc import Iterable

from dpstats.accounting.groups import row_cost, steps_between
from dpstats.foundations.accepted import Elements
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.json_types import NOTHING, TEXT, WHOLE, either, list_of
from dpstats.foundations.randomness import RandomSource, random_bits
from dpstats.foundations.registry import Answer, Outcome, Parameter, Question, Reads, Statistic, method, register
from dpstats.foundations.results import value_text
from dpstats.foundations.summaries import CodedTable
from dpstats.statistics.coded.budget import NoiseLaw
from dpstats.statistics.coded.parameters import LEVELS, levels_of, settle_levels
from dpstats.statistics.floors import Floor
from dpstats.statistics.synthetic.columns import rows_of
from dpstats.statistics.synthetic.data import GUIDE, SyntheticData
from dpstats.statistics.synthetic.finding import Wish
from dpstats.statistics.synthetic.looking import SMALL
from dpstats.statistics.synthetic.measuring import measure_table

MOST_ROWS = 100_000_000
SEED_BITS = 128
FLOOR_NATS, PURE_FLOOR_NATS = 100, 150
"""Rows times epsilon, for each column, below which not even single columns can be told from noise; with delta and without."""
ROUGH_NATS = 50
"""The same for rough rows. Here, without delta, one column of numbers in five was absurd (1e80); at 20 two of three were."""
_LISTED = 12


def _checked_focus(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    named = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else (None,)
    if not all(isinstance(name, str) for name in named):
        raise InvalidParameterError("focus must list names of columns, such as ['income'].")
    return tuple(str(name) for name in named)


def _checked_rows(value: object) -> int | None:
    if value is not None and (type(value) is not int or not 1 <= value <= MOST_ROWS):
        raise InvalidParameterError(f"rows must be a whole number from 1 to {MOST_ROWS:,}, or left out for as many as there are.")
    return value


def _checked_guide(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidParameterError(f"guide must be True or False, got {value!r}.")
    return value


SYNTHESIZE = register(
    Statistic(
        "synthesize",
        "Synthetic rows: a table like this one, of rows that nobody has",
        (
            LEVELS,
            Parameter(
                "focus",
                "columns whose tables with every other column are always measured",
                _checked_focus,
                None,
                either(list_of(TEXT), NOTHING),
                by_name=True,
                takes=Elements | None,
            ),
            Parameter(
                "rows",
                "how many rows to draw; left out: about as many as there are",
                _checked_rows,
                None,
                either(WHOLE, NOTHING),
                by_name=True,
                takes=int | None,
            ),
            Parameter(
                "guide",
                "True marks the rows as a rough guide for writing questions, and measures fewer tables",
                _checked_guide,
                False,
                by_name=True,
                takes=bool,
            ),
        ),
        reads=(Reads.COLUMNS,),
        returns="SyntheticData with .frame, .to_pandas(), .to_polars(), .to_arrow(), .table(...) and .interval(...)",
        value=SyntheticData,
        revive=SyntheticData.from_dict,
        prefer=lambda arguments, delta: "gaussian_rounds" if delta else "rounds",
        settle_columns=settle_levels,
        labelled=lambda arguments: dict(arguments["levels"]),
    )
)


def _check_focus(question: Question) -> None:
    """Raise where a focus is no column that is asked about."""
    for name in question.arguments["focus"]:
        if name not in question.columns:
            raise InvalidParameterError(f"focus names {name!r}, which is not one of the columns that are asked about.")


@method(
    SYNTHESIZE,
    "rounds",
    claim="pure epsilon-DP: private cuts, and whole-number Laplace noise on tables of one and two columns, some chosen privately",
    check=_check_focus,
    version=4,
)
def synthesize_rounds(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """Rows from tables with Laplace noise."""
    return _answer(table, question, rng)


@method(
    SYNTHESIZE,
    "gaussian_rounds",
    claim="(epsilon, delta)-DP: private cuts and labels, and whole-number Gaussian noise on tables, some chosen privately",
    needs_delta=True,
    check=_check_focus,
    version=3,
)
def synthesize_gaussian(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """Rows from tables with Gaussian noise."""
    return _answer(table, question, rng)


def _answer(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    price = row_cost(question.epsilon, question.delta, steps_between(question.neighbors, 1))
    guide = question.arguments["guide"]
    focus = question.arguments["focus"]
    wish = Wish(question.columns, levels_of(question), focus, 1 if guide else 6, small=SMALL, may_be_alone=not focus)
    columns, pairs = measure_table(table, wish, price.epsilon, price.delta, rng)
    total = rows_of([column.noisy for column in columns])
    data = SyntheticData(columns, pairs, question.arguments["rows"] or round(total), random_bits(rng, SEED_BITS), guide=guide)
    nats = FLOOR_NATS if price.delta else PURE_FLOOR_NATS
    floor = Floor(nats * len(columns), rough_nats=ROUGH_NATS * len(columns))
    return floor.judge(question, total, Answer(data, notes=_notes(question, data, total)))


def _notes(question: Question, data: SyntheticData, total: float) -> tuple[tuple[str, str], ...]:
    """What belongs on the card."""
    names = data.names
    pairs = [f"{names[first]} x {names[second]}" for first, second in dict.fromkeys(pair.columns for pair in data.pairs)]
    listed = ", ".join(pairs[:_LISTED]) + (f" and {len(pairs) - _LISTED} more" if len(pairs) > _LISTED else "")
    laws = dict.fromkeys(str(pair.noisy.law) for pair in data.pairs)
    return (
        *((("use", GUIDE),) if data.guide else ()),
        ("rows", f"{data.rows:,} were drawn; the table has about {value_text(round(total))}"),
        ("measured", f"each column by itself; {listed or 'no pairs'}"),
        ("noise in columns", f"{_between(column.noisy.law for column in data.columns)}, about, in every code"),
        *((("noise in pairs", "; ".join(laws)),) if laws else ()),
        (
            "what holds",
            "tables of one column, and of the pairs that were measured; other relations only as far as these imply them",
        ),
        ("not for", "regressions and other relations of several columns: ask dpstats for these, which has methods for them"),
        ("public", "the parameters, names and types of columns; nothing about the rows"),
        ("numerics", "exact noise on whole numbers; the model and the rows follow from the noisy tables and a public seed"),
    )


def _between(laws: Iterable[NoiseLaw]) -> str:
    """The laws of the least and of the most noise, which are of one kind: its name is said once."""
    ordered = sorted(laws, key=lambda law: law.variance)
    least, most = str(ordered[0]), str(ordered[-1])
    return least if least == most else f"{least} to {most.rpartition(' ')[2]}"
