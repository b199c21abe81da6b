"""Pictures inside a page: SVG text that refers to nothing outside, with ids of its own."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import dpstats as dp
from dpstats.pictures.inline import bars_svg, inline_svg
from dpstats.testing import seeded

SVG = "{http://www.w3.org/2000/svg}"


def test_an_answer_is_a_picture_whose_ids_begin_with_its_name() -> None:
    answer = dp.median(list(range(1000)), epsilon=1, rng=seeded(1))
    text = inline_svg(answer, "first")
    assert text is not None
    assert ElementTree.fromstring(text).tag == f"{SVG}svg"
    names = re.findall(r'\bid="([^"]+)"', text)
    assert names
    assert all(name.startswith("first-") for name in names)
    used = [*re.findall(r'href="#([^"]+)"', text), *re.findall(r"url\(#([^)]+)\)", text)]
    assert used
    assert set(used) <= set(names)
    assert "<metadata" not in text


def test_bars_are_as_long_as_their_numbers_and_names_cannot_write_markup() -> None:
    root = ElementTree.fromstring(bars_svg("rows <by> town", ["north & south", "<b>", "none"], [50, 25, -3]))
    widths = [float(bar.attrib["width"]) for bar in root.iter("rect")]
    assert widths[0] == 2 * widths[1] > widths[2] == 0
    assert [text.text for text in root.iter("text")] == ["north & south", "50", "<b>", "25", "none", "-3"]


def test_there_may_be_no_bars() -> None:
    assert ElementTree.fromstring(bars_svg("nothing", [], [])).find("rect") is None


def test_what_is_only_words_has_no_picture() -> None:
    answer = dp.mode(["north"] * 900 + ["south"], epsilon=1, delta=1e-6, rng=seeded(1))
    assert isinstance(answer, dp.Release)
    assert inline_svg(answer, "first") is None
    refusal = dp.NoReply("median(x)", dp.PrivacyCost(1), "universal", "Too few rows.", "Ask with more.", True)
    assert inline_svg(refusal, "first") is None


def test_groups_are_one_picture_or_one_for_each() -> None:
    cost, numbers = dp.PrivacyCost(1), list(range(1000))
    single = {key: dp.median(numbers, epsilon=1, rng=seeded(1)) for key in ("north", "south")}
    several = {key: dp.histogram(numbers, [100, 500], kind="numbers", epsilon=1, rng=seeded(1)) for key in ("north", "south")}
    for replies, axes in ((single, 1), (several, 2)):
        text = inline_svg(dp.GroupedRelease("by region", ("region",), replies, cost), "groups")
        assert text is not None
        assert "north" in text
        assert len(re.findall(r'id="groups-axes_\d+"', text)) == axes
