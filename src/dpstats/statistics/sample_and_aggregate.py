"""Sample and aggregate with functions by name, for protected tables: nobody's code runs on the curator.

Claim      As aggregation/plans.py, with one block for each row
Neighbors  ADD_REMOVE or CHANGE_ONE, alike
Why        aggregation/plans.py; the functions look at their block alone (aggregation/named_functions.py)
Numerics   Functions are floats of one block's rows each
No reply   Where too few blocks have an answer, by a noisy count; "median" where its test fails
Source     aggregators.proof.md
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.foundations.accepted import Blocks, Ends, Number, literal_of
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.json_types import AUTO_OR_WHOLE, NOTHING, NUMBER, either, list_of, one_of
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import AUTO, Answer, Parameter, Question, Reads, Refusal, Statistic, method, register
from dpstats.foundations.summaries import MISSING_POLICY, Table
from dpstats.statistics.aggregation.aggregators import MEDIAN, NAMES
from dpstats.statistics.aggregation.named_functions import NAMED, named_function
from dpstats.statistics.aggregation.plans import BlockPlan, plan_for
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.cards import public_line
from dpstats.statistics.selection.votes import votes_of

PURE, TESTED = "numbers", "tested"


def _checked_function(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidParameterError(f"functions are asked for by name here: {', '.join(NAMED)}.")
    return named_function(value).name


def _checked_aggregate(value: object) -> str:
    if value not in NAMES or not isinstance(value, str):
        raise InvalidParameterError(f"aggregate must be one of {', '.join(map(repr, NAMES))}; got {value!r}.")
    return value


def _frozen(value: Any) -> Any:
    """Lists as tuples, ratios as texts, numpy's numbers as plain ones; what they must be is checked with the rest of the plan."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Fraction):
        return str(value)
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


SAMPLE_AND_AGGREGATE = register(
    Statistic(
        "sample_and_aggregate",
        "One private answer of what a function says of random blocks of rows",
        (
            Parameter(
                "function",
                f"the function by name: {', '.join(NAMED)}",
                _checked_function,
                json_type=one_of(NAMED),
                takes=literal_of(NAMED),
            ),
            Parameter("blocks", "into how many blocks rows are put; public", _frozen, AUTO, AUTO_OR_WHOLE, takes=Blocks),
            Parameter(
                "aggregate",
                f"how their answers become one: {', '.join(NAMES)}",
                _checked_aggregate,
                "universal",
                one_of(NAMES),
                takes=literal_of(NAMES),
            ),
            Parameter(
                "range",
                "for mean, trimmed and winsorized: public ends of the answer such as (0, 10)",
                _frozen,
                None,
                either(list_of(NUMBER, 2, 2), list_of(list_of(NUMBER, 2, 2)), NOTHING),
                takes=Ends,
            ),
            Parameter(
                "trim",
                "for trimmed and winsorized: the part cut off at either end",
                _frozen,
                None,
                either(NUMBER, NOTHING),
                takes=Number | None,
            ),
        ),
        reads=(Reads.FEATURES,),
        parameter_first=True,
        returns="a number, or one for each column or coefficient",
        value=float | tuple[float, ...],
        prefer=lambda arguments, delta: TESTED if arguments["aggregate"] == MEDIAN else PURE,
    )
)


def _check(question: Question) -> None:
    plan_of(question)


def plan_of(question: Question) -> BlockPlan:
    """The plan of a question; raises what is wrong with it."""
    arguments = question.arguments
    function = named_function(arguments["function"])
    outputs = function.check(len(question.columns)) if question.columns else 1
    if (question.method.name == TESTED) != (arguments["aggregate"] == MEDIAN):
        raise InvalidParameterError("aggregate='median' goes by the method 'tested', all others by 'numbers': leave method out.")
    return plan_for(
        arguments["aggregate"],
        epsilon=question.epsilon,
        delta=question.delta,
        level=question.interval,
        blocks=arguments["blocks"],
        outputs=None if outputs == 1 else outputs,
        range=arguments["range"],
        trim=arguments["trim"],
    )


@method(
    SAMPLE_AND_AGGREGATE,
    TESTED,
    claim="(epsilon, delta)-DP, may refuse: a median of the blocks' answers by a private test",
    needs_delta=True,
    check=_check,
)
@method(SAMPLE_AND_AGGREGATE, PURE, claim="pure epsilon-DP: one row changes the answer of one block", version=2, check=_check)
def answer_named(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
    """The private answer of what the named function says of blocks."""
    plan, function = plan_of(question), named_function(question.arguments["function"])

    def reply(raw_rows: Floats) -> Any:
        return plan.form.read(np.asarray(function.of_block(raw_rows), dtype=np.float64).reshape(-1).tolist())

    outcome = plan.answer(votes_of(table.matrix(), plan.blocks, reply, "sample_and_aggregate", rng), rng)
    if isinstance(outcome, Refusal):
        return outcome
    notes = (*outcome.notes, ("missing values", MISSING_POLICY), public_line(question))
    return Answer(outcome.value, outcome.interval, notes, outcome.intervals)
