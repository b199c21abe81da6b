"""The picture of coverage is that of the tables as they are."""

from __future__ import annotations

from benchmarks.make_coverage_picture import PAGE, PICTURE, coverages, digest


def test_the_picture_is_up_to_date() -> None:
    shares = coverages(PAGE.read_text(encoding="utf-8"))
    assert min(map(len, shares.values())) >= 36  # cells with a reply
    assert f"coverage {digest(shares)}" in PICTURE.read_text(encoding="utf-8"), "run python benchmarks/make_coverage_picture.py"


def test_another_share_has_another_digest() -> None:
    page = "## How often\n\n### mean (few)\n\n| shape | 100 rows |\n| --- | --- |\n| normal | {}% (2.5x) |\n| skewed | - |\n"
    assert coverages(page.format(95)) == {"mean": [95]}
    assert digest(coverages(page.format(95))) != digest(coverages(page.format(94)))
