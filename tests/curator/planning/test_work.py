"""A plan simulates a bounded number of rows, says what to do where that is not enough, and stops when it is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from typing import Any

import pytest

import dpstats as dp
from dpstats.curator.planning import simulations, work
from dpstats.curator.planning.plan_rows import Found


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of every table that is simulated."""
    rows: list[int] = []
    draw = simulations.drawn_sample

    def counted(question: Any, shape: Any, count: int, generator: Any) -> Any:
        rows.append(count)
        return draw(question, shape, count, generator)

    monkeypatch.setattr(simulations, "drawn_sample", counted)
    return rows


@pytest.mark.parametrize("statistic", ["median", "mean", "count"])
@pytest.mark.parametrize("wish", [{"epsilon": 1}, {"half_width": "5%"}])
def test_a_million_repeats_on_ten_thousand_million_rows_are_refused_at_once(
    statistic: str, wish: dict[str, Any], drawn: list[int]
) -> None:
    with pytest.raises(dp.InvalidParameterError, match=r"4,000,000 tables.* repeats=25,000 can be done"):
        dp.plan(statistic, n=10**10, repeats=10**6, **wish)
    assert drawn == []


def test_rows_count_once_the_first_table_of_each_line_is_drawn(drawn: list[int]) -> None:
    with pytest.raises(dp.InvalidParameterError, match=r"of up to 200,000 rows.* repeats=4,543 can be done"):
        dp.plan("mean", n=[100, 200_000], epsilon=1, shape="normal", repeats=10_000)
    assert drawn == [100, 200_000]


def test_what_may_be_done_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MOST_WORK", 5 * (work.TABLE_WORK + 1_000))
    assert dp.plan("count", n=1_000, epsilon=1, shape="normal", repeats=5).rows[0].repeats == 5
    with pytest.raises(dp.InvalidParameterError, match="repeats=5 can be done"):
        dp.plan("count", n=1_000, epsilon=1, shape="normal", repeats=6)
    with pytest.raises(dp.InvalidParameterError, match="plan fewer lines"):
        dp.plan("count", n=[1, 2, 3, 4, 5, 6], epsilon=1, shape="normal", repeats=1)


def test_a_search_ends_where_its_work_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpstats.curator.planning.planned_questions.MOST_WORK", 70 * work.TABLE_WORK)
    (row,) = dp.plan("count", n=1_000, half_width=20, shape="normal", repeats=10).rows
    assert row.found is Found.OR_LESS
    assert row.cost.epsilon > 0.15  # which is what it takes
    monkeypatch.setattr("dpstats.curator.planning.planned_questions.MOST_WORK", 5 * work.TABLE_WORK)
    with pytest.raises(dp.InvalidParameterError, match="fewer sizes with n=, fewer shapes, or epsilon"):
        dp.plan("count", n=1_000, half_width=20, shape="normal", repeats=10)


def test_an_interrupt_in_the_midst_of_a_table_ends_the_plan(monkeypatch: pytest.MonkeyPatch, drawn: list[int]) -> None:
    calls = iter(range(10**6))

    def shape(q: Any) -> Any:
        if drawn and next(calls) == 3:
            raise KeyboardInterrupt
        return 20 + 10 * q

    with pytest.raises(KeyboardInterrupt):
        dp.plan("median", n=1_000, epsilon=1, shape=shape, repeats=50)
    assert len(drawn) == 4


@pytest.mark.parametrize(
    "asked",
    [
        "'median', n=5_000, epsilon=1",
        "'mean', n=100_000, half_width='5%'",
        "'sample_and_aggregate', 'median', n=5_000, epsilon=1",
        "'linear_regression', n=2_000, epsilon=1",
    ],
)
def test_an_interrupted_plan_leaves_nothing_running(asked: str) -> None:
    program = f"""
        import dpstats as dp
        from dpstats.curator.planning import simulations

        draw, count = simulations.drawn_sample, 0

        def counted(*given):
            global count
            count += 1
            if count == 3:
                print("simulating", flush=True)
            return draw(*given)

        simulations.drawn_sample = counted
        dp.plan({asked}, repeats=2_000)
        print("planned")
        """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "simulating\n"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert output == ""
    assert "KeyboardInterrupt" in errors
    assert process.returncode == -signal.SIGINT
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
