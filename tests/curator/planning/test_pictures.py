"""Pictures of plans: the same bytes for the same plans, with every label as text."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpstats as dp
from dpstats.curator.planning.forecasts import Plan
from dpstats.curator.planning.pictures import lines_of, plot_plans, spread
from dpstats.pictures.looks import COLORS


@cache
def some_plan(epsilon: float = 1, shapes: tuple[str, ...] = ("normal", "delays")) -> Plan:
    return dp.plan("median", epsilon=epsilon, n=[0, 1_000, 100], shape=shapes, repeats=5, rng=dp.testing.seeded(7))


def written(path: Path, **plans: Plan) -> str:
    plot_plans(path, plans)
    return path.read_text(encoding="utf-8")


def test_lines_are_labelled_and_ascend_and_leave_out_tables_of_no_rows() -> None:
    one = lines_of({"": some_plan()})
    assert [line.label for line in one] == ["normal", "delays"]
    assert [[row.n for row in line.rows] for line in one] == [[100, 1_000]] * 2
    several = {"a": some_plan(), "b": some_plan(shapes=("normal",))}
    assert [line.label for line in lines_of(several)] == ["a, normal", "a, delays", "b"]
    assert len({line.color for line in lines_of(several)}) == 3
    assert len(set(COLORS)) == len(COLORS)


@given(st.lists(st.floats(0, 1), max_size=10), st.floats(0, 0.3))
def test_labels_keep_their_order_and_their_distance_and_stay_in_the_panel(heights: list[float], gap: float) -> None:
    places = spread(heights, gap)
    assert all(-1e-9 <= place <= 1 + 1e-9 for place in places)
    ordered = [places[index] for index in sorted(range(len(heights)), key=lambda index: heights[index])]
    wanted = min(gap, 1 / max(1, len(heights) - 1))
    assert all(after - before >= wanted - 1e-9 for before, after in pairwise(ordered))


def test_labels_that_do_not_crowd_stay_where_they_belong() -> None:
    assert spread([0.9, 0.1, 0.5], 0.1) == [0.9, 0.1, 0.5]


def test_a_picture_goes_to_an_svg_or_a_png() -> None:
    with pytest.raises(dp.InvalidParameterError, match=r"\.svg or \.png, got 'plan\.pdf'"):
        some_plan().plot("somewhere/plan.pdf")


def test_a_plan_of_no_rows_has_no_picture(tmp_path: Path) -> None:
    nothing = replace(some_plan(), rows=tuple(row for row in some_plan().rows if row.n == 0))
    with pytest.raises(dp.InvalidParameterError, match="nothing to draw"):
        nothing.plot(tmp_path / "plan.svg")


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(dp.MissingExtraError, match=r"pip install 'dpstats\[plots\]'"):
        some_plan().plot(tmp_path / "plan.svg")


def test_the_same_plan_gives_the_same_svg_with_its_labels_as_text(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    first, again = (written(tmp_path / name, **{"": some_plan()}) for name in ("a.svg", "b.svg"))
    assert first == again
    for text in (
        "normal",
        "delays",
        "number of rows",
        "probability of a reply",
        "error of 95% of replies",
        "interquartile ranges",
    ):
        assert text in first, text
    assert "<dc:date>" not in first
    assert some_plan().title in first


def test_several_plans_share_a_picture_with_one_line_each(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plans = {f"epsilon {epsilon}": some_plan(epsilon, ("normal",)) for epsilon in (0.5, 1)}
    picture = written(tmp_path / "plans.svg", **plans)
    assert "epsilon 0.5" in picture
    assert "epsilon 1" in picture
    assert "median, shape: normal" in picture


def test_a_png_is_a_png_and_repeats_itself(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("a.png", "b.png"):
        some_plan().plot(tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_errors_of_zero_and_plans_without_errors_are_drawn_too(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    exact = dp.plan("median", epsilon=1, n=[500, 5_000], shape=["delays", "constant"], repeats=3, rng=dp.testing.seeded(1))
    assert "open circles" in written(tmp_path / "exact.svg", **{"": exact})
    silent = replace(exact, rows=tuple(replace(row, error_95=None, relative_error_95=None) for row in exact.rows))
    assert "no reply with an error to show" in written(tmp_path / "silent.svg", **{"": silent})
