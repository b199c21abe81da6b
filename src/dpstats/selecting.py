"""Choices that the code of analysts makes on blocks or samples of rows, one question, no ledger.

`dp.select_model` with models of one's own, `dp.aggregate_choices` of several analysts, `dp.a_samp` as it is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from dpstats.block_functions import ISOLATED, NOT_ISOLATED, AggregateName, checked_limits, sample_and_aggregate, shown_function
from dpstats.curator.session import Session
from dpstats.direct import answer_given, function_for, priced
from dpstats.engines.taking import rows_taker
from dpstats.foundations.accepted import Columns, Elements, Estimator, NeighborsName, Number
from dpstats.foundations.calls import Caller, Word, documentation, signature
from dpstats.foundations.errors import DataTypeError, InvalidParameterError, MissingParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_delta, spendable_epsilon
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.registry import INTERVAL, Answer, Question, Refusal, find_statistic, outcome_of
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.summaries import Table
from dpstats.foundations.text_tables import counted
from dpstats.foundations.words import check_words, with_known_words
from dpstats.statistics.aggregation.evaluation import SECONDS, MadePieces, ship
from dpstats.statistics.aggregation.plans import plan_for
from dpstats.statistics.aggregation.row_blocks import toss_blocks
from dpstats.statistics.selection.models import Estimators, best_model, checked_estimators
from dpstats.statistics.selection.printed_samples import METHOD, PrintedDesign, printed_samples
from dpstats.statistics.selection.votes import choices_of
from dpstats.statistics.selections import select_option

SELECT_MODEL = find_statistic("select_model")
PLACE_OF_MODELS = 2
"""After X and y."""
_OWN_MODELS = "; or a dict of scikit-learn estimators by name, which are fitted to arrays, each with a fixed seed"
_NAMES, *_OTHERS = SELECT_MODEL.parameters
WITH_OWN_MODELS = replace(
    SELECT_MODEL,
    parameters=(replace(_NAMES, help=_NAMES.help + _OWN_MODELS, takes=_NAMES.takes | Mapping[str, Estimator]), *_OTHERS),
)
"""The statistic as this function takes it."""
LIMITS = (
    Word("seconds", SECONDS, float, "of own models: what a block may take; one that takes longer has no answer"),
    Word(
        "workers",
        None,
        int | None,
        "of own models: processes, one for each core where it is left out; 0 runs them here, for finding faults",
    ),
)
_CALLED = signature(WITH_OWN_MODELS, Caller.FUNCTION, LIMITS)
_of_names = function_for(SELECT_MODEL.name)
_STAND_IN = SELECT_MODEL.parameters[0].default


def select_model(
    *given: Any, seconds: float = SECONDS, workers: int | None = None, rng: RandomSource | None = None, **words: Any
) -> Release | NoReply:
    """The registry's help is put in its place, with what own models add to it."""
    check_words(SELECT_MODEL.name, words, tuple(_CALLED.parameters))
    limit, hands = checked_limits(seconds, workers)
    models = given[PLACE_OF_MODELS] if len(given) > PLACE_OF_MODELS else words.get("models")
    if not isinstance(models, Mapping):
        return _of_names(*given, rng=rng, **words)
    source, estimators = source_or_system(rng), checked_estimators(models)
    named = tuple(_STAND_IN if each is models else each for each in given)
    asked, data = priced(SELECT_MODEL, named, {word: _STAND_IN if each is models else each for word, each in words.items()})
    question = _among(asked, estimators, limit, hands)
    return answer_given(question, data, source)


