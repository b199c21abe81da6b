"""Results: a release shows its value, a refusal has none, and both carry their passport in text, JSON and HTML."""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
from decimal import Decimal
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from dpstats.foundations.errors import DpstatsError, NoReplyError
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.results import NOT_PRIVATE, Interval, NoReply, Release, value_text

COST = PrivacyCost(0.5, 1e-6, "change_one", "person")
INTERVAL = Interval(41.5, 43.25, 0.95, "the noise")
EVIL = "<script>alert('1')</script>&\"x\""


def released(value: Any = 42.0, *, private: bool = True, question: str = "median(age)", **more: Any) -> Release:
    return Release(question, value, COST, "universal", "pure epsilon-DP", private, **more)


def refused(*, private: bool = True, question: str = "median(age)") -> NoReply:
    return NoReply(question, COST, "universal", "The test failed.", "Ask with more epsilon.", private)


def strictly(text: str) -> Any:
    """JSON as the standard has it: no NaN, no Infinity."""
    return json.loads(text, parse_constant=pytest.fail)


# A release


def test_a_release_is_its_number() -> None:
    assert float(released(42)) == 42.0
    assert float(released(np.float32(0.5))) == 0.5
    assert f"{float(released(Fraction(1, 3))):.3f}" == "0.333"


def test_a_format_is_that_of_the_number_and_without_one_the_whole_release_prints() -> None:
    release = released(42.123)
    assert f"{release:.1f}" == "42.1"
    assert f"{release}" == str(release)
    with pytest.raises(TypeError, match="holds 2 values"):
        f"{released((1, 2)):.1f}"


def test_a_release_of_zero_is_still_an_answer() -> None:
    assert released(0)
    assert released(())


def test_a_release_of_several_numbers_is_an_array() -> None:
    values = np.asarray(released((1, 2.5, 3)))
    assert values.tolist() == [1.0, 2.5, 3.0]
    assert np.asarray(released((1, 2)), dtype=int).dtype.kind == "i"
    assert np.array(released(3.0)).shape == ()
    with pytest.raises(TypeError, match=r"this release holds 2 values: use \.value"):
        float(released((1, 2)))


def test_a_release_of_several_numbers_can_be_taken_apart() -> None:
    low, high = released((1, 2.5))
    assert (low, high) == (1, 2.5)
    for single in (released(3.0), released("north"), released(np.array(3.0))):
        with pytest.raises(TypeError, match="holds one value"):
            list(single)


def test_a_release_can_be_rounded() -> None:
    assert round(released(42.1234), 2) == 42.12
    assert round(released(42.6)) == 43
    with pytest.raises(TypeError, match="holds 2 values"):
        round(released((1.5, 2.5)), 1)


def test_very_many_values_are_shortened_for_people_and_kept_for_programs() -> None:
    release = released(tuple(range(1000)))
    shown = "0, 1, 2, 3, 4, ... 1,000 values in all"
    assert f"= {shown}, cost" in str(release)
    assert release.card().to_dict()["value"] == shown
    assert str(release.card(whole=True).to_dict()["value"]).endswith("998, 999")
    assert release.to_dict()["value"] == list(range(1000))
    assert "values in all" not in str(released(tuple(range(20))))


def test_representations_are_short() -> None:
    cost = PrivacyCost(1)
    assert repr(Release("median", 48.9, cost, "m", "c", True)) == "Release(median = 48.9, cost epsilon = 1)"
    assert NOT_PRIVATE in repr(released(private=False))
    assert repr(NoReply("median", cost, "m", "r", "a", True)) == "NoReply(median, cost epsilon = 1)"
    assert NOT_PRIVATE in repr(refused(private=False))
    assert repr(released().card()) == "Card(median(age), 6 lines: print it)"


def test_the_ends_of_an_interval_print_as_whole_as_they_are() -> None:
    assert str(Interval(999991, 1000009.0, 0.95, "the noise")) == "999991 to 1000009 (95%)"


def test_a_release_prints_value_interval_and_cost() -> None:
    text = str(released(interval=INTERVAL))
    assert text == "median(age) = 42, interval 41.5 to 43.25 (95%), cost epsilon = 0.5, delta = 0.000001"


