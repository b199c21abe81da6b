"""Pictures of releases: every kind of value has one, with its texts as texts, and the same release gives the same bytes."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.results import Interval
from dpstats.pictures.dots import _names_in
from dpstats.pictures.looks import check_can_draw
from dpstats.pictures.releases import MOST_PANELS, plot_answers
from dpstats.statistics.binned.histogram import Histogram
from dpstats.statistics.distribution import Distribution

COST = dp.PrivacyCost(1)
BAND = Interval(1.0, 3.0, 0.95, "the noise")


def release(value: Any, question: str = "median(income)", **fields: Any) -> dp.Release:
    return dp.Release(question, value, COST, "universal", "pure epsilon-DP", True, **fields)


def drawn(path: Path, *answers: Any) -> str:
    pytest.importorskip("matplotlib")
    plot_answers(path, answers)
    return path.read_text(encoding="utf-8")


HISTOGRAM = Histogram((0.0, 10.0, 20.0), (), (1, 40, 30, -2), 3, 0.95, 1.0)
LABELS = Histogram((), ("north", "so$u$th"), (50, 30, 4), 3, 0.95, 1.0)
UNEVEN = Histogram((0.0, 10.0, 25.0), (), (1, 40, 30, 2), 0, None, 1.0)
CURVE = Distribution((0.25, 0.5, 0.75), (1.0, 2.0, 5.0))


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        (release(HISTOGRAM, "histogram(income)"), ["histogram(income)", "rows", "hold all rows beyond", "cost epsilon = 1"]),
        (release(LABELS, "histogram(region)"), ["north", "so$u$th", "all others"]),
        (release(UNEVEN, "histogram(age)"), ["below 0", "10 to 25", "25 and more"]),
        (release(Histogram((), (), (), 0, None, 1.0)), ["median(income)"]),
        (release(2.0, interval=BAND), ["median(income)", "95% interval covers the noise"]),
        (release(2.0), ["median(income)"]),
        (release((1.0, 2.0), "quantile(income, [0.1, 0.9])", intervals=(BAND, BAND)), ["0.1", "0.9"]),
        (release((1.0, 2.0), intervals=(Interval(-np.inf, 3.0, 0.9, "x"), Interval(1.0, np.inf, 0.9, "x"))), ["90% interval"]),
        (release(CURVE, "cdf(age)"), ["part of the rows up to here"]),
        (release(CURVE, "cdf(age)", intervals=(Interval(-np.inf, 1.5, 0.9, "x"), BAND, BAND)), ["part of the rows up to here"]),
        (release("Arnmouth", "mode(region)"), ["Arnmouth"]),
        (release(float("inf")), ["inf"]),
        (dp.NoReply("mode(region)", COST, "stable", "The test failed.", "Ask again.", True), ["no reply"]),
    ],
)
def test_every_kind_of_answer_has_its_picture(tmp_path: Path, answer: Any, texts: list[str]) -> None:
    first, again = (drawn(tmp_path / name, answer) for name in ("a.svg", "b.svg"))
    assert first == again
    for text in texts:
        assert f">{text}<" in first or text in first, text


def test_several_answers_share_a_picture_with_a_panel_each(tmp_path: Path) -> None:
    picture = drawn(tmp_path / "all.svg", release(2.0, "mean(x)"), release(HISTOGRAM, "histogram(y)"))
    assert picture.count('id="axes_') == 2
    assert "mean(x)" in picture
    assert "histogram(y)" in picture
    assert "NOT PRIVATE" not in picture


def test_groups_are_dots_by_key_and_say_who_got_no_reply(tmp_path: Path) -> None:
    silent = dp.NoReply("median", COST, "ptr", "The test failed.", "Ask again.", True)
    grouped = GroupedRelease("median(x) by r", ("r",), {"a": release(1.5, interval=BAND), "b": release(2.5), "c": silent}, COST)
    picture = drawn(tmp_path / "groups.svg", grouped)
    assert picture.count('id="axes_') == 1
    for text in (">a<", ">b<", "no reply: c", "for all groups together"):
        assert text in picture, text


def test_groups_of_histograms_have_a_panel_each(tmp_path: Path) -> None:
    grouped = GroupedRelease("h by r", ("r",), {key: release(HISTOGRAM, f"h by r: {key}") for key in "ab"}, COST)
    assert drawn(tmp_path / "groups.svg", grouped).count('id="axes_') == 2
    empty = GroupedRelease("h by r", ("r",), {}, COST)
    assert "no group to show" in drawn(tmp_path / "none.svg", empty)


def test_a_seeded_release_says_so_in_its_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    dp.histogram(np.array([1.0, 2.0, 3.0] * 50), epsilon=1, rng=dp.testing.seeded(1)).plot(tmp_path / "h.svg")
    assert "NOT PRIVATE" in (tmp_path / "h.svg").read_text(encoding="utf-8")


def test_a_png_is_a_png(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    release(HISTOGRAM).plot(tmp_path / "h.png")
    assert (tmp_path / "h.png").read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_drawn_is_an_error_about_public_things(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(dp.InvalidParameterError, match=r"\.svg or \.png, got 'x\.pdf'"):
        release(1.0).plot(tmp_path / "x.pdf")
    with pytest.raises(dp.InvalidParameterError, match="nothing to draw"):
        plot_answers(tmp_path / "x.svg", [])
    with pytest.raises(dp.InvalidParameterError, match="answers at most"):
        plot_answers(tmp_path / "x.svg", [release(1.0)] * (MOST_PANELS + 1))
    with pytest.raises(dp.DataFileError, match="its folder is not there"):
        check_can_draw(tmp_path / "nowhere" / "x.svg")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(dp.MissingExtraError, match=r"dpstats\[plots\]"):
        release(1.0).plot(tmp_path / "x.svg")


def test_a_picture_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(dp.DataFileError, match=r"cannot write the picture 'x\.svg'"):
        release(1.0).plot(tmp_path / "nowhere" / "x.svg")


def test_values_are_named_by_the_list_in_their_question() -> None:
    assert _names_in("quantile(x, [0.1, 0.9]) where a in [1, 2, 3]", 2) == ["0.1", "0.9"]
    assert _names_in("quantile(x)", 2) == ["1", "2"]


def test_names_stand_in_full_and_titles_end_with_the_picture(tmp_path: Path) -> None:
    name = "price 1,894, speed 38.6, hd 231, ram 4.46, screen 14.3, ads 246, trend 11.8"
    keyed = GroupedRelease("median(" + "income, " * 12 + ")", ("r",), {name: release(1.0, interval=BAND)}, COST)
    text = drawn(tmp_path / "a.svg", keyed)
    assert "trend 11.8" in text
    title = [line for line in re.findall(r">([^<>]*)</text>", text) if "income" in line]
    assert len(title) > 1
    assert all(len(line) + 9 / 8 * 34 <= 96 for line in title)


def test_the_axis_says_what_dots_are(tmp_path: Path) -> None:
    chance = np.random.default_rng(2)
    groups = np.where(chance.random(3_000) < 0.5, "a", "b")
    answer = dp.mann_whitney(chance.random(3_000), groups, ["a", "b"], epsilon=1, rng=dp.testing.seeded(1))
    assert "the chance that a row of a is higher" in drawn(tmp_path / "a.svg", answer)