def _among(question: Question, estimators: Estimators, seconds: float, workers: int | None) -> Question:
    """The question with an analyst's models, of which each block tries all, in a process of its own."""
    vote = partial(best_model, estimators=estimators)
    if workers != 0:
        ship([vote])

    def run(table: Table, asked: Question, rng: RandomSource) -> Answer | Refusal:
        raw_rows = table.matrix()

        def raw_votes_of(blocks: int) -> list[str | None]:
            raw_places = toss_blocks(raw_rows, blocks, rng).raw_pieces
            raw_pieces = MadePieces(blocks, lambda block: (raw_rows[raw_places[block]],))
            raw_names = choices_of([vote], raw_pieces, seconds=seconds, workers=workers)
            return [raw if isinstance(raw, str) and raw in estimators else None for raw in raw_names]

        answer = select_option(raw_votes_of, tuple(estimators), asked, rng)
        if isinstance(answer, Refusal):
            return answer
        kinds = ", ".join(f"{name} ({type(estimator).__name__})" for name, estimator in estimators.items())
        own = ("models", f"the analyst's own: {kinds}"), ("function", NOT_ISOLATED if workers == 0 else ISOLATED)
        return replace(answer, notes=(*own, *answer.notes))

    method = replace(question.method, run=run)
    methods = {**SELECT_MODEL.methods, method.name: method}
    arguments = {**question.arguments, "models": tuple(estimators)}
    return replace(question, statistic=replace(SELECT_MODEL, methods=methods), method=method, arguments=arguments)


select_model.__module__ = "dpstats"
select_model.__doc__ = documentation(WITH_OWN_MODELS, Caller.FUNCTION, LIMITS)
select_model.__signature__ = _CALLED  # type: ignore[attr-defined]