@pytest.mark.parametrize(("level", "shown"), [(0.95, "(95%)"), (0.999, "(99.9%)"), (0.9999999, "(99.99999%)"), (0.07, "(7%)")])
def test_a_level_below_one_never_prints_as_certainty(level: Any, shown: str) -> None:
    assert str(Interval(0.0, 1.0, level, "the noise")).endswith(shown)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (42, "42"),
        (0.1, "0.1"),
        (1 / 3, "0.333333333333333"),
        (1e300, "1e+300"),
        (-math.inf, "-inf"),
        ((1, 0.5), "1, 0.5"),
        ([0.25, [1, 2]], "0.25, 1, 2"),
        ("north", "north"),
        (b"raw", "b'raw'"),
        (np.float64(0.1), "0.1"),
        (np.float32(0.1), "0.1"),
        (np.int64(7), "7"),
        (None, "None"),
    ],
)
def test_values_print_for_people(value: object, text: str) -> None:
    assert value_text(value) == text


def test_the_card_says_what_it_cost_whom_it_protects_and_how() -> None:
    release = released(interval=INTERVAL, notes=(("public", "the parameters"),))
    assert str(release.card()) == (
        "median(age)\n"
        "  value       42\n"
        "  interval    41.5 to 43.25 (95%); covers the noise\n"
        "  cost        epsilon = 0.5, delta = 0.000001\n"
        "  protects    neighbours: one person changed; the number of rows is public\n"
        "  method      universal\n"
        "  randomness  cryptographic, from the operating system\n"
        "  claim       pure epsilon-DP\n"
        "  public      the parameters"
    )
    card = release.card().to_dict()
    assert card["title"] == "median(age)"
    assert card["public"] == "the parameters"
    assert list(card)[:2] == ["title", "value"]


def test_json_is_the_dictionary_and_comes_back_the_same() -> None:
    release = released((1, 0.1, -2.5e300), interval=INTERVAL, notes=(("grid", "multiples of ½"),))
    assert strictly(release.to_json()) == release.to_dict()
    assert release.to_dict() == {
        "question": "median(age)",
        "reply": True,
        "value": [1, 0.1, -2.5e300],
        "interval": {"low": 41.5, "high": 43.25, "level": 0.95, "covers": "the noise"},
        "rough": False,
        "cost": COST.to_dict(),
        "method": "universal",
        "claim": "pure epsilon-DP",
        "private": True,
        "notes": {"grid": "multiples of ½"},
    }
    assert "½" in release.to_json()


@dataclasses.dataclass
class Fitted:
    slope: np.float64

    def to_dict(self) -> dict[str, object]:
        return {"slope": self.slope}


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.int64(3), 3),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.float32(0.5), 0.5),
        (np.float64(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("north"), "north"),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.array(7), 7),
        ((np.int8(1), [np.float64(2.5)]), [1, [2.5]]),
        ({"a": np.int64(1), 2: (np.nan,)}, {"a": 1, "2": ["nan"]}),
        (Fitted(np.float64(2)), {"slope": 2.0}),
        (math.nan, "nan"),
        (math.inf, "inf"),
        (np.array([-math.inf, 1.0]), ["-inf", 1.0]),
        (np.float32("nan"), "nan"),
        (True, True),
        (None, None),
        (10**30, 10**30),
        (Fraction(1, 3), "1/3"),
        (Decimal("0.1"), "0.1"),
        (datetime.date(2020, 1, 2), "2020-01-02"),
        (np.datetime64("2020-01-02"), "2020-01-02"),
        (np.longdouble("0.5"), "0.5"),
    ],
    ids=repr,
)
def test_every_kind_of_value_becomes_valid_json(value: object, plain: object) -> None:
    release = released(value)
    assert release.to_dict()["value"] == plain
    back = strictly(release.to_json())["value"]
    assert back == plain
    assert type(back) is type(plain)


def test_an_endless_interval_is_valid_json_too() -> None:
    interval = Interval(-math.inf, np.float32(2), 0.9, "everything")  # type: ignore[arg-type]
    assert strictly(released(interval=interval).to_json())["interval"] == {
        "low": "-inf",
        "high": 2.0,
        "level": 0.9,
        "covers": "everything",
    }


# A refusal


def test_a_refusal_has_no_number_and_says_what_to_do() -> None:
    with pytest.raises(NoReplyError, match=r"median\(age\) got no reply, so it has no value: Ask with more epsilon\."):
        float(refused())
    assert issubclass(NoReplyError, DpstatsError)
    with pytest.raises(NoReplyError):
        math.sqrt(refused())
    with pytest.raises(NoReplyError):
        f"{refused():.2f}"
    with pytest.raises(NoReplyError):
        round(refused(), 2)
    with pytest.raises(NoReplyError):
        _low, _high = refused()
    assert f"{refused()}" == str(refused())


