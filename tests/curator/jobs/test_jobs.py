"""Paid questions in processes of their own: answered as a session answers, or late, killed, failed: always the same nothing."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dpstats.curator.archive import result_of
from dpstats.curator.jobs import pool as pools
from dpstats.curator.jobs.deadlines import Deadlines
from dpstats.curator.jobs.job_process import JobProcess, PaidJob, PlanJob
from dpstats.curator.jobs.pool import JobFailedError, JobPool, _Waiting
from dpstats.curator.jobs.recipes import TableRecipe
from dpstats.curator.jobs.reply_times import SHORTEST, Departure, archived_after, leaving_at, ready_after, reply_seconds
from dpstats.curator.jobs.slots import Slots
from dpstats.curator.jobs.worker import KEPT_BYTES, TableShelf, answer, prepare
from dpstats.curator.planning.forecasts import Plan
from dpstats.curator.protection import Protection
from dpstats.engines.units.contributions import MissingUnit
from dpstats.foundations.errors import DataFileError
from dpstats.foundations.registry import find_statistic
from dpstats.foundations.results import Release

COUNT = {"version": 1, "statistic": "count", "epsilon": 50}
LONG = 120.0


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> TableRecipe:
    file = tmp_path_factory.mktemp("jobs") / "people.parquet"
    pl.DataFrame({"person": [1, 1, 2, 3, None], "income": [1.5, 2.5, 3.5, 4.5, 5.5]}).write_parquet(file)
    return TableRecipe(
        "people", str(file), Protection("person", 2, MissingUnit.EACH), keys={"person": [1, 2]}, bounding_key=b"k" * 32
    )


@pytest.fixture(scope="module")
def pool() -> Iterator[JobPool]:
    with JobPool(processes=1) as pool:
        yield pool


def run(pool: JobPool, table: TableRecipe, question: dict[str, Any], seconds: float = LONG) -> dict[str, Any]:
    return pool.run(PaidJob(table.to_json(), question), time.monotonic() + seconds)


def test_a_worker_answers_as_a_session_does(pool: JobPool, table: TableRecipe) -> None:
    result = result_of(run(pool, table, COUNT), find_statistic("count"))
    assert isinstance(result, Release)
    assert result.value == 5
    assert result.cost.unit == "person"
    grouped = run(pool, table, {**COUNT, "group_by": {"columns": ["person"]}})
    assert [reply["value"] for _, reply in grouped["groups"]] == [2, 1]


def test_a_worker_plans_and_says_why_not_but_never_where_a_table_lies(pool: JobPool, table: TableRecipe) -> None:
    words = {"n": 50, "shape": "ratings", "repeats": 2, "epsilon": "1/3"}
    document = {"version": 1, "statistic": "median", "columns": ["income"], "plan": words}
    until = time.monotonic() + LONG
    plan = Plan.from_dict(pool.run(PlanJob(table.to_json(), document), until))
    assert (plan.epsilon, plan.rows[0].n, plan.rows[0].cost.unit) == (Fraction(1, 3), 50, "person")
    [said] = pool.run(PlanJob(table.to_json(), {**document, "plan": {**words, "repeats": 0}}), until).values()
    assert "repeats must be" in said
    gone = TableRecipe("gone", str(Path(str(table.address)).with_name("gone.parquet")), table.protection)
    with pytest.raises(JobFailedError):
        pool.run(PlanJob(gone.to_json(), document), until)


def test_a_recipe_survives_its_way_to_a_worker(table: TableRecipe) -> None:
    assert TableRecipe.from_json(table.to_json()) == table


@pytest.mark.parametrize("case", ["no such column", "no such file", "no such statistic"])
def test_whatever_goes_wrong_is_one_failure_and_the_worker_goes_on(pool: JobPool, table: TableRecipe, case: str) -> None:
    questions: dict[str, dict[str, Any]] = {
        "no such column": {"statistic": "median", "columns": ["x"]},
        "no such statistic": {"statistic": "_table"},
    }
    broken = TableRecipe("gone", str(Path(str(table.address)).with_name("gone.parquet")), table.protection)
    with pytest.raises(JobFailedError) as failed:
        run(pool, broken if case == "no such file" else table, {**COUNT, **questions.get(case, {})})
    assert str(failed.value) == ""
    assert failed.value.__cause__ is None
    assert run(pool, table, COUNT)["value"] == 5


def test_who_is_late_is_waited_for_and_killed_where_that_is_in_vain(
    pool: JobPool, table: TableRecipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pool.wait_until_ready()
    [stalled] = pool._processes
    os.kill(stalled._process.pid, signal.SIGSTOP)
    with pytest.raises(JobFailedError):
        run(pool, table, COUNT, 0.05)
    os.kill(stalled._process.pid, signal.SIGCONT)
    assert run(pool, table, {**COUNT, "where": ["income > 2"]})["value"] == 4  # the late answer is nobody's
    assert [*pool._processes] == [stalled]
    monkeypatch.setattr(pools, "GRACE_SECONDS", 0.1)
    with pytest.raises(JobFailedError):
        run(pool, table, COUNT, 0.0)  # nobody answers in no time, and nobody is killed for that
    os.kill(stalled._process.pid, signal.SIGSTOP)
    with pytest.raises(JobFailedError):
        run(pool, table, COUNT, 0.3)
    assert run(pool, table, COUNT)["value"] == 5
    assert stalled not in pool._processes


def test_a_worker_that_dies_is_one_failure_and_replaced_by_one_that_has_opened_the_same_tables(
    pool: JobPool, table: TableRecipe
) -> None:
    recipe = table.to_json()
    pool.open(recipe)
    assert pool.wait_until_ready(recipe)
    assert run(pool, table, COUNT)["value"] == 5
    [victim] = pool._processes
    assert recipe in victim.tables
    os.kill(victim._process.pid, signal.SIGSTOP)
    killer = threading.Timer(0.1, os.kill, (victim._process.pid, signal.SIGKILL))
    killer.start()
    with pytest.raises(JobFailedError):
        run(pool, table, COUNT)
    killer.join()
    assert run(pool, table, COUNT)["value"] == 5
    assert [recipe in process.tables for process in pool._processes] == [True]


def test_a_worker_that_died_idle_is_replaced_before_anybody_pays_for_it(pool: JobPool, table: TableRecipe) -> None:
    assert pool.wait_until_ready()
    [victim] = pool._processes
    os.kill(victim._process.pid, signal.SIGKILL)
    victim._process.wait()
    assert pool.wait_until_ready(table.to_json())
    assert victim not in pool._ready
    assert run(pool, table, COUNT)["value"] == 5


class Staff:
    """Processes that were never started: the first ones end at once, and all of them with a table called "fatal"."""

    def __init__(self, short_lived: int = 0) -> None:
        self.started: list[Employee] = []
        self.short_lived = short_lived

    def __call__(self, memory: int) -> Employee:
        if self.short_lived == 1:
            self.short_lived = 0
            raise BlockingIOError
        self.started.append(Employee(lives=self.short_lived == 0))
        self.short_lived = max(0, self.short_lived - 1)
        return self.started[-1]


class Employee:
    def __init__(self, lives: bool) -> None:
        self.is_alive = lives
        self.tables: set[str] = set()

    def wait_until_ready(self) -> bool:
        return self.is_alive

    def open(self, table: str) -> None:
        self.is_alive = self.is_alive and table != "fatal"

    def kill(self) -> None:
        self.is_alive = False

    close = kill


def test_a_worker_that_does_not_get_ready_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    staff = Staff(short_lived=3)
    monkeypatch.setattr(pools, "JobProcess", staff)
    monkeypatch.setattr(pools, "_FIRST_PAUSE", 0.001)
    with JobPool(processes=1) as pool:
        assert pool.wait_until_ready(seconds=LONG)
        assert [each.is_alive for each in staff.started] == [False, False, True]
        assert len(pool._processes) == 1


def test_a_table_that_ends_workers_keeps_nobody_from_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "JobProcess", Staff())
    monkeypatch.setattr(pools, "_FIRST_PAUSE", 0.001)
    with JobPool(processes=2) as pool:
        assert pool.wait_until_ready(seconds=LONG)
        pool.open("fatal")
        pool.open("harmless")
        assert not pool.wait_until_ready("fatal", LONG)
        assert pool.wait_until_ready("harmless", LONG)
        pool.open("fatal")  # it may be another one by now
        assert not pool.wait_until_ready("fatal", LONG)
        assert pool.wait_until_ready("harmless", LONG)
        pool.forget("fatal")
        pool.forget("harmless")
        for process in list(pool._processes):
            process.kill()
        assert pool.wait_until_ready(seconds=LONG)
        assert not any(process.tables for process in pool._ready if process.is_alive)


def test_a_job_is_for_a_process_that_knows_its_table_where_there_is_one(pool: JobPool, table: TableRecipe) -> None:
    recipe = table.to_json()
    assert pool.wait_until_ready()
    [process] = pool._processes
    stranger = _Waiting("another")
    assert pool._may_have(stranger, process)
    process.tables.add("another")
    assert pool._may_have(stranger, process)
    other = JobProcess.__new__(JobProcess)
    other.tables = {recipe}
    assert not pool._may_have(stranger, other)
    assert not pool._may_have(_Waiting("another", process), other)
    assert pool._may_have(_Waiting("another", other), other)


def test_a_question_that_is_prepared_is_answered_the_same(table: TableRecipe) -> None:
    kept, plain = TableShelf(KEPT_BYTES), TableShelf()
    assert prepare(table.to_json(), kept) == {"opened": True}
    for question in (COUNT, {**COUNT, "where": ["income > 2"]}, {**COUNT, "statistic": "count", "columns": ["income"]}):
        jobs = [{"table": table.to_json(), "question": question}] * 2
        assert {answer(job, shelf)["value"] for job in jobs for shelf in (kept, plain)} == {5 if "where" not in question else 4}


def test_columns_that_stay_open_are_not_used_when_the_file_has_changed(table: TableRecipe, tmp_path: Path) -> None:
    file = tmp_path / "people.parquet"
    pl.read_parquet(str(table.address)).write_parquet(file)
    shelf, job = TableShelf(KEPT_BYTES), {"table": replace(table, address=str(file)).to_json(), "question": COUNT}
    assert answer(job, shelf)["value"] == 5
    pl.read_parquet(file).head(2).write_parquet(file)
    with pytest.raises(DataFileError, match="changed"):
        answer(job, shelf)


def test_whoever_is_late_is_called_and_nobody_else() -> None:
    deadlines, called = Deadlines(), threading.Event()
    begun = time.monotonic()
    with deadlines.kept(begun + LONG, lambda: pytest.fail("it was in time")), deadlines.kept(begun + 0.01, called.set):
        assert called.wait(LONG)
    assert not deadlines._late
    deadlines.close()
    assert deadlines._thread is not None
    deadlines._thread.join()


def test_a_closed_pool_has_no_processes_and_takes_no_jobs(table: TableRecipe) -> None:
    pool = JobPool(processes=1)
    [process] = pool._processes
    pool.close()
    assert not process.is_alive
    with pytest.raises(JobFailedError):
        run(pool, table, COUNT, 0.1)


def test_reply_times_come_from_public_numbers_and_fall_into_few_classes() -> None:
    seconds = {reply_seconds("median", rows=rows, groups=groups) for rows in (1, 10**5, 10**6) for groups in (1, 3, 10)}
    assert all((each / SHORTEST).is_integer() and int(each / SHORTEST).bit_count() == 1 for each in seconds)
    assert reply_seconds("median", rows=10) == reply_seconds("median", rows=100_000)
    assert reply_seconds("count", rows=10) < reply_seconds("linear_regression", rows=10)
    assert reply_seconds("median", rows=10, pace=10) > reply_seconds("median", rows=10)
    assert (reply_seconds("count", rows=10), reply_seconds("median", rows=10)) == (0.25, 0.5)
    assert reply_seconds("count", rows=10, pace=1 / 8) == SHORTEST
    assert SHORTEST / 2 < ready_after(SHORTEST) < archived_after(SHORTEST) < SHORTEST
    assert archived_after(8.0) - ready_after(8.0) == pytest.approx(archived_after(100.0) - ready_after(100.0))


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_leaves_before_its_instant(fails: bool) -> None:
    def work() -> int:
        if fails:
            raise JobFailedError
        return 7

    instant = time.monotonic() + 0.05
    if fails:
        with pytest.raises(JobFailedError):
            leaving_at(instant, work)
    else:
        assert leaving_at(instant, work) == 7
    assert time.monotonic() >= instant


def test_a_reply_leaves_so_long_after_its_question_came_whatever_its_parts_took() -> None:
    came = time.monotonic()
    with Departure() as departure:
        time.sleep(0.01)  # what a debit takes
        departure.work_begins(0.05, waited=False)
        departure.work_begins(0.05, waited=False)
    assert time.monotonic() >= came + 0.1
    with Departure() as departure:
        time.sleep(0.01)
        departure.work_begins(0.05, waited=True)
        begun = time.monotonic()
    assert time.monotonic() >= begun + 0.04
    with Departure() as refused:  # nothing was paid for
        pass
    assert refused._seconds == 0


def test_an_analyst_waits_for_her_own_slots_and_for_nobody_elses() -> None:
    slots, inside, leave = Slots(1), threading.Event(), threading.Event()

    def occupy() -> None:
        with slots.held("alice"):
            inside.set()
            leave.wait()

    thread = threading.Thread(target=occupy)
    thread.start()
    inside.wait()
    with slots.held("bob"):  # does not wait for alice
        assert not slots._slots["alice"].acquire(blocking=False)
    leave.set()
    thread.join()
    with slots.held("alice"):
        pass
