"""Histograms and pictures on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from dpstats.cli import exits
from dpstats.cli.pricing import price_questions
from dpstats.cli.questions import parse_question
from dpstats.foundations.registry import Question
from tests.cli.conftest import Run


def priced(*texts: str, delta: object = None) -> list[Question]:
    parsed = [parse_question(text) for text in texts]
    return price_questions(parsed, epsilon=1, delta=delta, neighbors="add_remove", unit="row")


def test_a_histogram_of_labels_is_drawn_as_bars_and_says_which_delta_it_took(run: Run, people: Path) -> None:
    outcome = run("ask", people, "median(age)", "histogram(region)", "--epsilon", "2")
    assert outcome.code == exits.ANSWERED
    (north,) = [line for line in outcome.out.splitlines() if line.startswith("  north")]
    assert "█" in north or "#" in north
    assert " to " in north
    assert "Spent by this call: epsilon = 2, delta = 1e-9." in outcome.out
    assert "--delta sets another one" in outcome.out


def test_a_histogram_of_numbers_takes_no_delta_and_says_nothing_of_one(run: Run, people: Path) -> None:
    for told in (["histogram(age, kind=numbers)"], ["histogram(age)", "--types", "age=number"]):
        out = run("ask", people, *told, "--epsilon", "1").out
        assert "Spent by this call: epsilon = 1. " in out
        assert "delta" not in out
        assert "and more" in out
    assert "delta = 1e-9" in run("ask", people, "histogram(age)", "--epsilon", "1").out  # the texts of a file are labels


def test_listed_labels_take_no_delta(run: Run, people: Path) -> None:
    out = run("ask", people, "histogram(region, [north, south])", "--epsilon", "1").out
    assert "all others" in out
    assert "delta" not in out


def test_a_delta_that_is_given_is_taken_in_place_of_the_usual_one(run: Run, people: Path) -> None:
    result = json.loads(run("ask", people, "histogram(region)", "--epsilon", "1", "--delta", "1e-6", "--json").out)
    assert result["total"]["delta"] == 1e-6
    assert result["answers"][0]["value"]["labels"][0] == "north"
    assert "north" in result["answers"][0]["value"]["names"]


def test_prices_before_the_type_is_known() -> None:
    assert [question.cost.delta for question in priced("histogram(a)", "histogram(b, [1, 2])", "median(c)")] == [
        priced("histogram(a)")[0].statistic.usual_delta,
        0,
        0,
    ]
    assert [float(question.cost.delta) for question in priced("histogram(a, delta=1e-5)", "histogram(b)")] == [1e-5, 1e-9]
    assert [float(question.cost.delta) for question in priced("histogram(a)", "histogram(b)", delta=1e-6)] == [5e-7, 5e-7]
    assert priced("histogram(a, method=laplace)")[0].cost.delta == 0


def test_labels_without_delta_by_the_pure_method_are_a_public_error(run: Run, people: Path) -> None:
    outcome = run("ask", people, "histogram(region, method=laplace)", "--epsilon", "1")
    assert outcome.code == exits.BAD_INPUT
    assert "needs either a list of them" in outcome.err


def test_each_of_several_values_has_its_interval_on_a_line(run: Run, people: Path) -> None:
    out = run("ask", people, "quantile(age, [0.25, 0.5, 0.75])", "--epsilon", "2").out
    assert out.count("\n  interval  ") == 3
    assert "each      95% interval covers" in out


@pytest.mark.parametrize("ending", [".svg", ".png"])
def test_all_answers_of_a_call_are_drawn_in_one_picture(run: Run, people: Path, tmp_path: Path, ending: str) -> None:
    pytest.importorskip("matplotlib")
    target = tmp_path / f"out{ending}"
    outcome = run("ask", people, "median(age)", "histogram(region)", "--epsilon", "2", "--plot", target)
    assert outcome.code == exits.ANSWERED
    assert "median(age) = " in outcome.out
    assert target.stat().st_size > 1_000
    if ending == ".svg":
        assert target.read_text(encoding="utf-8").count('id="axes_') == 2


def test_a_picture_that_cannot_be_drawn_is_an_error_before_the_file_is_read(
    run: Run, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = people.with_name("missing.csv")
    for plot, words in ((tmp_path / "x.pdf", ".svg or .png"), (tmp_path / "no" / "x.svg", "its folder is not there")):
        outcome = run("ask", missing, "median(age)", "--epsilon", "2", "--plot", plot)
        assert outcome.code != exits.ANSWERED
        assert words in outcome.err
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "dpstats[plots]" in run("ask", missing, "median(age)", "--epsilon", "2", "--plot", tmp_path / "x.svg").err