def test_a_refusal_is_false_and_carries_its_cost() -> None:
    assert not refused()
    assert refused().cost == COST
    assert str(refused()) == (
        "median(age): no reply, cost epsilon = 0.5, delta = 0.000001. The test failed. Ask with more epsilon."
    )


def test_a_refusal_has_a_card_and_json_like_a_release() -> None:
    card = str(refused().card())
    for words in (
        "reply       none",
        "The test failed.",
        "Ask with more epsilon.",
        "epsilon = 0.5",
        "one person changed",
        "universal",
    ):
        assert words in card
    assert strictly(refused().to_json()) == refused().to_dict()
    assert refused().to_dict() == {
        "question": "median(age)",
        "reply": False,
        "reason": "The test failed.",
        "advice": "Ask with more epsilon.",
        "cost": COST.to_dict(),
        "method": "universal",
        "private": True,
    }


# Both


@pytest.mark.parametrize("make", [released, refused])
def test_a_seeded_source_is_marked_on_card_text_html_and_json(make: Any) -> None:
    marked, clean = make(private=False), make(private=True)
    for show in (
        str,
        lambda reply: str(reply.card()),
        lambda reply: reply._repr_html_(),
        lambda reply: str(reply.card().to_dict()),
    ):
        assert NOT_PRIVATE in show(marked)
        assert "NOT PRIVATE" not in show(clean)
    assert marked.to_dict()["private"] is strictly(marked.to_json())["private"] is False
    assert clean.to_dict()["private"] is True


def test_a_seeded_release_claims_nothing_and_stands_out() -> None:
    marked, clean = released(private=False), released(private=True)
    assert marked.card().to_dict()["claim"] == "none, because the source is seeded; with a private one: pure epsilon-DP"
    assert clean.card().to_dict()["claim"] == "pure epsilon-DP"
    assert f'color:#c00;font-weight:bold">{NOT_PRIVATE}' in marked._repr_html_()
    assert "#c00" not in clean._repr_html_()


class Tags(HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("make", [released, refused])
def test_a_malicious_name_is_escaped_in_html_and_kept_in_json(make: Any) -> None:
    reply = make(question=f"median({EVIL})")
    page = Tags()
    page.feed(reply._repr_html_())
    assert set(page.tags) <= {"table", "caption", "tbody", "tr", "th", "td"}
    assert f"median({EVIL})" in page.text
    assert strictly(reply.to_json())["question"] == f"median({EVIL})"


def test_malicious_values_units_notes_and_reasons_are_escaped() -> None:
    cost = PrivacyCost(1, unit=EVIL)
    replies = [
        Release("q", EVIL, cost, EVIL, EVIL, True, Interval(0.0, 1.0, 0.9, EVIL), ((EVIL, EVIL),)),
        NoReply("q", cost, EVIL, EVIL, EVIL, True),
    ]
    for reply in replies:
        page = Tags()
        page.feed(reply._repr_html_())
        assert "script" not in page.tags
        assert page.text.count(EVIL) >= 4


@pytest.mark.parametrize("reply", [released(), refused()])
def test_replies_are_frozen(reply: Any) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        reply.private = True


@pytest.mark.parametrize("label", ["a\n  cost  epsilon = 0", "\x1b[31mred", "", "  "])
def test_a_label_cannot_write_lines_of_a_card(label: str) -> None:
    release = Release("mode", label, PrivacyCost(1), "stable", "a claim", True)
    assert ascii(label) in str(release)
    assert str(release.card()).count("\n") == len(release.card().lines)
    assert release.value == label


def test_a_refusal_says_that_it_has_no_value() -> None:
    refusal = NoReply("mode", PrivacyCost(1), "stable", "The test failed.", "Ask again.", True)
    with pytest.raises(AttributeError, match="mode got no reply, so it has no value"):
        _ = refusal.value
    assert not hasattr(refusal, "value")


class Table:
    """A value that can be summed up."""

    def summary(self, intervals: tuple[Interval, ...]) -> str:
        return f"a table with {len(intervals)} intervals"


def test_a_release_sums_up_a_value_that_can_be_and_says_so_where_it_cannot() -> None:
    assert released(Table(), intervals=(INTERVAL, INTERVAL)).summary() == "a table with 2 intervals"
    with pytest.raises(TypeError, match=r"median\(age\) has no summary: print the release"):
        released(42.0).summary()
    with pytest.raises(AttributeError, match="got no reply, so it has no summary"):
        _ = refused().summary