@with_known_words()
def aggregate_choices(
    functions: Sequence[Callable[..., Any]],
    data: Columns,
    *,
    blocks: int | None = None,
    options: Elements | None = None,
    popularity: bool = False,
    seconds: float = SECONDS,
    workers: int | None = None,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    interval: Number | None = INTERVAL,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release | NoReply:
    """What most of several analysts choose, each of whom looks at rows that no other sees.

        dp.aggregate_choices([careful, bold], rents, options=["mean", "median"], epsilon=0.5)

    Parameters
      functions   one of each analyst: of a block of rows in a container like `data`, or for a tuple of containers with one
                  argument for each. It returns a label: a text, a number, or several of these
      data        rows: a list, an array, a frame or column of pandas, polars or pyarrow, a dict of columns, or a tuple of these
      blocks      into how many blocks rows are put; public, and the same number for each analyst. Left out: the least at which
                  what four of five blocks choose comes through
      options     the public list of labels, of which noisy counts choose one. Left out, the most frequent label is released as it
                  is if its lead passes a test; that needs delta
      popularity  whether to buy the share of blocks that chose the answer, for a quarter of epsilon
      epsilon     the privacy that the answer spends; required, for example 0.5
      delta       without options, for example 1e-6
      seconds, workers, neighbors, interval, unit, rng  as of sample_and_aggregate

    This is sample_and_aggregate of a list of functions. Whoever looks at rows before deciding what to publish gives something
    away by the decision; here each decides by rows of his own, and what is released is private whatever they do, as long as they
    do not talk to each other.
    """
    analysts = list(functions) if isinstance(functions, (list, tuple)) else []
    if not analysts or not all(callable(each) for each in analysts):
        raise InvalidParameterError("functions must be a list of functions of a block of rows, one of each analyst.")
    if options is None and not spendable_delta(delta):
        raise MissingParameterError(
            "aggregate_choices needs options, the public list of labels; or delta, for example delta=1e-6."
        )
    aggregate: AggregateName = "stable" if options is None else "argmax"
    if blocks is None:
        spent, allowed = spendable_epsilon(epsilon), spendable_delta(delta)
        least = plan_for(aggregate, epsilon=spent, delta=allowed, level=None, options=options, popularity=popularity).blocks
        blocks = -(-least // len(analysts)) * len(analysts)
    elif type(blocks) is not int or blocks % len(analysts):
        raise InvalidParameterError(f"blocks must be a multiple of {len(analysts)}, the number of analysts; got {blocks!r}.")
    reply = sample_and_aggregate(
        analysts,
        data,
        epsilon=epsilon,
        delta=delta,
        blocks=blocks,
        aggregate=aggregate,
        options=options,
        popularity=popularity,
        seconds=seconds,
        workers=workers,
        neighbors=neighbors,
        interval=interval,
        unit=unit,
        rng=rng,
    )
    return replace(
        reply, question=f"aggregate_choices({counted(len(analysts), 'analyst')}, blocks={blocks}, aggregate={aggregate})"
    )


@with_known_words(f="function")
def a_samp(
    function: Callable[..., Any],
    data: Columns,
    *,
    runs: int | None = None,
    seconds: float = SECONDS,
    workers: int | None = None,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "change_one",
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release | NoReply:
    """The most frequent label of very many random samples of the rows: A_samp (Dwork & Roth 2014, Algorithm 14) as printed.

        dp.a_samp(best_model, frame, epsilon=1, delta=1e-6)      # says that it takes millions of runs
        dp.sample_and_aggregate(best_model, frame, aggregate="stable", epsilon=1, delta=1e-6)      # some 50 runs, same claim

    Parameters
      function   of a sample: of rows in a container like `data`, or for a tuple of containers with one argument for
                 each. It returns a label: a text, a number, or several of these
      data       rows: a list, an array, a frame or column of pandas, polars or pyarrow, a dict of columns, or a tuple of these
      runs       how often it will run, to permit it. It follows from the number of rows, epsilon and delta; left out, nothing
                 runs, and an error says the number
      seconds    what a sample may take; one that takes longer has no answer
      workers    processes, one for each core where it is left out; 0 runs it in this process, for finding faults
      epsilon    the privacy that the answer spends; required, for example 1
      delta      required, for example 1e-6
      neighbors  "change_one" only: the number of rows must be public
      unit, rng  as everywhere

    Returns the label in a Release, or a NoReply at the same cost. What several calls cost adds up, and nothing here keeps count.
    """
    source = source_or_system(rng)
    if not callable(function):
        raise InvalidParameterError("function must be a function of a sample of rows that returns a label.")
    cost = PrivacyCost(spendable_epsilon(epsilon), spendable_delta(delta), neighbors, unit)
    if not cost.delta:
        raise MissingParameterError("a_samp needs delta: for example delta=1e-6.")
    if cost.neighbors is not Neighbors.CHANGE_ONE:
        raise InvalidParameterError(
            "a_samp is for neighbors='change_one' only, because its number of runs tells the number of rows. "
            f"{_runnable(cost)} keeps that private."
        )
    if isinstance(data, Session):
        raise DataTypeError("a protected table keeps count, and runs no functions of those who ask it.")
    limit, hands = checked_limits(seconds, workers)
    rows = rows_taker(data)
    design = PrintedDesign(rows.count, cost.epsilon, cost.delta)
    if type(runs) is not int or runs != design.runs:  # whoever states the number has seen how many there will be
        raise InvalidParameterError(
            f"A_samp as printed runs the function {design.runs:,} times, each on about {float(design.chance * rows.count):,.3g} "
            f"of the {rows.count:,} rows. If that is what you want, say runs={design.runs}. {_runnable(cost)} takes far fewer, "
            "at the same claim."
        )
    if hands != 0:
        ship([function])
    shares = {"epsilon": cost.epsilon, "delta": cost.delta, "runs": design.runs}
    sample = partial(printed_samples, function, rows.take, rows.count, **shares, seconds=limit, workers=hands, rng=source)
    reply, question = outcome_of(sample, source), f"a_samp({shown_function(function)})"
    if isinstance(reply, Refusal):
        return NoReply(question, cost, METHOD, reply.reason, reply.advice, source.private)
    if isinstance(reply, NoReply):
        return replace(reply, question=question, cost=cost)
    notes = (*reply.notes, ("function", NOT_ISOLATED if hands == 0 else ISOLATED.replace("block", "sample")))
    return replace(reply, question=question, cost=cost, notes=notes)


def _runnable(cost: PrivacyCost) -> str:
    spent = f"epsilon={decimal_text(cost.epsilon)}, delta={decimal_text(cost.delta)}"
    return f"dp.sample_and_aggregate(f, data, aggregate='stable', {spent})"
